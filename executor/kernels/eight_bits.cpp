#include "executor/kernels/eight_bits.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/frexp.h>
#include <ATen/ops/ldexp.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e5m2.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "executor/kernels/on_device.h"

namespace executor {
namespace {

// frexp's mantissas are in [1/2, 1).
at::Tensor floor_exponent(const at::Tensor& numbers) { return std::get<1>(at::frexp(numbers)).sub_(1); }
at::Tensor power_of_two(const at::Tensor& exponents, const at::Tensor& like) { return at::ldexp(at::ones_like(like), exponents); }

struct Extent {
  std::int64_t whole, part;
  std::int64_t tiles() const { return (whole + part - 1) / part; }
  std::int64_t missing() const { return tiles() * part - whole; }
};
struct Extents {
  Extents(const at::Tensor& numbers, Tile tile)
      : rows{numbers.size(0), std::min(tile.rows, numbers.size(0))}, columns{numbers.size(1), std::min(tile.columns, numbers.size(1))} {}
  Extent rows, columns;
};

at::ScalarType wide_type(const at::Tensor& numbers) { return numbers.scalar_type() == at::kDouble ? at::kDouble : at::kFloat; }

at::Tensor spread(const at::Tensor& of_tiles, std::int64_t dimension, Extent extent) {
  if (extent.tiles() == 1) return of_tiles;
  return of_tiles.repeat_interleave(extent.part, dimension).narrow(dimension, 0, extent.whole);
}

// each(number, its tile's)
template <class Number, class OfTile, class Each>
void for_each_number(const at::Tensor& numbers, const at::Tensor& of_tiles, Tile tile, const Each& each) {
  const Extents extents(numbers, tile);
  const Number* const from = numbers.const_data_ptr<Number>();
  OfTile* const tiles = of_tiles.data_ptr<OfTile>();
  const std::int64_t across = extents.columns.tiles(), down_step = numbers.stride(0), across_step = numbers.stride(1);
  for (std::int64_t row = 0; row < numbers.size(0); ++row)
    for (std::int64_t column = 0; column < numbers.size(1); ++column)
      each(static_cast<OfTile>(from[row * down_step + column * across_step]),
           tiles[row / extents.rows.part * across + column / extents.columns.part]);
}

// What is no number stays that.
at::Tensor largest_by_loop(const at::Tensor& numbers, Tile tile) {
  const Extents extents(numbers, tile);
  const at::Tensor largest = at::zeros({extents.rows.tiles(), extents.columns.tiles()}, numbers.options().dtype(wide_type(numbers)));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, numbers.scalar_type(), "largest_of_tiles", [&] {
    using Wide = at::opmath_type<scalar_t>;
    for_each_number<scalar_t, Wide>(numbers, largest, tile, [](Wide number, Wide& most) {
      const Wide magnitude = std::abs(number);
      if (magnitude > most || magnitude != magnitude) most = magnitude;
    });
  });
  return largest;
}

template <class Format, class Wide>
Wide rounded_number(Wide number, Wide scale, Wide most) {
  const Wide scaled = number * scale, within = scaled > most ? most : scaled < -most ? -most : scaled;
  return static_cast<Wide>(static_cast<float>(Format(static_cast<float>(within)))) / scale;
}

template <class Format>
at::Tensor rounded_by_loop(const at::Tensor& numbers, const at::Tensor& scales, Tile tile, double most) {
  const at::Tensor result = at::empty(numbers.sizes(), scales.options());
  const at::Tensor of_tiles = scales.contiguous();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, numbers.scalar_type(), "rounded", [&] {
    using Wide = at::opmath_type<scalar_t>;
    Wide* into = result.data_ptr<Wide>();
    for_each_number<scalar_t, Wide>(numbers, of_tiles, tile, [&](Wide number, const Wide& scale) {
      *into++ = rounded_number<Format>(number, scale, static_cast<Wide>(most));
    });
  });
  return result;
}

at::Tensor spread_over(const at::Tensor& of_tiles, const Extents& extents) {
  return spread(spread(of_tiles, 0, extents.rows), 1, extents.columns);
}

// [outer, inner] in pieces (UnitScales); what fills them is 1.
at::Tensor in_pieces(const at::Tensor& scales) {
  const Extent outer{scales.size(0), kPieceOuters}, inner{scales.size(1), kPieceInners};
  const at::Tensor whole = at::constant_pad_nd(scales, {0, inner.missing(), 0, outer.missing()}, 1);
  return whole.view({outer.tiles(), 4, 32, inner.tiles(), kPieceInners}).permute({0, 3, 2, 1, 4}).reshape({-1}).to(at::kFloat8_e8m0fnu);
}

at::Tensor in_order(const at::Tensor& scales, ScaleOrder order) {
  switch (order) {
    case ScaleOrder::OuterFirst: return scales.t().contiguous().t();
    case ScaleOrder::InnerFirst: return scales.contiguous();
    case ScaleOrder::Pieces: break;
  }
  return in_pieces(scales);
}

}  // namespace

at::Tensor largest_of_tiles(const at::Tensor& numbers, Tile tile) {
  if (numbers.is_cpu()) return largest_by_loop(numbers, tile);
  const auto [rows, columns] = Extents(numbers, tile);
  const bool is_ragged = rows.missing() + columns.missing() > 0;
  const at::Tensor whole = is_ragged ? at::constant_pad_nd(numbers, {0, columns.missing(), 0, rows.missing()}) : numbers,
                   tiles = whole.view({rows.tiles(), rows.part, columns.tiles(), columns.part});
  return at::linalg_vector_norm(tiles, std::numeric_limits<double>::infinity(), {1, 3}, /*keepdim=*/false, wide_type(numbers));  // one pass
}

at::Tensor scales_of(const at::Tensor& largest, EightBits format, ScaleRule rule) {
  const EightBitFormat to = format_of(format);
  at::Tensor scales = largest.reciprocal().mul_(to.largest);
  if (rule == ScaleRule::PowerOfTwo) scales = power_of_two(floor_exponent(scales), largest);
  if (rule == ScaleRule::Shared) scales = power_of_two(floor_exponent(largest).neg_().add_(to.largest_exponent), largest);
  return at::where(largest > 0, scales, at::ones_like(largest));
}

at::ScalarType type_of(EightBits format) { return format == EightBits::E4m3 ? at::kFloat8_e4m3fn : at::kFloat8_e5m2; }

UnitOperand unit_operand(const at::Tensor& numbers, const at::Tensor& largest, const UnitForm& form) {
  if (on_device::has_kernels(numbers)) return on_device::unit_operand(numbers, largest, form);
  const at::Tensor scales = scales_of(largest, form.format, form.rule);
  const double most = format_of(form.format).largest;
  const at::Tensor codes = (numbers * spread_over(scales, Extents(numbers, form.tile))).clamp_(-most, most).to(type_of(form.format)),
                   inverse = form.is_turned ? scales.reciprocal().t() : scales.reciprocal();
  return {.codes = (form.is_turned ? codes.t() : codes).contiguous(),
          .inverse = in_order(inverse, order_of(form.rule, form.tile.rows > 1 && form.tile.columns > 1))};
}

at::Tensor rounded(const at::Tensor& numbers, const at::Tensor& scales, EightBits format, Tile tile) {
  const double most = format_of(format).largest;
  if (numbers.is_cpu())
    return format == EightBits::E4m3 ? rounded_by_loop<c10::Float8_e4m3fn>(numbers, scales, tile, most)
                                     : rounded_by_loop<c10::Float8_e5m2>(numbers, scales, tile, most);
  const at::Tensor of_each = spread_over(scales, Extents(numbers, tile));
  const at::Tensor result = (numbers.to(scales.scalar_type()) * of_each).clamp_(-most, most);
  return result.copy_(result.to(at::kFloat).to(type_of(format))).div_(of_each);
}

}  // namespace executor
