// Numbers in the memory of a device, for the tests of kernels: they stand between guards that no kernel may touch, and begin `shift` numbers
// after an aligned address. On the CPU that emulates a device it is plain memory.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace executor {

inline void require_cuda(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(error));
}

template <class Number>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<Number>& values, std::size_t shift = 0) : shift_(shift), size_(values.size()) {
    std::vector<unsigned char> bytes(kGuard + shift * sizeof(Number) + size_ * sizeof(Number) + kGuard, kPattern);
    std::memcpy(bytes.data() + begin(), values.data(), size_ * sizeof(Number));
    void* memory = nullptr;
    require_cuda(cudaMalloc(&memory, bytes.size()));
    memory_ = static_cast<unsigned char*>(memory);
    require_cuda(cudaMemcpy(memory_, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(memory_); }

  Number* data() { return reinterpret_cast<Number*>(memory_ + begin()); }

  std::vector<Number> values() const {
    require_cuda(cudaDeviceSynchronize());
    std::vector<unsigned char> bytes(begin() + size_ * sizeof(Number) + kGuard);
    require_cuda(cudaMemcpy(bytes.data(), memory_, bytes.size(), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const bool inside = i >= begin() && i < begin() + size_ * sizeof(Number);
      if (!inside && bytes[i] != kPattern)
        ADD_FAILURE() << "a kernel wrote byte " << i << " outside of [" << begin() << ", " << begin() + size_ * sizeof(Number) << ")";
    }
    std::vector<Number> result(size_);
    std::memcpy(result.data(), bytes.data() + begin(), size_ * sizeof(Number));
    return result;
  }

 private:
  static constexpr std::size_t kGuard = 256;
  static constexpr unsigned char kPattern = 0xa5;

  std::size_t begin() const { return kGuard + shift_ * sizeof(Number); }

  std::size_t shift_, size_;
  unsigned char* memory_ = nullptr;
};

// Tests of kernels: performed by a GPU, or by the CPU where they are built with the emulation; skipped aloud where there is neither.
class Kernels : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess) GTEST_SKIP() << "no GPU: " << cudaGetErrorString(error);
    if (devices == 0) GTEST_SKIP() << "no GPU: no device is visible";
  }
};

}  // namespace executor
