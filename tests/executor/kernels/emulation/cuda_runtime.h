// Stands for CUDA's header of this name where a kernel's source is compiled as C++ and performed by the CPU, so that its logic is tested on
// machines without a GPU. Blocks run one after the other, the threads of a block as fibers. A warp runs as far as it comes without the others,
// a lane of it until a barrier or a shuffle, both in an order that EMULATED_ORDER chooses (forward, backward, mixed). So a missing barrier
// shows, in one order or another, as memory that nobody wrote yet or that somebody wrote again: shared memory starts every block as NaNs. A
// barrier that not all threads reach throws.
//
// Proves indices, barriers, tails and sums. Proves nothing about time, registers, memory ordering or the arithmetic of a GPU.
// Offers what the kernels of executor/kernels use, no more.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static __attribute__((section("emulated_shared")))

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  constexpr dim3(unsigned width = 1, unsigned height = 1, unsigned depth = 1) : x(width), y(height), z(depth) {}
  unsigned x, y, z;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;
constexpr int warpSize = 32;

namespace emulation {

void run_grid(dim3 grid, dim3 block, const std::function<void()>& thread);
void wait_for_block();
void wait_for_warp(unsigned lanes);
// What the lane `source` of this warp gave; all `lanes` must call it.
std::uint64_t exchange(unsigned lanes, std::uint64_t mine, unsigned source);

}  // namespace emulation

inline void __syncthreads() { emulation::wait_for_block(); }
inline void __syncwarp(unsigned lanes = 0xffffffffU) { emulation::wait_for_warp(lanes); }

template <class Value>
Value __shfl_sync(unsigned lanes, Value value, unsigned source) {
  static_assert(sizeof(Value) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = emulation::exchange(lanes, bits, source);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class Value>
Value __shfl_xor_sync(unsigned lanes, Value value, unsigned mask) {
  return __shfl_sync(lanes, value, (threadIdx.x % warpSize) ^ mask);
}

inline float __expf(float x) { return std::exp(x); }

template <class Value>
void __stcg(Value* to, Value value) {
  *to = value;
}
inline unsigned long long atomicAdd(unsigned long long* to, unsigned long long value) {  // fibers take turns: nothing comes between
  const unsigned long long before = *to;
  *to += value;
  return before;
}
inline unsigned atomicOr(unsigned* to, unsigned value) {
  const unsigned before = *to;
  *to |= value;
  return before;
}

// The runtime library, on plain memory.
using cudaError_t = int;
using cudaStream_t = struct CUstream_st*;
constexpr cudaError_t cudaSuccess = 0;
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
};

cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaFree(void* memory);
inline const char* cudaGetErrorString(cudaError_t) { return "emulated"; }
inline cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount };
inline cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  return *value = 1, cudaSuccess;
}  // one: blocks take turns at little work
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...), const Arguments&... arguments) {
  emulation::run_grid(config->gridDim, config->blockDim, [&] { kernel(arguments...); });
  return cudaSuccess;
}
