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

// Those of all experts of a layer are one. A router, and adapters, stay in 16 bit: nothing is seen of their operands.
std::int64_t num_scaled(const ModelGraph& model) {
  std::int64_t found = 0;
  for_each_scaled(model, [&](const Parameter&) { ++found; });
  return found;
}

Bytes agreed_maxima(const ParallelPlan& plan, const ModelGraph& model) {
  if (plan.workload.precision.scales() != ScaleRecipe::Delayed || plan.mesh.ranks() == 1 || plan.sums_by_priority()) return Bytes(0);
  return kMaximum * (kNumOperands * num_scaled(model));
}

bool scales_whole_tensors_or_rows(const ParallelPlan& plan) {
  const auto scales = plan.workload.precision.scales();
  return scales == ScaleRecipe::Tensorwise || scales == ScaleRecipe::Rowwise;
}

bool meets_at_heads(const ParallelPlan& plan) {
  return plan.mesh.tensor > 1 && (shares_keys(plan.model, plan.mesh.tensor) || plan.model.qk_norm == QkNorm::Joint);
}

bool agrees_on_scales(const ParallelPlan& plan) {
  const bool is_dense = !plan.model.experts && !plan.model.encoder && !plan.model.adapters && !plan.model.linear &&
                        plan.model.mtp_layers == 0 && plan.model.attention.kind != AttentionKind::Latent && !meets_at_heads(plan);
  return scales_whole_tensors_or_rows(plan) && is_dense && plan.mesh.tensor > 1 && plan.mesh.context == 1 && plan.slices == 1 &&
         plan.cluster.hardware.kind == DeviceKind::Cpu;
}

std::int64_t asked_maxima(ScaleRecipe recipe, const Operator& product, std::int64_t tokens, ProductPass pass) {
  const bool is_forward = pass == ProductPass::Forward, cuts_rows = product.split == TensorSplit::Rows;
  if (product.split == TensorSplit::None || product.unscaled) return 0;
  if (recipe == ScaleRecipe::Tensorwise) return is_forward ? (cuts_rows ? 1 : 2) : (cuts_rows ? 1 : 0);
  if (cuts_rows == is_forward) return 0;
  return tokens + (is_forward ? product.outputs : product.inputs);
}

bool cuts_tiles(const ModelGraph& model, TileSide side, std::int64_t tensor_degree) {
  bool found = false;
  if (tensor_degree > 1)
    for_each_scaled(model, [&](const Parameter& parameter) { found = found || cuts_tiles(parameter, side, tensor_degree); });
  return found;
}

}  // namespace sim
