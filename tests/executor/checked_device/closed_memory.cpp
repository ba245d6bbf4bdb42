#include "tests/executor/checked_device/closed_memory.h"

#include <sys/mman.h>

#include <cstring>

namespace executor {
namespace {

constexpr std::size_t kPage = 4096;
ClosedMemory* the_memory = nullptr;

}  // namespace

c10::DataPtr ClosedMemory::allocate(std::size_t bytes) {
  the_memory = this;
  const c10::Device device(c10::DeviceType::PrivateUse1, 0);
  if (bytes == 0) return {nullptr, nullptr, raw_deleter(), device};
  const std::lock_guard lock(mutex_);
  const std::size_t rounded = (bytes + kPage - 1) / kPage * kPage, stream = stream_();
  std::vector<void*>& pool = free_[{stream, rounded}];
  void* base = nullptr;
  if (pool.empty()) {
    base = mmap(nullptr, rounded, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TORCH_CHECK(base != MAP_FAILED, "no memory for the checked device");
  } else {
    base = pool.back();
    pool.pop_back();
  }
  Block& block = blocks_[base];
  block = {.asked = bytes, .bytes = rounded, .stream = stream, .opened = block.opened};
  stats_.requested_bytes[0].increase(bytes);
  stats_.reserved_bytes[0].increase(pool.empty() ? rounded : 0);
  return {base, base, raw_deleter(), device};
}

c10::DeleterFnPtr ClosedMemory::raw_deleter() const {
  return [](void* base) {
    if (base) the_memory->give_back(base);
  };
}

void ClosedMemory::give_back(void* base) {
  const std::lock_guard lock(mutex_);
  const Block& block = blocks_.at(base);  // it stays: an operation that is late may still use it, as on a GPU
  stats_.requested_bytes[0].decrease(block.asked);
  free_[{block.stream, block.bytes}].push_back(base);
}

void ClosedMemory::copy_data(void* to, const void* from, std::size_t bytes) const {
  const Opened first(to), second(from);
  std::memcpy(to, from, bytes);
}

void ClosedMemory::resetPeakStats(c10::DeviceIndex) { stats_.requested_bytes[0].reset_peak(); }

ClosedMemory::Opened::Opened(const void* inside) {
  if (the_memory == nullptr || inside == nullptr) return;
  const std::lock_guard lock(the_memory->mutex_);
  auto after = the_memory->blocks_.upper_bound(const_cast<void*>(inside));
  if (after == the_memory->blocks_.begin()) return;
  auto& [base, block] = *--after;
  if (static_cast<const char*>(inside) >= static_cast<char*>(base) + block.bytes) return;
  base_ = base;
  if (++block.opened == 1) mprotect(base_, block.bytes, PROT_READ | PROT_WRITE);
}

ClosedMemory::Opened::~Opened() {
  if (base_ == nullptr) return;
  const std::lock_guard lock(the_memory->mutex_);
  Block& block = the_memory->blocks_.at(base_);
  if (--block.opened == 0) mprotect(base_, block.bytes, PROT_NONE);
}

}  // namespace executor
