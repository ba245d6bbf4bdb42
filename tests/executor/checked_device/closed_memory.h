// The memory of the checked device: pages that nobody may touch unless they are opened. Freed blocks go to a pool of the stream that they were
// taken on, and are given out again last in, first out.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace executor {

class ClosedMemory final : public c10::DeviceAllocator {
 public:
  using StreamNow = std::size_t (*)();  // the current stream of this thread
  explicit ClosedMemory(StreamNow stream) : stream_(stream) {}

  c10::DataPtr allocate(std::size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* to, const void* from, std::size_t bytes) const override;
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {
    TORCH_CHECK(false, "record_stream is not how this house keeps memory alive");
  }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override { return stats_; }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override;
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex) override { return {std::size_t{1} << 30, std::size_t{8} << 30}; }

  // While it lives, the block of this address may be touched.
  class Opened {
   public:
    explicit Opened(const void* inside);
    ~Opened();
    bool is_device() const { return base_ != nullptr; }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;

   private:
    void* base_ = nullptr;
  };

 private:
  struct Block {
    std::size_t asked = 0, bytes = 0, stream = 0;
    std::int32_t opened = 0;
  };
  void give_back(void* base);

  StreamNow stream_;
  std::mutex mutex_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<void*>> free_;  // by stream and size
  std::map<void*, Block> blocks_;
  c10::CachingDeviceAllocator::DeviceStats stats_;
};

}  // namespace executor
