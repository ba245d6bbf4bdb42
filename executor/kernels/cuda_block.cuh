// What the kernels of this room share: 16-byte accesses and launching. Plain CUDA C++: compiled by nvcc, and by the tests for a thread block
// that is emulated on the CPU (tests/executor/kernels/emulation).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "executor/kernels/cuda_stream.h"
#include "executor/kernels/exponential.h"

namespace executor {

// Eight neighbours, moved 16 bytes at a time; that is said outright, as the compiler would store 16-bit members one by one. A store bypasses
// the first cache, in which no kernel here looks for what it wrote.
template <class Number>
struct alignas(16) Eight {
  Number at[8];
};

template <class Number>
__host__ __device__ __forceinline__ bool is_aligned(const Number* address) {
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

// Of numbers in `Number`. fp32: twenty operations, the CPU's bits. 16 bits come twice as fast and would wait for them.
template <class Number, class Wide>
__device__ __forceinline__ Wide exponential_of(Wide x) {
  if constexpr (sizeof(Number) == 2)
    return __expf(x);
  else
    return exponential(x);
}

// Two sums that cross a block together: one barrier for both.
template <class Number>
struct Two {
  Number first{}, second{};
};

template <class Number>
__device__ __forceinline__ Number from_lane_apart(Number mine, unsigned apart) {
  return __shfl_xor_sync(0xffffffffU, mine, apart);
}
template <class Number>
__device__ __forceinline__ Two<Number> from_lane_apart(const Two<Number>& mine, unsigned apart) {
  return {from_lane_apart(mine.first, apart), from_lane_apart(mine.second, apart)};
}

// The numbers of all threads of a block combined, in a fixed order; every thread gets the result. scratch: 32 shared numbers, free again at
// return. Whole warps only.
template <class Value, class Combine>
__device__ __forceinline__ Value over_block(Value mine, Value* scratch, const Combine& combine) {
#pragma unroll
  for (unsigned apart = 16; apart > 0; apart /= 2) mine = combine(mine, from_lane_apart(mine, apart));
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = mine;
  __syncthreads();
  Value result = scratch[0];
  for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) result = combine(result, scratch[warp]);
  __syncthreads();
  return result;
}

// Brings what stands there into the second cache, while this thread goes on.
__device__ __forceinline__ void prefetch(const void* from) {
#if defined(__CUDA_ARCH__)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
#else
  static_cast<void>(from);
#endif
}

// Visits columns [0, count) of a row, spread over the block's threads, 16 bytes at a time from the first aligned address on.
template <class Number, class Visit>
__device__ __forceinline__ void visit_row(const Number* row, std::int64_t count, const Visit& visit) {
  const std::int64_t before = static_cast<std::int64_t>((16 - reinterpret_cast<std::uintptr_t>(row) % 16) % 16 / sizeof(Number));
  const std::int64_t head = before < count ? before : count, eights = (count - head) / 8;
  for (std::int64_t i = threadIdx.x; i < head; i += blockDim.x) visit(i, row[i]);
  for (std::int64_t i = threadIdx.x; i < eights; i += blockDim.x) {
    const Eight<Number> values = load_eight(row + head + 8 * i);
#pragma unroll
    for (int k = 0; k < 8; ++k) visit(head + 8 * i + k, values.at[k]);
  }
  for (std::int64_t i = head + 8 * eights + threadIdx.x; i < count; i += blockDim.x) visit(i, row[i]);
}

// The same, and each column becomes what `change` returns.
template <class Number, class Change>
__device__ __forceinline__ void change_row(Number* row, std::int64_t count, const Change& change) {
  const std::int64_t before = static_cast<std::int64_t>((16 - reinterpret_cast<std::uintptr_t>(row) % 16) % 16 / sizeof(Number));
  const std::int64_t head = before < count ? before : count, eights = (count - head) / 8;
  for (std::int64_t i = threadIdx.x; i < head; i += blockDim.x) row[i] = change(i, row[i]);
  for (std::int64_t i = threadIdx.x; i < eights; i += blockDim.x) {
    Eight<Number> values = load_eight(row + head + 8 * i);
#pragma unroll
    for (int k = 0; k < 8; ++k) values.at[k] = change(head + 8 * i + k, values.at[k]);
    store_eight(row + head + 8 * i, values);
  }
  for (std::int64_t i = head + 8 * eights + threadIdx.x; i < count; i += blockDim.x) row[i] = change(i, row[i]);
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

inline std::int64_t multiprocessors() {
  static const int count = [] {
    int device = 0, result = 0;
    const bool known =
        cudaGetDevice(&device) == cudaSuccess && cudaDeviceGetAttribute(&result, cudaDevAttrMultiProcessorCount, device) == cudaSuccess;
    return known ? result : 1;
  }();
  return count;
}

// Blocks of a grid-stride loop over `pieces` of work: enough to fill the GPU, few enough to amortise a block's start. Results must not depend
// on their number.
inline LaunchShape over(std::int64_t pieces, unsigned threads) {
  const std::int64_t most = multiprocessors() * 4096 / threads;
  return {.blocks = static_cast<unsigned>(pieces < 1 ? 1 : pieces < most ? pieces : most), .threads = threads};
}

}  // namespace executor
