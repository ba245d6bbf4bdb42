#include "executor/model/dropout.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "executor/kernels/on_device.h"

namespace executor {
namespace {

DropoutDraw draw_of(const Dropout& dropout) {
  return dropout_draw(dropout.probability, {.key = dropout.key.value, .first_element = dropout.first_element});
}

template <class Number>
void scale_by_mask(Number* numbers, std::int64_t count, const Dropout& dropout) {
  const DropoutDraw draw = draw_of(dropout);
  using Wide = at::opmath_type<Number>;
  for (std::int64_t at = 0; at < count; ++at) {
    const std::uint64_t element = draw.first_element + static_cast<std::uint64_t>(at);
    const SharedBits bits{random_bits(dropout.key, element >> 1)};
    numbers[at] = static_cast<Number>(kept_or_zero<Wide>(numbers[at], bits.of(element), draw));
  }
}

// random_bits() of many indices on their device: int64 products wrap alike, and a mask takes off the sign that its shifts drag along.
at::Tensor random_bits_of(const at::Tensor& indices, const Dropout& dropout) {
  const auto number = [](std::uint64_t bits) { return static_cast<std::int64_t>(bits); };
  const auto folded = [](const at::Tensor& bits, std::int64_t shift) {
    return bits.bitwise_xor(bits.bitwise_right_shift(shift).bitwise_and_((std::int64_t{1} << (64 - shift)) - 1));
  };
  at::Tensor bits = indices.add(1).mul_(number(0x9e3779b97f4a7c15ULL));
  bits = dropout.key_there.defined() ? bits.add_(dropout.key_there) : bits.add_(number(dropout.key.value));
  bits = folded(bits, 30).mul_(number(0xbf58476d1ce4e5b9ULL));
  bits = folded(bits, 27).mul_(number(0x94d049bb133111ebULL));
  return folded(bits, 31);
}

// The mask of scale_by_mask(), by LibTorch's operators: for a device without a loop of ours.
at::Tensor kept(const at::Tensor& tensor, const Dropout& dropout) {
  constexpr std::int64_t kLow = 0xffffffffLL;
  const auto first = static_cast<std::int64_t>(dropout.first_element), last = first + tensor.numel() - 1;
  const at::Tensor pairs = random_bits_of(at::arange(first >> 1, (last >> 1) + 1, tensor.options().dtype(at::kLong)), dropout);
  const at::Tensor halves = at::stack({pairs.bitwise_and(kLow), pairs.bitwise_right_shift(32).bitwise_and_(kLow)}, 1).view({-1});
  return halves.narrow(0, first & 1, tensor.numel()).ge(static_cast<std::int64_t>(dropout.probability * 0x1p32)).view(tensor.sizes());
}

void scale_composed(const at::Tensor& tensor, const Dropout& dropout) {
  const at::Tensor scaled = tensor.mul(1.0 / (1.0 - dropout.probability));
  tensor.copy_(at::where(kept(tensor, dropout), scaled, at::zeros({}, tensor.options())));
}

// One kernel, whatever the rows stand apart.
void drop_there(const at::Tensor& tensor, const Dropout& dropout) {
  DropoutDraw draw = draw_of(dropout);
  if (dropout.columns > 0) {
    draw.first_element += static_cast<std::uint64_t>(dropout.first_column);
    draw.width = static_cast<std::uint64_t>(tensor.size(1));
    draw.row = static_cast<std::uint64_t>(dropout.columns);
  }
  on_device::drop(tensor, draw, dropout.key_there);
}

// Row by row: neighbours of a column are others than in the whole row.
void drop_columns(const at::Tensor& tensor, const Dropout& dropout) {
  for (std::int64_t row = 0; row < tensor.size(0); ++row) {
    at::Tensor numbers = tensor.select(0, row);
    Dropout own = dropout;
    own.columns = 0;
    own.first_element += static_cast<std::uint64_t>(row * dropout.columns + dropout.first_column);
    apply_dropout(numbers, own);
  }
}

void drop_stretches(const at::Tensor& tensor, const Dropout& dropout) {
  for (const TokenStretch& stretch : dropout.stretches) {
    at::Tensor rows = tensor.narrow(0, stretch.begin, stretch.count);
    Dropout own = dropout;
    own.stretches = {};
    own.first_element += static_cast<std::uint64_t>(stretch.first * (dropout.columns > 0 ? dropout.columns : tensor.size(1)));
    apply_dropout(rows, own);
  }
}

}  // namespace

void apply_dropout(at::Tensor& tensor, const Dropout& dropout) {
  if (dropout.probability <= 0 || tensor.numel() == 0) return;
  if (!dropout.stretches.empty()) return drop_stretches(tensor, dropout);
  if (on_device::has_kernels(tensor)) return drop_there(tensor, dropout);
  if (dropout.columns > 0) return drop_columns(tensor, dropout);
  if (!tensor.is_cpu()) return scale_composed(tensor, dropout);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, tensor.scalar_type(), "apply_dropout",
                                  [&] { scale_by_mask(tensor.data_ptr<scalar_t>(), tensor.numel(), dropout); });
}

}  // namespace executor
