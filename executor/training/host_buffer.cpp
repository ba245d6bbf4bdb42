#include "executor/training/host_buffer.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/util/accumulate.h>

#include <cstdlib>
#include <new>

#include "sim/units/at.h"

namespace executor {
namespace {

constexpr std::size_t kHostAlignment = 64;

}  // namespace

at::Tensor host_buffer(at::IntArrayRef sizes, const HostBufferForm& form) {
  const at::TensorOptions options = at::TensorOptions().dtype(form.type);
  if (form.device.is_cuda()) return at::empty(sizes, options.pinned_memory(true));
  const std::size_t bytes = sim::count_of(c10::multiply_integers(sizes)) * c10::elementSize(form.type);
  void* memory = std::aligned_alloc(kHostAlignment, (bytes / kHostAlignment + 1) * kHostAlignment);
  if (memory == nullptr) throw std::bad_alloc();
  return at::from_blob(
      memory, sizes, [](void* freed) { std::free(freed); }, options);
}

}  // namespace executor
