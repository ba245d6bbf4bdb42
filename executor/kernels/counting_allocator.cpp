#include "executor/kernels/counting_allocator.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace executor {
namespace {

std::atomic<std::int64_t> alive{0}, peak{0};

// Keeps a tensor's size in front of its memory; the alignment of 64 bytes stays.
constexpr std::size_t kFront = 64;

void count(std::int64_t bytes) {
  const std::int64_t now = alive.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t highest = peak.load(std::memory_order_relaxed);
  while (now > highest && !peak.compare_exchange_weak(highest, now, std::memory_order_relaxed)) {
  }
}

void give_back(void* data) {
  if (!data) return;
  auto* front = static_cast<std::byte*>(data) - kFront;
  count(-*reinterpret_cast<std::int64_t*>(front));
  c10::free_cpu(front);
}

class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* data = bytes == 0 ? nullptr : take(bytes);
    return {data, data, &give_back, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

 private:
  static void* take(std::size_t bytes) {
    auto* front = static_cast<std::byte*>(c10::alloc_cpu(bytes + kFront));
    *reinterpret_cast<std::int64_t*>(front) = static_cast<std::int64_t>(bytes);
    count(static_cast<std::int64_t>(bytes));
    return front + kFront;
  }
};

// By default glibc returns large blocks to the system when they are freed and has each page cleared again for the next tensor.
void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, 64 << 20);
}

}  // namespace

void install_counting_allocator() {
  static std::once_flag once;
  std::call_once(once, [] {
    static CountingAllocator allocator;
    keep_freed_memory();
    c10::SetCPUAllocator(&allocator);
  });
}

sim::Bytes alive_bytes() { return sim::Bytes(alive.load(std::memory_order_relaxed)); }
sim::Bytes peak_bytes() { return sim::Bytes(peak.load(std::memory_order_relaxed)); }
void reset_peak() { peak.store(alive.load(std::memory_order_relaxed), std::memory_order_relaxed); }

}  // namespace executor
