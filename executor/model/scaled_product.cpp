#include "executor/model/scaled_product.h"

#include <ATen/ops/_scaled_mm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "executor/kernels/eight_bits.h"
#include "executor/kernels/gpu_operators.h"
#include "sim/units/at.h"

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

ScaledBy scaled_by(sim::ScaleRecipe recipe, bool has_weight) {
  switch (recipe) {
    case sim::ScaleRecipe::Rowwise: return ScaledBy::Row;
    case sim::ScaleRecipe::Blockwise: return has_weight ? ScaledBy::Squares : ScaledBy::Blocks;
    case sim::ScaleRecipe::Mx: return ScaledBy::Mx;
    default: return ScaledBy::Tensor;
  }
}

}  // namespace

thread_local Answering* Answering::current_ = nullptr;

at::Tensor Answering::answer(const std::function<at::Tensor()>& ask) {
  if (current_ == nullptr) return ask();
  if (current_->how_ == How::Repeat) return current_->answers_.all.at(current_->answers_.repeated++);
  return current_->answers_.all.emplace_back(ask());
}

at::Tensor ScaledProduct::by_unit(const Factor& left, const Factor& right, at::ScalarType type) const {
  const Card card = card_of(left.numbers.device());
  if (!card.is_gpu || left.numbers.scalar_type() == at::kDouble) return {};
  const auto side = [](const Factor& of, bool is_inner) { return of.numbers.size((of.along == Along::Columns) == is_inner ? 1 : 0); };
  const at::ScalarType put_out = is_rowwise() ? at::kBFloat16 : type;
  const EightBitProduct product{.scales = scaled_by(recipe_, right.which == sim::Operand::Weight),
                                .output = put_out,
                                .rows = side(left, false),
                                .inner = side(left, true),
                                .columns = side(right, false)};
  return multiplies_eight_bits(card, product) ? unit_product(left, right, put_out) : at::Tensor();
}

// A unit reads both along the rows of what it is given.
at::Tensor ScaledProduct::unit_product(const Factor& left, const Factor& right, at::ScalarType type) const {
  const UnitOperand a = unit_operand(left), b = unit_operand(right);
  return at::_scaled_mm(a.codes, b.codes.t(), a.inverse, b.inverse.t(), /*bias=*/{}, /*scale_result=*/{}, type);
}

UnitOperand ScaledProduct::unit_operand(const Factor& of) const {
  const RecipeRow row = row_of(recipe_);
  return executor::unit_operand(
      of.numbers, magnitudes(of.numbers, of.which, of.along),
      {.format = format_of(row, of.which), .rule = row.rule, .is_turned = of.along == Along::Rows, .tile = tile_of(of.which, of.along)});
}

at::Tensor ScaledProduct::operand(const at::Tensor& numbers, sim::Operand which, Along along, const Agreed& agreed) const {
  const EightBits format = format_of(row_of(recipe_), which);
  const at::Tensor of_tiles = scales(numbers, which, along, agreed);
  if (!is_cut_into_tiles(which, along)) return rounded(numbers, of_tiles, format, tile_of(which, along));
  return rounded(numbers, of_tiles.index_select(0, agreed.tiles_of_rows), format, {.rows = 1, .columns = 1});
}

at::Tensor ScaledProduct::whole_gradient(const at::Tensor& part) const {
  if (agreement_.share == 1 || !agreement_.ranks) return part;
  at::Tensor sum = part.clone(at::MemoryFormat::Contiguous);
  agreement_.ranks->sum(sum);
  return sum;
}

void ScaledProduct::agree_forward(std::span<Agreed> agreed, const std::vector<Read>& products) const {
  ask(Whom::OtherWeights, agreed, products, asked_for_weights(/*is_forward=*/true));
  ask(Whom::OtherRows, agreed, products, asked_for_rows(sim::Operand::Input));
}

void ScaledProduct::agree_backward(std::span<Agreed> agreed, const std::vector<Read>& products) const {
  ask(Whom::OtherWeights, agreed, products, asked_for_weights(/*is_forward=*/false));
  ask(Whom::OtherRows, agreed, products, asked_for_rows(sim::Operand::OutputGradient));
}

// What a product sums over tensor ranks shares its scales with theirs.
std::vector<ScaledProduct::Asked> ScaledProduct::asked_for_weights(bool is_forward) const {
  using enum sim::Operand;
  if (recipe_ == sim::ScaleRecipe::Delayed || sim::scales_tiles(recipe_)) return {};
  const bool by_columns = agreement_.split == sim::TensorSplit::Columns, by_rows = agreement_.split == sim::TensorSplit::Rows;
  if (is_forward && by_columns) return {{Input, Along::Columns}, {Weight, Along::Columns}};
  if (is_forward && by_rows && !is_rowwise()) return {{Weight, Along::Columns}};
  if (is_forward || !by_rows) return {};
  return is_rowwise() ? std::vector<Asked>{{OutputGradient, Along::Columns}, {Weight, Along::Rows}}
                      : std::vector<Asked>{{OutputGradient, Along::Columns}};
}

// What it has of tokens of other ranks, likewise: where one scale is of several tokens.
std::vector<ScaledProduct::Asked> ScaledProduct::asked_for_rows(sim::Operand which) const {
  if (!agreement_.cuts_tokens) return {};
  return {{which, recipe_ == sim::ScaleRecipe::Tensorwise ? Along::Columns : Along::Rows}};
}

// Side by side in one message. One scale a tensor is the same whatever is summed over.
void ScaledProduct::ask(Whom whom, std::span<Agreed> agreed, const std::vector<Read>& products, const std::vector<Asked>& each) const {
  if (!agreement_.ranks || each.empty()) return;
  std::vector<at::Tensor> own, shapes;
  for (std::size_t product = 0; product < products.size(); ++product)
    for (const auto& [which, along] : each) {
      Agreed& known = agreed[product];
      if (is_cut_into_tiles(which, along)) known.tiles_of_rows = agreement_.ranks->tiles_of_rows();
      shapes.push_back(magnitudes(which == sim::Operand::Weight ? products[product].weight : products[product].rows, which, along, known));
      own.push_back(shapes.back().reshape({-1}));
    }
  const at::Tensor message = Answering::answer([&] { return answered(whom, at::cat(own)); });
  std::int64_t begin = 0;
  for (std::size_t at = 0; at < own.size(); ++at) {
    const auto& [which, along] = sim::at(each, at % each.size());
    const at::Tensor found = message.narrow(0, begin, own[at].numel()).view(shapes[at].sizes());
    begin += own[at].numel();
    std::array<at::Tensor, 2>& of_operand = sim::at(sim::at(agreed, at / each.size()).largest, which);
    of_operand[static_cast<std::size_t>(along)] = found;
    if (recipe_ == sim::ScaleRecipe::Tensorwise) of_operand = {found, found};
  }
}

// Of several microbatches at once each has its place.
at::Tensor ScaledProduct::answered(Whom whom, const at::Tensor& own) const {
  if (whom == Whom::OtherWeights || agreement_.microbatches == 1) {
    agreement_.ranks->largest(own);
    return own;
  }
  const at::Tensor all = at::zeros({agreement_.microbatches, own.numel()}, own.options());
  all.select(0, agreement_.microbatch).copy_(own);
  agreement_.ranks->largest(all);
  return all.select(0, agreement_.microbatch);
}

Tile ScaledProduct::tile_of(sim::Operand which, Along along) const {
  const RecipeRow row = row_of(recipe_);
  const std::int64_t across = which == sim::Operand::Weight ? row.of_weights : row.across;
  return along == Along::Columns ? Tile{.rows = across, .columns = row.along} : Tile{.rows = row.along, .columns = across};
}

// Of no rows: nothing is larger than 0.
at::Tensor ScaledProduct::largest(const at::Tensor& numbers, sim::Operand which, Along along, const Agreed& agreed) const {
  const Tile tile = tile_of(which, along);
  if (is_cut_into_tiles(which, along)) return largest_of_cut_tiles(numbers, agreed.tiles_of_rows);
  if (numbers.numel() > 0) return largest_of_tiles(numbers, tile);
  const auto tiles = [](std::int64_t extent, std::int64_t side) { return side == kAll ? 1 : extent; };
  return at::zeros({tiles(numbers.size(0), tile.rows), tiles(numbers.size(1), tile.columns)},
                   numbers.options().dtype(numbers.scalar_type() == at::kDouble ? at::kDouble : at::kFloat));
}

at::Tensor ScaledProduct::largest_of_cut_tiles(const at::Tensor& numbers, const at::Tensor& tiles_of_rows) const {
  const at::Tensor magnitudes = numbers.abs().to(numbers.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
  const at::Tensor places = tiles_of_rows.unsqueeze(1).expand(magnitudes.sizes());
  return at::zeros({agreement_.tiles_of_tokens, numbers.size(1)}, magnitudes.options()).scatter_reduce_(0, places, magnitudes, "amax");
}

at::Tensor ScaledProduct::magnitudes(const at::Tensor& numbers, sim::Operand which, Along along, const Agreed& agreed) const {
  if (recipe_ == sim::ScaleRecipe::Delayed) {
    at::Tensor seen = maxima_.seen.select(0, static_cast<std::int64_t>(which));
    at::maximum_out(seen, seen, largest_of_tiles(numbers, {.rows = kAll, .columns = kAll}).squeeze().to(at::kFloat));
    const at::ScalarType wide = numbers.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    return maxima_.before.select(0, static_cast<std::int64_t>(which)).to(wide).view({1, 1});
  }
  const at::Tensor& of_ranks = sim::at(agreed.largest, which)[static_cast<std::size_t>(along)];
  return of_ranks.defined() ? of_ranks : largest(numbers, which, along, agreed);
}

at::Tensor ScaledProduct::scales(const at::Tensor& numbers, sim::Operand which, Along along, const Agreed& agreed) const {
  const RecipeRow row = row_of(recipe_);
  return scales_of(magnitudes(numbers, which, along, agreed), format_of(row, which), row.rule);
}

}  // namespace executor
