#include "executor/training/snapshot.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>

#if MESHWRIGHT_CUDA
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime_api.h>
#endif

namespace executor {
namespace {

// The pages of this memory stay where they are: a GPU copies to them by itself.
std::shared_ptr<void> pin(std::vector<std::byte>& memory) {
#if MESHWRIGHT_CUDA
  C10_CUDA_CHECK(cudaHostRegister(memory.data(), memory.size(), cudaHostRegisterDefault));
  return {memory.data(), [](void* begin) { C10_CUDA_IGNORE_ERROR(cudaHostUnregister(begin)); }};
#else
  return {memory.data(), [](void*) {}};
#endif
}

// Copies issued while it lives go to a stream of their own, behind what the current one was told before; at its end the host waits for them.
class BesideComputing {
 public:
  explicit BesideComputing(c10::Device device)
      : guard_(device.type()), computing_(guard_.getStream(device)), copying_(guard_.getStreamFromGlobalPool(device, false)) {
    c10::Event now(device.type());
    now.record(computing_);
    now.block(copying_);
    guard_.exchangeStream(copying_);
  }
  ~BesideComputing() { guard_.exchangeStream(computing_); }
  BesideComputing(const BesideComputing&) = delete;
  BesideComputing& operator=(const BesideComputing&) = delete;

  void wait() const {  // computing, too: it may write there next
    c10::Event ended(computing_.device_type());
    ended.record(copying_);
    ended.block(computing_);
    ended.synchronize();
  }

 private:
  c10::impl::VirtualGuardImpl guard_;
  c10::Stream computing_, copying_;
};

}  // namespace

void Snapshot::resize(std::size_t bytes, bool is_pinned) {
  if (memory_.size() == bytes) return;
  pinned_.reset();
  memory_.resize(bytes);
  if (is_pinned && bytes > 0) pinned_ = pin(memory_);
}

void Snapshot::take(const std::vector<NamedTensor>& tensors) {
  constexpr std::size_t kAligned = 64;
  const auto padded = [](const at::Tensor& values) { return (values.nbytes() + kAligned - 1) / kAligned * kAligned; };
  const auto there = std::find_if(tensors.begin(), tensors.end(), [](const NamedTensor& tensor) { return !tensor.values.is_cpu(); });
  std::size_t bytes = 0;
  for (const NamedTensor& tensor : tensors) bytes += padded(tensor.values);
  tensors_.clear();
  resize(bytes, there != tensors.end() && there->values.is_cuda());
  std::unique_ptr<BesideComputing> beside;
  if (there != tensors.end()) beside = std::make_unique<BesideComputing>(there->values.device());
  std::byte* to = memory_.data();
  for (const NamedTensor& tensor : tensors) {
    const at::Tensor copy = at::from_blob(to, tensor.values.sizes(), at::TensorOptions().dtype(tensor.values.scalar_type()));
    copy.copy_(tensor.values, /*non_blocking=*/true);
    tensors_.push_back({.name = tensor.name, .values = copy});
    to += padded(tensor.values);
  }
  if (beside) beside->wait();
}

}  // namespace executor
