// The part of CUDA's runtime and driver that LibTorch and this house call, for a machine without a card: memory is the host's, a kernel is counted by its
// name and does nothing, everything has ended at once. Loaded in front of the real library (LD_PRELOAD); numbers of the card are zero, also where memory is used again that the
// host had copied to: what it reads may be an index.
#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>

#include "tests/gpu/counted_cuda/counts.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr std::size_t kMemory = 140ULL << 30, kPage = 4096;
constexpr int kSuccess = 0, kVersion = 13000, kProcessors = 132, kMostShared = 232448;

struct Known {
  std::mutex mutex;
  std::unordered_map<const void*, std::string> kernels;  // by the address that stands for one on the host
  std::map<const char*, std::size_t> blocks;             // of device memory
};
Known& known() {
  static auto* const all = new Known;
  return *all;
}

cudaError_t launched(const void* kernel) {
  Known& all = known();
  std::string name = "kernel ";
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.kernels.find(kernel);
    name += found == all.kernels.end() ? "without a name" : found->second;
  }
  count(name);
  return cudaSuccess;
}

cudaError_t counted(const char* what) {
  count(what);
  return cudaSuccess;
}

cudaError_t copied(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDeviceToHost) std::memcpy(to, from, bytes);
  return counted(kind == cudaMemcpyHostToDevice ? "copy to device" : kind == cudaMemcpyDeviceToHost ? "copy to host" : "copy on device");
}

template <class Handle>
cudaError_t made(Handle* handle) {
  *handle = static_cast<Handle>(std::malloc(sizeof(void*)));
  return cudaSuccess;
}

struct Configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  void* stream = nullptr;
};
thread_local Configuration configuration;

}  // namespace

// Kernels: what nvcc makes of each file registers them, and of each <<<>>> a call.
EXPORT void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
EXPORT void __cudaRegisterFatBinaryEnd(void**) {}
EXPORT void __cudaUnregisterFatBinary(void**) {}
EXPORT void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
EXPORT void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*, int*) {
  const std::lock_guard lock(known().mutex);
  known().kernels[host] = name;
}
EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, CUstream_st* stream) {
  configuration = {.grid = grid, .block = block, .shared = shared, .stream = stream};
  return kSuccess;
}
EXPORT cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  *grid = configuration.grid;
  *block = configuration.block;
  *shared = configuration.shared;
  *static_cast<void**>(stream) = configuration.stream;
  return cudaSuccess;
}
EXPORT cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(host));
  return cudaSuccess;
}
EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3, dim3, void**, std::size_t, cudaStream_t) { return launched(kernel); }
EXPORT cudaError_t cudaLaunchKernel(const void* kernel, dim3, dim3, void**, std::size_t, cudaStream_t) { return launched(kernel); }
EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void* kernel, void**) { return launched(kernel); }
EXPORT cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
EXPORT cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = kMostShared;
  return cudaSuccess;
}
EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int, std::size_t, unsigned) {
  *blocks = 2;
  return cudaSuccess;
}

// The card: one of compute capability 9.0.
EXPORT cudaError_t cudaGetDeviceCount(int* devices) {
  *devices = 1;
  return cudaSuccess;
}
EXPORT cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
EXPORT cudaError_t cudaSetDevice(int) { return cudaSuccess; }
EXPORT cudaError_t cudaGetDeviceProperties(cudaDeviceProp* card, int) {
  *card = {};
  std::strcpy(card->name, "counted");
  card->totalGlobalMem = kMemory;
  card->major = 9;
  card->warpSize = 32;
  card->multiProcessorCount = kProcessors;
  card->maxThreadsPerBlock = card->maxThreadsDim[0] = card->maxThreadsDim[1] = 1024;
  card->maxThreadsDim[2] = 64;
  card->maxGridSize[0] = 2147483647;
  card->maxGridSize[1] = card->maxGridSize[2] = 65535;
  card->maxThreadsPerMultiProcessor = 2048;
  card->maxBlocksPerMultiProcessor = 32;
  card->sharedMemPerBlock = 49152;
  card->sharedMemPerBlockOptin = kMostShared;
  card->sharedMemPerMultiprocessor = kMostShared + 1024;
  card->regsPerBlock = card->regsPerMultiprocessor = 65536;
  card->l2CacheSize = 50 << 20;
  return cudaSuccess;
}
EXPORT cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  static const std::map<cudaDeviceAttr, int> values{{cudaDevAttrComputeCapabilityMajor, 9},
                                                    {cudaDevAttrMultiProcessorCount, kProcessors},
                                                    {cudaDevAttrMaxThreadsPerBlock, 1024},
                                                    {cudaDevAttrMaxSharedMemoryPerBlock, 49152},
                                                    {cudaDevAttrMaxSharedMemoryPerBlockOptin, kMostShared},
                                                    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, kMostShared + 1024},
                                                    {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
                                                    {cudaDevAttrWarpSize, 32},
                                                    {cudaDevAttrMaxGridDimX, 2147483647},
                                                    {cudaDevAttrMaxGridDimY, 65535},
                                                    {cudaDevAttrMaxBlockDimX, 1024},
                                                    {cudaDevAttrMaxBlocksPerMultiprocessor, 32},
                                                    {cudaDevAttrMaxRegistersPerBlock, 65536},
                                                    {cudaDevAttrL2CacheSize, 50 << 20}};
  const auto found = values.find(attribute);
  *value = found == values.end() ? 0 : found->second;
  return cudaSuccess;
}
EXPORT cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int) {
  std::snprintf(text, static_cast<std::size_t>(size), "0000:00:00.0");
  return cudaSuccess;
}
EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
EXPORT cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}
EXPORT cudaError_t cudaDriverGetVersion(int* version) {
  *version = kVersion;
  return cudaSuccess;
}
EXPORT cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
EXPORT cudaError_t cudaGetLastError() { return cudaSuccess; }
EXPORT cudaError_t cudaPeekAtLastError() { return cudaSuccess; }

// Memory: addresses of the host, of which only those that are written take any.
EXPORT cudaError_t cudaMemGetInfo(std::size_t* left, std::size_t* all) {
  *all = kMemory;
  *left = kMemory - (1ULL << 30);
  return counted("the driver is asked for memory");
}
EXPORT cudaError_t cudaMalloc(void** block, std::size_t bytes) {
  *block = mmap(nullptr, bytes + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (*block == MAP_FAILED) return cudaErrorMemoryAllocation;
  const std::lock_guard lock(known().mutex);
  known().blocks[static_cast<const char*>(*block)] = bytes;
  return cudaSuccess;
}
EXPORT cudaError_t cudaFree(void* block) {
  const std::lock_guard lock(known().mutex);
  const auto found = known().blocks.find(static_cast<const char*>(block));
  if (found == known().blocks.end()) return cudaSuccess;
  munmap(block, found->second + kPage);
  known().blocks.erase(found);
  return cudaSuccess;
}
EXPORT cudaError_t cudaHostAlloc(void** block, std::size_t bytes, unsigned) {
  *block = std::aligned_alloc(kPage, (bytes / kPage + 1) * kPage);
  return *block == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
EXPORT cudaError_t cudaFreeHost(void* block) {
  std::free(block);
  return cudaSuccess;
}
EXPORT cudaError_t cudaHostRegister(void*, std::size_t, unsigned) { return cudaSuccess; }
EXPORT cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
EXPORT cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  const char* const place = static_cast<const char*>(pointer);
  const std::lock_guard lock(known().mutex);
  const auto after = known().blocks.upper_bound(place);
  const bool is_there = after != known().blocks.begin() && place < std::prev(after)->first + std::prev(after)->second;
  *attributes = {};
  attributes->type = is_there ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  attributes->devicePointer = is_there ? const_cast<void*>(pointer) : nullptr;
  return cudaSuccess;
}
EXPORT cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) { return copied(to, from, bytes, kind); }
EXPORT cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return copied(to, from, bytes, kind);
}
EXPORT cudaError_t cudaMemset(void*, int, std::size_t) { return counted("fill"); }
EXPORT cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t) { return counted("fill"); }

// Streams and events: nothing is ever under way.
EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) { return made(stream); }
EXPORT cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
EXPORT cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
EXPORT cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) {
  *priority = 0;
  return cudaSuccess;
}
EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t) { return counted("host waits for a stream"); }
EXPORT cudaError_t cudaDeviceSynchronize() { return counted("host waits for the device"); }
EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return counted("stream waits"); }
EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long*, cudaGraph_t*,
                                            const cudaGraphNode_t**, const cudaGraphEdgeData**, std::size_t*) {
  return cudaStreamIsCapturing(stream, status);
}
EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }
EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  count("event made");
  return made(event);
}
EXPORT cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event) {
  std::free(event);
  return cudaSuccess;
}
EXPORT cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return counted("event recorded"); }
EXPORT cudaError_t cudaEventRecordWithFlags(cudaEvent_t, cudaStream_t, unsigned) { return counted("event recorded"); }
EXPORT cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t) { return counted("host waits for an event"); }
EXPORT cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 0;
  return cudaSuccess;
}

// The driver, which LibTorch asks whether a card has been used: this library stands for libcuda.so.1, too.
EXPORT int cuDevicePrimaryCtxGetState(int, unsigned* flags, int* is_active) {
  *flags = 0;
  *is_active = 1;
  return kSuccess;
}
EXPORT int cuCtxGetCurrent(void** context) {
  static int only = 0;
  *context = &only;
  return kSuccess;
}
EXPORT int cuCtxSetCurrent(void*) { return kSuccess; }
EXPORT int cuDevicePrimaryCtxRetain(void** context, int) { return cuCtxGetCurrent(context); }
EXPORT int cuDeviceGet(int* device, int) {
  *device = 0;
  return kSuccess;
}
