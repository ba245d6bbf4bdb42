#include "sim/plan/scaled_products.h"

#include <algorithm>

namespace sim {
namespace {

template <class Visit>
void for_each_scaled(const ModelGraph& model, const Visit& visit) {
  for (LayerIndex layer(1); layer < model.head(); ++layer)
    for (const Parameter& parameter : model.layer(layer).parameters)
      if (is_scaled(parameter)) visit(parameter);
}

bool cuts_tiles(const Parameter& parameter, TileSide side, std::int64_t tensor_degree) {
  const auto is_cut = [&](std::int64_t extent) { return extent % (side.value * tensor_degree) != 0; };
  switch (parameter.split) {
    case TensorSplit::None: return false;
    case TensorSplit::Columns: return is_cut(parameter.columns);
    default: return parameter.row_blocks.empty() ? is_cut(parameter.rows) : std::ranges::any_of(parameter.row_blocks, is_cut);
  }
}

}  // namespace

std::int64_t num_scaled(const ModelGraph& model) {
  std::int64_t found = 0;
  for_each_scaled(model, [&](const Parameter&) { ++found; });
  return found;
}

Bytes agreed_maxima(const ParallelPlan& plan, const ModelGraph& model) {
  if (plan.workload.precision.scales() != ScaleRecipe::Delayed || plan.mesh.ranks() == 1 || plan.sums_by_priority()) return Bytes(0);
  return kMaximum * (kNumOperands * num_scaled(model));
}

bool cuts_tiles(const ModelGraph& model, TileSide side, std::int64_t tensor_degree) {
  bool found = false;
  if (tensor_degree > 1)
    for_each_scaled(model, [&](const Parameter& parameter) { found = found || cuts_tiles(parameter, side, tensor_degree); });
  return found;
}

}  // namespace sim
