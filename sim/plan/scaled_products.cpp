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

bool reads_frozen_as_kept(const ParallelPlan& plan) {
  const auto scales = plan.workload.precision.scales();
  return plan.model.adapters && plan.model.adapters->base == BaseFormat::Fp8 && scales && !is_four_bit(*scales);
}

bool scales_whole_tensors_or_rows(const ParallelPlan& plan) {
  const auto scales = plan.workload.precision.scales();
  return scales == ScaleRecipe::Tensorwise || scales == ScaleRecipe::Rowwise;
}

bool meets_at_heads(const ParallelPlan& plan) {
  return plan.mesh.tensor > 1 && (shares_keys(plan.model, plan.mesh.tensor) || plan.model.qk_norm == QkNorm::Joint);
}

bool parts_of_microbatches(const ParallelPlan& plan) {
  const DeviceMesh& mesh = plan.mesh;
  return plan.model.experts && mesh.cuts_experts_apart() && mesh.expert * mesh.expert_cut() % mesh.tensor != 0;
}

bool agrees_on_scales(const ParallelPlan& plan) {
  const DeviceMesh& mesh = plan.mesh;
  const bool is_known = !plan.model.encoder && !plan.model.linear && plan.model.mtp_layers == 0 &&
                        plan.model.attention.kind != AttentionKind::Latent && plan.slices == 1 &&
                        plan.cluster.hardware.kind == DeviceKind::Cpu;
  const bool has_axis = mesh.context == 1 ? mesh.tensor > 1 : mesh.tensor == 1 && !plan.model.experts;
  const bool has_whole_parts =
      !plan.model.experts || !mesh.cuts_experts_apart() || (mesh.expert_cut() == 1 && !parts_of_microbatches(plan));
  return scales_whole_tensors_or_rows(plan) && is_known && has_axis && has_whole_parts;
}

MeshAxis scale_axis(const ParallelPlan& plan) { return plan.mesh.context > 1 ? MeshAxis::Context : MeshAxis::Tensor; }

std::int64_t asked_maxima(const ParallelPlan& plan, const Operator& product, ProductPass pass) {
  if (product.unscaled) return 0;
  const bool is_forward = pass == ProductPass::Forward, is_rowwise = plan.workload.precision.scales() == ScaleRecipe::Rowwise,
             is_cut = (product.experts > 0 ? plan.mesh.expert_cut() : plan.mesh.tensor) > 1,
             by_rows = is_cut && product.split == TensorSplit::Rows, by_columns = is_cut && product.split == TensorSplit::Columns;
  const std::int64_t products = std::max<std::int64_t>(1, product.experts), of_tokens = plan.mesh.context > 1 ? 1 : 0;
  if (!is_rowwise) return products * (of_tokens + (by_rows ? 1 : by_columns && is_forward ? 2 : 0));
  const std::int64_t all = of_tokens * products * (is_forward ? product.inputs : product.outputs);
  if (!(is_forward ? by_columns : by_rows)) return all;
  const std::int64_t tokens = plan.shard_shape().tokens(),
                     rows = product.experts > 0 ? rows_to_experts(*plan.model.experts, RoutedTokens{tokens}) : tokens;
  return all + rows + products * (is_forward ? product.outputs : product.inputs);
}

bool cuts_tiles(const ModelGraph& model, TileSide side, std::int64_t tensor_degree) {
  bool found = false;
  if (tensor_degree > 1)
    for_each_scaled(model, [&](const Parameter& parameter) { found = found || cuts_tiles(parameter, side, tensor_degree); });
  return found;
}

}  // namespace sim
