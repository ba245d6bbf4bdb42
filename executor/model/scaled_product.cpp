#include "executor/model/scaled_product.h"

#include <ATen/ops/_scaled_mm.h>
#include <ATen/ops/maximum.h>

#include <limits>

#include "executor/kernels/eight_bits.h"
#include "executor/kernels/gpu_operators.h"

namespace executor {
namespace {

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

struct RecipeRow {
  EightBits gradients;
  ScaleRule rule;
  std::int64_t along;       // numbers that share a scale along what is summed over
  std::int64_t across;      // and across it: of inputs and gradients
  std::int64_t of_weights;  // of weights
};
constexpr RecipeRow row_of(sim::ScaleRecipe recipe) {
  const std::int64_t side = sim::tile_side(recipe).value;
  switch (recipe) {
    case sim::ScaleRecipe::Rowwise: return {EightBits::E4m3, ScaleRule::PowerOfTwo, kAll, 1, 1};
    case sim::ScaleRecipe::Blockwise: return {EightBits::E4m3, ScaleRule::Exact, side, 1, side};
    case sim::ScaleRecipe::Mx: return {EightBits::E4m3, ScaleRule::Shared, side, 1, 1};
    default: return {EightBits::E5m2, ScaleRule::Exact, kAll, kAll, kAll};
  }
}

EightBits format_of(const RecipeRow& row, sim::Operand which) {
  return which == sim::Operand::OutputGradient ? row.gradients : EightBits::E4m3;
}

at::Tensor as_wide(const at::Tensor& numbers) { return numbers.scalar_type() == at::kDouble ? numbers : numbers.to(at::kFloat); }

// One scale a tile: a matrix unit of LibTorch's knows none for these. (Blocks of 128 it has, in a layout of their own.)
bool scales_tiles(sim::ScaleRecipe recipe) { return recipe == sim::ScaleRecipe::Blockwise || recipe == sim::ScaleRecipe::Mx; }

}  // namespace

at::Tensor ScaledProduct::by_unit(const Factor& left, const Factor& right, at::ScalarType type) const {
  const Card card = card_of(left.numbers.device());
  if (!card.is_gpu || scales_tiles(recipe_) || left.numbers.scalar_type() == at::kDouble) return {};
  const auto side = [](const Factor& of, bool is_inner) { return of.numbers.size((of.along == Along::Columns) == is_inner ? 1 : 0); };
  const at::ScalarType put_out = is_rowwise() ? at::kBFloat16 : type;
  const EightBitProduct product{.is_rowwise = is_rowwise(), .output = put_out, .inner = side(left, true), .columns = side(right, false)};
  return multiplies_eight_bits(card, product) ? unit_product(left, right, put_out) : at::Tensor();
}

// A unit reads both along the rows of what it is given.
at::Tensor ScaledProduct::unit_product(const Factor& left, const Factor& right, at::ScalarType type) const {
  const Codes a = codes(left), b = codes(right);
  return at::_scaled_mm(a.codes, b.codes.t(), a.inverse, b.inverse.t(), /*bias=*/{}, /*scale_result=*/{}, type);
}

ScaledProduct::Codes ScaledProduct::codes(const Factor& of) const {
  const at::Tensor wide = as_wide(of.numbers), scale = scales(wide, of.which, of.along);
  const at::Tensor numbers = eight_bit_codes(wide, scale, format_of(row_of(recipe_), of.which)),
                   inverse = scale.reciprocal().to(at::kFloat).view(is_rowwise() ? at::IntArrayRef({-1, 1}) : at::IntArrayRef({1, 1}));
  return {.codes = (of.along == Along::Columns ? numbers : numbers.t()).contiguous(), .inverse = inverse};
}

at::Tensor ScaledProduct::operand(const at::Tensor& numbers, sim::Operand which, Along along) const {
  const at::Tensor wide = as_wide(numbers);
  return rounded(wide, scales(wide, which, along), format_of(row_of(recipe_), which));
}

at::Tensor ScaledProduct::scales(const at::Tensor& wide, sim::Operand which, Along along) const {
  const RecipeRow row = row_of(recipe_);
  if (recipe_ == sim::ScaleRecipe::Delayed) {
    at::Tensor seen = maxima_.seen.select(0, static_cast<std::int64_t>(which));
    at::maximum_out(seen, seen, largest_of_tiles(wide, {.rows = kAll, .columns = kAll}).squeeze().to(at::kFloat));
    return scales_of(maxima_.before.select(0, static_cast<std::int64_t>(which)).to(wide.scalar_type()), format_of(row, which), row.rule);
  }
  const std::int64_t across = which == sim::Operand::Weight ? row.of_weights : row.across;
  const Tile tile = along == Along::Columns ? Tile{.rows = across, .columns = row.along} : Tile{.rows = row.along, .columns = across};
  return scales_of(largest_of_tiles(wide, tile), format_of(row, which), row.rule);
}

}  // namespace executor
