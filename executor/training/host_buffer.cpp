#include "executor/training/host_buffer.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <cstdlib>
#include <new>

namespace executor {
namespace {

constexpr std::size_t kHostAlignment = 64;

}  // namespace

at::Tensor host_buffer(std::int64_t elements, const HostBufferForm& form) {
  const at::TensorOptions options = at::TensorOptions().dtype(form.type);
  if (form.device.is_cuda()) return at::zeros({elements}, options.pinned_memory(true));
  const std::size_t bytes = static_cast<std::size_t>(elements) * c10::elementSize(form.type);
  void* memory = std::aligned_alloc(kHostAlignment, (bytes / kHostAlignment + 1) * kHostAlignment);
  if (memory == nullptr) throw std::bad_alloc();
  return at::from_blob(memory, {elements}, [](void* freed) { std::free(freed); }, options).zero_();
}

}  // namespace executor
