#include "sim/plan/scaled_products.h"

#include <algorithm>
#include <iterator>

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

bool scales_tiles(ScaleRecipe recipe) { return recipe == ScaleRecipe::Blockwise || recipe == ScaleRecipe::Mx; }

// E G ranks are neighbours among the T C of a microbatch, or have several microbatches.
bool parts_of_microbatches(const ParallelPlan& plan) {
  const DeviceMesh& mesh = plan.mesh;
  return plan.model.experts && mesh.expert * mesh.expert_cut() % (mesh.tensor * mesh.context) != 0;
}

std::int64_t microbatches_agreed(const ParallelPlan& plan, bool of_experts) {
  return of_experts ? plan.mesh.shards() / plan.mesh.context : 1;
}

bool cuts_tokens(const ParallelPlan& plan, bool of_experts) {
  const auto scales = plan.workload.precision.scales();
  if (!scales || *scales == ScaleRecipe::Delayed) return false;
  if (of_experts) return parts_of_microbatches(plan);
  return plan.mesh.context > 1 && (!scales_tiles(*scales) || cuts_tiles_of_tokens(plan));
}

bool agrees_on_scales(const ParallelPlan& plan) {
  const bool is_known = !plan.model.linear && plan.model.mtp_layers == 0 && plan.cluster.hardware.kind == DeviceKind::Cpu;
  const bool cuts_weights = scales_whole_tensors_or_rows(plan) && (plan.mesh.tensor > 1 || plan.mesh.expert_cut() > 1);
  return is_known && (cuts_weights || cuts_tokens(plan, false) || cuts_tokens(plan, true));
}

namespace {

// The tokens that a rank computes this product with.
std::int64_t rows_of(const ParallelPlan& plan, const Operator& product) {
  const std::int64_t tokens = of_tokens(product.tokens, plan.model, plan.shard_shape()).tokens();
  if (product.experts == 0) return tokens;
  const DeviceMesh& mesh = plan.mesh;
  const std::int64_t routed = mesh.cuts_experts_apart() ? tokens / mesh.tensor * mesh.expert_cut() : tokens;
  return rows_to_experts(*plan.model.experts, RoutedTokens{routed});
}

// Of experts: those here, each with the rows of every microbatch that reaches them.
std::int64_t products_of(const ParallelPlan& plan, const Operator& product) {
  if (product.experts == 0) return 1;
  const DeviceMesh& mesh = plan.mesh;
  return product.experts / mesh.expert * std::max(1, mesh.expert * mesh.expert_cut() / (mesh.tensor * mesh.context));
}

struct Cut {
  bool by_rows = false, by_columns = false;
  std::int64_t degree = 1;
};
Cut cut_of(const ParallelPlan& plan, const Operator& product) {
  const std::int64_t degree = product.experts > 0 ? plan.mesh.expert_cut() : plan.mesh.tensor;
  return {degree > 1 && product.split == TensorSplit::Rows, degree > 1 && product.split == TensorSplit::Columns, degree};
}

// Of who has other parts of the weight.
std::int64_t asked_for_weights(const ParallelPlan& plan, const Operator& product, ProductPass pass) {
  const bool is_forward = pass == ProductPass::Forward;
  const Cut cut = cut_of(plan, product);
  const std::int64_t products = products_of(plan, product);
  if (!scales_whole_tensors_or_rows(plan)) return 0;
  if (plan.workload.precision.scales() == ScaleRecipe::Tensorwise)
    return products * (cut.by_rows ? 1 : cut.by_columns && is_forward ? 2 : 0);
  if (!(is_forward ? cut.by_columns : cut.by_rows)) return 0;
  return rows_of(plan, product) + products * (is_forward ? product.outputs : product.inputs);
}

// Of who has other tokens.
std::int64_t asked_for_tokens(const ParallelPlan& plan, const Operator& product, ProductPass pass) {
  const bool is_forward = pass == ProductPass::Forward;
  if (!cuts_tokens(plan, product.experts > 0)) return 0;
  const std::int64_t products = products_of(plan, product) * microbatches_agreed(plan, product.experts > 0);
  if (plan.workload.precision.scales() == ScaleRecipe::Tensorwise) return products;
  const Cut cut = cut_of(plan, product);
  const std::int64_t columns =
      is_forward ? product.inputs / (cut.by_columns ? cut.degree : 1) : product.outputs / (cut.by_rows ? cut.degree : 1);
  return products * columns * (scales_tiles(*plan.workload.precision.scales()) ? tiles_of_tokens(plan) : 1);
}

}  // namespace

std::vector<AskedMaxima> asked_maxima(const ParallelPlan& plan, const Operator& product, ProductPass pass) {
  if (product.unscaled || !agrees_on_scales(plan)) return {};
  const bool is_expert = product.experts > 0;
  const AskedMaxima each[] = {
      {is_expert && plan.mesh.cuts_experts_apart() ? MeshAxis::ExpertTensor : MeshAxis::Tensor, asked_for_weights(plan, product, pass)},
      {is_expert ? MeshAxis::ExpertData : MeshAxis::Context, asked_for_tokens(plan, product, pass)}};
  std::vector<AskedMaxima> asked;
  std::ranges::copy_if(each, std::back_inserter(asked), [](const AskedMaxima& one) { return one.numbers > 0; });
  return asked;
}

namespace {
// Other programs round the gradient of their own tokens.
bool may_sum_first(const ParallelPlan& plan) {
  return plan.workload.precision.scales() && plan.mesh.tensor > 1 && plan.cluster.hardware.kind == DeviceKind::Cpu;
}
}  // namespace

bool sums_before_rounding(const ParallelPlan& plan, const Operator& product) {
  return may_sum_first(plan) && product.kind == OperatorKind::Linear && product.gathered && product.split == TensorSplit::None &&
         !product.unscaled;
}

bool sums_before_rounding(const ParallelPlan& plan, const Parameter& parameter) {
  return may_sum_first(plan) && parameter.split == TensorSplit::None && parameter.partial_gradient && is_scaled(parameter) &&
         !parameter.expert;
}

bool sums_in_front_of_rounding(const ParallelPlan& plan) {
  const bool has_whole_products = plan.model.attention.kind == AttentionKind::Latent ||
                                  (plan.model.experts && plan.model.experts->shared_gate) ||
                                  (plan.model.linear && plan.model.linear->narrow() > 0);
  return plan.workload.precision.scales() && plan.mesh.tensor > 1 && has_whole_products;
}

bool asks_within_computations(const ParallelPlan& plan) {
  return agrees_on_scales(plan) || (may_sum_first(plan) && sums_in_front_of_rounding(plan));
}

std::int64_t tiles_of_tokens(const ParallelPlan& plan) {
  const std::int64_t side = tile_side(*plan.workload.precision.scales()).value, tokens = plan.microbatch_size * plan.workload.sequence;
  return (tokens + side - 1) / side;
}

// Mirrored: two pieces of a sample each.
bool cuts_tiles_of_tokens(const ParallelPlan& plan) {
  const bool is_mirrored = plan.context_algorithm != ContextAlgorithm::AllToAll;
  const std::int64_t pieces = std::int64_t{plan.mesh.context} * (is_mirrored ? 2 : 1), piece = plan.workload.sequence / pieces;
  return plan.context_by_document || piece % tile_side(*plan.workload.precision.scales()).value != 0;
}

bool cuts_tiles(const ModelGraph& model, TileSide side, std::int64_t tensor_degree) {
  bool found = false;
  if (tensor_degree > 1)
    for_each_scaled(model, [&](const Parameter& parameter) { found = found || cuts_tiles(parameter, side, tensor_degree); });
  return found;
}

}  // namespace sim
