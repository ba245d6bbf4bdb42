// The compute tasks of attention in parts, where context ranks share the tokens of a sample, or its slices pass one by one: up to queries, keys and values; the scores; what
// is behind them. Where tensor ranks meet at heads, their columns are a part in front. Exchanges stand between, and are TaskRunner's.
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>

#include <utility>

#include "executor/training/pipeline_stage.h"
#include "sim/plan/scaled_products.h"

namespace executor {

ContextAttention& PipelineStage::context_of(const sim::TaskKey& key) { return *block_activations(key).context; }

Exchange PipelineStage::exchange(const sim::TaskKey& key) {
  return std::visit([&](auto& attention) { return attention.exchange(key); }, context_of(key));
}

void PipelineStage::begin_context(const sim::TaskKey& key, at::Tensor joint) {
  BlockActivations& kept = block_activations(key);
  if (key.slice.exists())
    kept.context = SliceAttention(context_shape_of(key), caches_[{key.layer, key.microbatch}]);
  else
    kept.context = make_context_attention(
        plan_.context_algorithm, context_shape_of(key),
        {.keeps_graph = keeps_graph(key),
         .documents = documents_of(key),
         .mixed = [&segment = segment_of(key), inputs = core_inputs(key)](const at::Tensor& rows) { return segment.mixed(rows, inputs); }});
  if (const std::int64_t gates = context_shape_of(key).gates, rest = joint.size(1) - gates; gates > 0) {
    kept.gates = joint.narrow(1, rest, gates).clone().requires_grad_(keeps_graph(key));
    joint = joint.narrow(1, 0, rest).contiguous();
  }
  std::visit([&](auto& attention) { attention.begin(std::move(joint)); }, *kept.context);
}

at::Tensor PipelineStage::end_context(const sim::TaskKey& key) {
  at::Tensor gradient = std::visit([](auto& attention) { return attention.joint_gradient(); }, context_of(key));
  block_activations(key).context.reset();
  if (const at::Tensor gates = std::exchange(block_activations(key).gates, {}); gates.defined())
    gradient = at::cat({gradient, gates.grad()}, 1);
  if (key.slice == sim::SliceIndex(0)) caches_.erase({key.layer, key.microbatch});
  return gradient;
}

at::Tensor PipelineStage::tiles_of_rows(const sim::TaskKey& key) const {
  const std::int64_t side = sim::tile_side(*plan_.workload.precision.scales()).value;
  std::vector<at::Tensor> stretches;
  for (const TokenStretch& stretch : core_tokens(key))
    stretches.push_back(at::arange(stretch.first, stretch.first + stretch.count, at::kLong));
  return at::cat(stretches).div(side, "floor").to(parameters_.device());
}

void PipelineStage::attention_input(const sim::TaskKey& key) {
  if (!shares_sequence()) segment_norm(key);
  const at::Tensor normalized = std::exchange(partial_, {});
  BlockActivations& kept = block_activations(key);
  const auto product = [&](const at::Tensor& x) { return segment_of(key).joint(x, pair_masks(key, End::In)); };
  at::Tensor joint = keeps_graph(key) ? kept.attention_input.forward(normalized, product) : product(normalized);
  if (keeps_graph(key)) forget_normalized(key, normalized);
  if (!segment_of(key).cut_heads()) return begin_context(key, std::move(joint));
  kept.cut_heads.emplace(*segment_of(key).cut_heads());
  partial_ = std::visit([&](auto& heads) { return heads.leave(joint); }, *kept.cut_heads);
}

at::Tensor PipelineStage::whole_heads(const sim::TaskKey& key) {
  std::optional<CutHeads>& cut = block_activations(key).cut_heads;
  at::Tensor rows = std::visit([&](auto& heads) { return heads.arrive(std::exchange(partial_, {})); }, *cut);
  if (!keeps_graph(key)) cut.reset();
  return rows;
}

void PipelineStage::leave_heads(const sim::TaskKey& key, const at::Tensor& gradient) {
  partial_ = std::visit([&](auto& heads) { return heads.leave_back(gradient); }, *block_activations(key).cut_heads);
}

void PipelineStage::attention_heads(const sim::TaskKey& key) {
  const at::Tensor rows = whole_heads(key);
  const auto behind = [&](const at::Tensor& x) { return segment_of(key).behind_columns(x); };
  const bool is_recorded = keeps_graph(key) && segment_of(key).changes_heads();
  begin_context(key, is_recorded ? block_activations(key).heads.forward(rows, behind) : behind(rows));
}

void PipelineStage::attention_heads_backward(const sim::TaskKey& key) {
  const at::Tensor gradient = end_context(key);
  leave_heads(key, segment_of(key).changes_heads() ? block_activations(key).heads.backward(gradient) : gradient);
}

void PipelineStage::attention_scores(const sim::TaskKey& key) {
  std::visit([&](auto& attention) { attention.attend(key); }, context_of(key));
}

void PipelineStage::attention_output(const sim::TaskKey& key) {
  const at::Tensor mixed = std::visit([](auto& attention) { return attention.output(); }, context_of(key));
  at::Tensor& gates = block_activations(key).gates;
  const auto product = [&](const at::Tensor& x) {
    return segment_of(key).out_product(gates.defined() ? segment_of(key).gated(x, gates) : x, pair_masks(key, End::Out));
  };
  partial_ = keeps_graph(key) ? kept_of(key).core.forward(mixed, product) : product(mixed);
  if (!keeps_graph(key)) {
    block_activations(key).context.reset();
    gates.reset();
  }
  if (!shares_tensors()) segment_residual(key);
}

void PipelineStage::attention_output_backward(const sim::TaskKey& key) {
  if (!shares_sequence()) segment_residual_backward(key);
  const PutOff put_off(later(key));
  at::Tensor gradient = kept_of(key).core.backward(std::exchange(partial_, {}));
  std::visit([&](auto& attention) { attention.begin_backward(std::move(gradient)); }, context_of(key));
}

void PipelineStage::attention_input_backward(const sim::TaskKey& key) {
  std::optional<CutHeads>& cut = block_activations(key).cut_heads;
  const at::Tensor gradient =
      cut ? std::visit([&](auto& heads) { return heads.arrive_back(std::exchange(partial_, {})); }, *cut) : end_context(key);
  cut.reset();
  kept_of(key).again.make();
  {
    const PutOff put_off(later(key));
    partial_ = block_activations(key).attention_input.backward(gradient);
  }
  if (!shares_tensors()) segment_norm_backward(key);
}

}  // namespace executor
