#include "executor/kernels/typed_ranges.h"

#include <algorithm>
#include <cstdint>

namespace executor {
namespace {

std::intptr_t address_of(const at::Tensor& tensor) { return reinterpret_cast<std::intptr_t>(tensor.data_ptr()); }

}  // namespace

std::vector<TypedRanges> ranges_by_type(at::TensorList tensors) {
  std::vector<TypedRanges> by_type;
  for (const at::Tensor& tensor : tensors) {
    const auto has_its_type = [&](const TypedRanges& of) { return of.first.scalar_type() == tensor.scalar_type(); };
    auto of = std::ranges::find_if(by_type, has_its_type);
    if (of == by_type.end()) of = by_type.insert(of, {.first = tensor, .ranges = {}});
    const std::int64_t begin = (address_of(tensor) - address_of(of->first)) / static_cast<std::int64_t>(tensor.element_size());
    of->ranges.push_back({.begin = begin, .end = begin + tensor.numel()});
  }
  return by_type;
}

}  // namespace executor
