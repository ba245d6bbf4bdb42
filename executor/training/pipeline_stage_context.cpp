// The compute tasks of attention in three parts, where context ranks share the tokens of a sample, or its slices pass one by one: up to queries, keys and values; the scores; what
// is behind them. Exchanges stand between, and are TaskRunner's.
#include <utility>

#include "executor/training/pipeline_stage.h"

namespace executor {

ContextAttention& PipelineStage::context_of(const sim::TaskKey& key) { return *block_activations(key).context; }

Exchange PipelineStage::exchange(const sim::TaskKey& key) {
  return std::visit([&](auto& attention) { return attention.exchange(key); }, context_of(key));
}

void PipelineStage::attention_input(const sim::TaskKey& key) {
  if (!shares_sequence()) segment_norm(key);
  const at::Tensor normalized = std::exchange(partial_, {});
  BlockActivations& kept = block_activations(key);
  const auto product = [&](const at::Tensor& x) { return segment_of(key).joint(x, pair_masks(key, End::In)); };
  at::Tensor joint = keeps_graph(key) ? kept.attention_input.forward(normalized, product) : product(normalized);
  if (key.slice.exists())
    kept.context = SliceAttention(context_shape_of(key), caches_[{key.layer, key.microbatch}]);
  else
    kept.context = make_context_attention(
        plan_.context_algorithm, context_shape_of(key),
        {.keeps_graph = keeps_graph(key),
         .documents = documents_of(key),
         .mixed = [&segment = segment_of(key), inputs = core_inputs(key)](const at::Tensor& rows) { return segment.mixed(rows, inputs); }});
  std::visit([&](auto& attention) { attention.begin(std::move(joint)); }, *kept.context);
}

void PipelineStage::attention_scores(const sim::TaskKey& key) {
  std::visit([&](auto& attention) { attention.attend(key); }, context_of(key));
}

void PipelineStage::attention_output(const sim::TaskKey& key) {
  const at::Tensor mixed = std::visit([](auto& attention) { return attention.output(); }, context_of(key));
  if (!keeps_graph(key)) block_activations(key).context.reset();
  const auto product = [&](const at::Tensor& x) { return segment_of(key).out_product(x, pair_masks(key, End::Out)); };
  partial_ = keeps_graph(key) ? kept_of(key).core.forward(mixed, product) : product(mixed);
  if (!shares_tensors()) segment_residual(key);
}

void PipelineStage::attention_output_backward(const sim::TaskKey& key) {
  if (!shares_sequence()) segment_residual_backward(key);
  const PutOff put_off(later(key));
  at::Tensor gradient = kept_of(key).core.backward(std::exchange(partial_, {}));
  std::visit([&](auto& attention) { attention.begin_backward(std::move(gradient)); }, context_of(key));
}

void PipelineStage::attention_input_backward(const sim::TaskKey& key) {
  {
    const PutOff put_off(later(key));
    partial_ = block_activations(key).attention_input.backward(
        std::visit([](auto& attention) { return attention.joint_gradient(); }, context_of(key)));
  }
  block_activations(key).context.reset();
  if (key.slice == sim::SliceIndex(0)) caches_.erase({key.layer, key.microbatch});
  if (!shares_tensors()) segment_norm_backward(key);
}

}  // namespace executor
