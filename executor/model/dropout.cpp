#include "executor/model/dropout.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>

namespace executor {
namespace {

template <class Number>
void scale_by_mask(Number* numbers, std::int64_t count, const Dropout& dropout) {
  const auto threshold = static_cast<std::uint32_t>(dropout.probability * 0x1p32);
  using Wide = at::opmath_type<Number>;
  const auto scale = static_cast<Wide>(1.0 / (1.0 - dropout.probability));
  for (std::int64_t at = 0; at < count; ++at) {
    const std::uint64_t element = dropout.first_element + static_cast<std::uint64_t>(at);  // two elements share 64 bits
    const auto bits = static_cast<std::uint32_t>(random_bits(dropout.key, element >> 1) >> (32 * (element & 1)));
    numbers[at] = bits < threshold ? Number(0) : static_cast<Number>(static_cast<Wide>(numbers[at]) * scale);
  }
}

}  // namespace

void apply_dropout(at::Tensor& tensor, const Dropout& dropout) {
  if (dropout.probability <= 0) return;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, tensor.scalar_type(), "apply_dropout",
                                  [&] { scale_by_mask(tensor.data_ptr<scalar_t>(), tensor.numel(), dropout); });
}

}  // namespace executor
