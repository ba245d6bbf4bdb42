#include "executor/training/snapshot.h"

#include <ATen/ops/from_blob.h>

namespace executor {

void Snapshot::take(const std::vector<NamedTensor>& tensors) {
  constexpr std::size_t kAligned = 64;
  const auto padded = [](const at::Tensor& values) { return (values.nbytes() + kAligned - 1) / kAligned * kAligned; };
  std::size_t bytes = 0;
  for (const NamedTensor& tensor : tensors) bytes += padded(tensor.values);
  tensors_.clear();
  memory_.resize(bytes);
  std::byte* to = memory_.data();
  for (const NamedTensor& tensor : tensors) {
    const at::Tensor copy = at::from_blob(to, tensor.values.sizes(), at::TensorOptions().dtype(tensor.values.scalar_type()));
    copy.copy_(tensor.values);
    tensors_.push_back({.name = tensor.name, .values = copy});
    to += padded(tensor.values);
  }
}

}  // namespace executor
