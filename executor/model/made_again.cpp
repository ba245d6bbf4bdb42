#include "executor/model/made_again.h"

#include <c10/core/GradMode.h>

#include <cassert>
#include <utility>

#include "executor/model/storage_memory.h"

namespace executor {
namespace {

c10::StorageImpl& storage_of(const at::Tensor& tensor) { return *tensor.storage().unsafeGetStorageImpl(); }

void take_over(const at::Tensor& tensor, const at::Tensor& made) {
  c10::StorageImpl &storage = storage_of(tensor), &from = storage_of(made);
  assert(tensor.strides() == made.strides() && tensor.storage_offset() == made.storage_offset());
  const std::size_t bytes = from.nbytes();
  storage.set_data_ptr_noswap(from.set_data_ptr(from.allocator()->allocate(0)));
  storage.set_nbytes(bytes);
  from.set_nbytes(0);
}

}  // namespace

void MadeAgain::add(std::vector<at::Tensor> tensors, Make make) { groups_.push_back({std::move(tensors), std::move(make)}); }

void MadeAgain::forget() {
  for (const Group& group : groups_)
    for (const at::Tensor& tensor : group.tensors) resize_storage(storage_of(tensor), 0);
}

void MadeAgain::make() {
  const c10::AutoGradMode unrecorded(false);
  while (!groups_.empty()) {
    const Group group = std::move(groups_.back());
    groups_.pop_back();
    const std::vector<at::Tensor> made = group.make();
    for (std::size_t at = 0; at < made.size(); ++at) take_over(group.tensors[at], made[at]);
  }
}

Recomputing::State Recomputing::current_{};

Recomputing::Recomputing(sim::Modules modules, MadeAgain& list) : before_(std::exchange(current_, State{modules, &list})) {}
Recomputing::~Recomputing() { current_ = before_; }

bool Recomputing::makes_again(sim::Module module) { return current_.list != nullptr && current_.modules.has(module); }

void Recomputing::offer(sim::Module module, std::vector<at::Tensor> tensors, MadeAgain::Make make) {
  if (makes_again(module)) current_.list->add(std::move(tensors), std::move(make));
}

}  // namespace executor
