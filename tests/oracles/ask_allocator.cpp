// PyTorch's caching allocator, asked request by request: "+ number bytes stream" and "- number" on the standard input; out come the bytes that it has reserved
// then, or "out" where it is out of memory.
#include <c10/cuda/CUDACachingAllocator.h>

#include <cstdio>
#include <map>

int main() {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  allocator::init(1);
  std::map<long, void*> tensors;
  char what = 0;
  for (long number = 0; std::scanf(" %c %ld", &what, &number) == 2;) {
    long size = 0, stream = 0;
    if (what == '+' && std::scanf("%ld %ld", &size, &stream) != 2) return 1;
    try {
      if (what == '+')
        tensors[number] = allocator::raw_alloc_with_stream(static_cast<std::size_t>(size), reinterpret_cast<cudaStream_t>(stream));
      else if (const auto tensor = tensors.find(number); tensor != tensors.end()) {
        allocator::raw_delete(tensor->second);
        tensors.erase(tensor);
      }
      std::printf("%ld\n", static_cast<long>(allocator::getDeviceStats(0).reserved_bytes[0].current));
    } catch (const c10::OutOfMemoryError&) {
      std::puts("out");
    }
  }
}
