// What the kernels of this room share: 16-byte accesses and launching. Plain CUDA C++: compiled by nvcc, and by the tests for a thread block
// that is emulated on the CPU (tests/executor/kernels/emulation).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "executor/kernels/cuda_stream.h"

namespace executor {

// Eight neighbours, moved 16 bytes at a time; that is said outright, as the compiler would store 16-bit members one by one. A store bypasses
// the first cache, in which no kernel here looks for what it wrote.
template <class Number>
struct alignas(16) Eight {
  Number at[8];
};

template <class Number>
__device__ __forceinline__ bool is_aligned(const Number* address) {
  return reinterpret_cast<std::uintptr_t>(address) % 16 == 0;
}
template <class Number>
__device__ __forceinline__ Eight<Number> load_eight(const Number* from) {
  constexpr int kWords = sizeof(Eight<Number>) / sizeof(uint4);
  uint4 words[kWords];
#pragma unroll
  for (int i = 0; i < kWords; ++i) words[i] = reinterpret_cast<const uint4*>(from)[i];
  Eight<Number> values;
  memcpy(&values, words, sizeof values);
  return values;
}
template <class Number>
__device__ __forceinline__ void store_eight(Number* to, const Eight<Number>& values) {
  constexpr int kWords = sizeof(Eight<Number>) / sizeof(uint4);
  uint4 words[kWords];
  memcpy(words, &values, sizeof values);
#pragma unroll
  for (int i = 0; i < kWords; ++i) __stcg(reinterpret_cast<uint4*>(to) + i, words[i]);
}

struct LaunchShape {
  unsigned blocks = 1, threads = 1;
};

template <class... Parameters, class... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), LaunchShape shape, CudaStream stream, const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.blocks);
  config.blockDim = dim3(shape.threads);
  config.stream = stream;
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, arguments...);
  if (error != cudaSuccess) throw std::runtime_error(std::string("kernel ") + name + " was not launched: " + cudaGetErrorString(error));
}

// Blocks of a grid-stride loop over `pieces` of work: enough to fill any GPU, few enough to amortise a block's start.
inline LaunchShape over(std::int64_t pieces, unsigned threads) {
  constexpr std::int64_t kMost = 132 * 16;
  return {.blocks = static_cast<unsigned>(pieces < 1 ? 1 : pieces < kMost ? pieces : kMost), .threads = threads};
}

}  // namespace executor
