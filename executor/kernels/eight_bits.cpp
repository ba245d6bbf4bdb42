#include "executor/kernels/eight_bits.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/frexp.h>
#include <ATen/ops/ldexp.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>

#include <tuple>

namespace executor {
namespace {

struct FormatRow {
  at::ScalarType type;
  double largest;
  std::int64_t largest_exponent;
};
constexpr FormatRow row_of(EightBits format) {
  return format == EightBits::E4m3 ? FormatRow{at::kFloat8_e4m3fn, 448, 8} : FormatRow{at::kFloat8_e5m2, 57344, 15};
}

// frexp's mantissas are in [1/2, 1).
at::Tensor floor_exponent(const at::Tensor& numbers) { return std::get<1>(at::frexp(numbers)).sub_(1); }
at::Tensor power_of_two(const at::Tensor& exponents, const at::Tensor& like) { return at::ldexp(at::ones_like(like), exponents); }

struct Extent {
  std::int64_t whole, part;
  std::int64_t tiles() const { return (whole + part - 1) / part; }
  std::int64_t missing() const { return tiles() * part - whole; }
};

at::Tensor spread(const at::Tensor& of_tiles, std::int64_t dimension, Extent extent) {
  if (extent.tiles() == 1) return of_tiles;
  return of_tiles.repeat_interleave(extent.part, dimension).narrow(dimension, 0, extent.whole);
}

}  // namespace

at::Tensor largest_of_tiles(const at::Tensor& numbers, Tile tile) {
  const Extent rows{numbers.size(0), std::min(tile.rows, numbers.size(0))},
      columns{numbers.size(1), std::min(tile.columns, numbers.size(1))};
  const bool is_ragged = rows.missing() + columns.missing() > 0;
  const at::Tensor whole = is_ragged ? at::constant_pad_nd(numbers, {0, columns.missing(), 0, rows.missing()}) : numbers.contiguous();
  const at::Tensor tiles = whole.view({rows.tiles(), rows.part, columns.tiles(), columns.part});
  const at::Tensor of_tiles = at::maximum(tiles.amax({1, 3}), tiles.amin({1, 3}).neg_());
  return spread(spread(of_tiles, 0, rows), 1, columns);
}

at::Tensor scales_of(const at::Tensor& largest, EightBits format, ScaleRule rule) {
  const FormatRow row = row_of(format);
  at::Tensor scales = largest.reciprocal().mul_(row.largest);
  if (rule == ScaleRule::PowerOfTwo) scales = power_of_two(floor_exponent(scales), largest);
  if (rule == ScaleRule::Shared) scales = power_of_two(floor_exponent(largest).neg_().add_(row.largest_exponent), largest);
  return at::where(largest > 0, scales, at::ones_like(largest));
}

at::Tensor eight_bit_codes(const at::Tensor& numbers, const at::Tensor& scales, EightBits format) {
  const FormatRow row = row_of(format);
  return (numbers * scales).clamp_(-row.largest, row.largest).to(row.type);
}

at::Tensor rounded(const at::Tensor& numbers, const at::Tensor& scales, EightBits format) {
  const FormatRow row = row_of(format);
  const at::Tensor result = (numbers * scales).clamp_(-row.largest, row.largest);
  return result.copy_(result.to(at::kFloat).to(row.type)).div_(scales);
}

}  // namespace executor
