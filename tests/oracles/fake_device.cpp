// A CUDA runtime and driver without a device: memory is addresses, and there are as many bytes of it as MESHWRIGHT_FAKE_BYTES says. What PyTorch's caching
// allocator calls, so that it can be asked.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

namespace {

constexpr std::size_t kPage = std::size_t{2} << 20, kGap = std::size_t{1} << 30;
const std::size_t capacity = std::strtoull(std::getenv("MESHWRIGHT_FAKE_BYTES"), nullptr, 10);
std::size_t taken = 0, next_address = std::size_t{1} << 40;
std::map<std::size_t, std::size_t> sizes;  // of allocations by address, and of physical memory by number

bool take(std::size_t key, std::size_t size) {
  if (size > capacity - taken) return false;
  taken += size;
  sizes[key] = size;
  return true;
}
void give_back(std::size_t key) {
  taken -= sizes[key];
  sizes.erase(key);
}

CUresult get_device(CUdevice* device, int) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult get_attribute(int* value, CUdevice_attribute, CUdevice) {
  *value = 0;
  return CUDA_SUCCESS;
}
CUresult reserve_addresses(CUdeviceptr* at, std::size_t size, std::size_t, CUdeviceptr, unsigned long long) {
  *at = next_address;
  next_address += size + kGap;
  return CUDA_SUCCESS;
}
CUresult create(CUmemGenericAllocationHandle* handle, std::size_t size, const CUmemAllocationProp*, unsigned long long) {
  static std::size_t last = 0;
  *handle = ++last;
  return take(last, size) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult release(CUmemGenericAllocationHandle handle) {
  give_back(handle);
  return CUDA_SUCCESS;
}
CUresult error_text(CUresult, const char** text) {
  *text = "a fake driver's";
  return CUDA_SUCCESS;
}
CUresult succeed() { return CUDA_SUCCESS; }

struct Entry {
  const char* name;
  void* function;
};
const Entry kEntries[] = {{"cuDeviceGet", reinterpret_cast<void*>(get_device)},
                          {"cuDeviceGetAttribute", reinterpret_cast<void*>(get_attribute)},
                          {"cuMemAddressReserve", reinterpret_cast<void*>(reserve_addresses)},
                          {"cuMemCreate", reinterpret_cast<void*>(create)},
                          {"cuMemRelease", reinterpret_cast<void*>(release)},
                          {"cuGetErrorString", reinterpret_cast<void*>(error_text)}};

template <class Handle>
cudaError_t make(Handle* handle) {
  *handle = static_cast<Handle>(std::malloc(1));
  return cudaSuccess;
}

}  // namespace

extern "C" {
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  *function = reinterpret_cast<void*>(succeed);
  for (const Entry& entry : kEntries)
    if (std::strcmp(entry.name, name) == 0) *function = entry.function;
  if (found != nullptr) *found = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  properties->totalGlobalMem = capacity;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "a fake runtime's"; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* most) { return *least = *most = 0, cudaSuccess; }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) { return make(stream); }
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  return *status = cudaStreamCaptureStatusNone, cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return make(event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return std::free(event), cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all) {
  *free = capacity - taken;
  *all = capacity;
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** at, std::size_t size) {
  if (!take(next_address, size)) return cudaErrorMemoryAllocation;
  *at = reinterpret_cast<void*>(next_address);
  next_address += (size + kPage) / kPage * kPage;
  return cudaSuccess;
}
cudaError_t cudaFree(void* at) {
  if (at != nullptr) give_back(reinterpret_cast<std::size_t>(at));
  return cudaSuccess;
}
}
