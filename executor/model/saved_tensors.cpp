#include "executor/model/saved_tensors.h"

#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

#include "executor/model/storage_memory.h"

namespace executor {
namespace {

at::Tensor numbers_in_bytes(const c10::Storage& storage) {
  const auto count = static_cast<std::int64_t>(storage.nbytes());
  return at::empty({0}, at::TensorOptions().dtype(at::kByte).device(storage.device())).set_(storage, 0, {count}, {1});
}

}  // namespace

void SavedTensors::add(const at::Tensor& tensor) {
  const c10::weak_intrusive_ptr<c10::StorageImpl> own = tensor.storage().getWeakStorageImpl();
  if (std::find(added_.begin(), added_.end(), own) == added_.end()) added_.push_back(own);
}

// What is made again has no memory by now.
void SavedTensors::leave(const HostBuffer& on_host) {
  const c10::AutoGradMode unrecorded(false);
  for (const auto& each : std::exchange(added_, {})) {
    const c10::intrusive_ptr<c10::StorageImpl> held = each.lock();
    if (!held || held->nbytes() == 0) continue;
    Left left{.here = c10::Storage(held), .there = on_host(static_cast<std::int64_t>(held->nbytes()))};
    left.there.copy_(numbers_in_bytes(left.here));
    resize_storage(*held, 0);
    left_.push_back(std::move(left));
  }
}

void SavedTensors::come_back() {
  const c10::AutoGradMode unrecorded(false);
  for (const Left& left : std::exchange(left_, {})) {
    resize_storage(*left.here.unsafeGetStorageImpl(), left.there.nbytes());
    numbers_in_bytes(left.here).copy_(left.there);
  }
}

Saving::State Saving::current_{};

Saving::Saving(What what, SavedTensors& list) : before_(std::exchange(current_, State{what, &list})) {}
Saving::~Saving() { current_ = before_; }

void Saving::offer(sim::Module module, std::initializer_list<at::Tensor> tensors) {
  if (current_.list == nullptr || !current_.what.modules.has(module)) return;
  for (const at::Tensor& tensor : tensors)
    if (tensor.defined() && tensor.numel() >= current_.what.least) current_.list->add(tensor);
}

}  // namespace executor
