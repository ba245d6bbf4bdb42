#include "executor/model/scaled_product.h"

#include <ATen/ops/maximum.h>

#include <limits>

#include "executor/kernels/eight_bits.h"

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

}  // namespace

at::Tensor ScaledProduct::operand(const at::Tensor& numbers, sim::Operand which, Along along) const {
  const at::Tensor wide = numbers.scalar_type() == at::kDouble ? numbers : numbers.to(at::kFloat);
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
