//   X a row of the stream for each token, Q of queries, K of keys (or values), F of the ffn, N numbers a row in fp32, L a 16-bit logit for each token;
//   W a product's weight. Freed behind a bar.
//
//   loss       gradient of the softmax's logarithm +2L    of what it read: +2L |4L with the logarithm that was kept    in 16 bit: +L |2L
//   head       +W +X |L X    norm: +X +w |2X N
//   mlp        down: +W +F |F    product: +2F |3F    up: +W +X |F    silu: +F |2F    gate: +W +X |F X    sum |X    norm: +X +w |2X N   sum |X
//   attention  out: +W +Q    scores: + gradients of q, k, v |out, its gradient, q, k, v    repeated: +K |Q twice
//              rotary of k, of q: in fp32, times a table of complex numbers, back    v, k: +W +X |K    sum |X    q: +W +X |Q X    sum |X    norm
#include "sim/cost/operator_memory.h"

#include <algorithm>

#include "sim/cost/loss_tokens.h"

namespace sim {
namespace {

constexpr MemoryCategory kOfActivations = MemoryCategory::Activations, kOfTemporaries = MemoryCategory::Temporaries,
                         kOfGradients = MemoryCategory::Gradients;
constexpr Bytes kWide{4};  // fp32

struct Widths {
  Bytes element{}, weight{};
  std::int64_t tokens = 0, hidden = 0, query = 0, key = 0, ffn = 0;
  Bytes of(std::int64_t width) const { return element * (tokens * width); }
  Bytes statistics() const { return std::max(element, kWide) * tokens; }
};

Widths widths_of(const ParallelPlan& plan) {
  const ModelConfig& config = plan.model;
  return {.element = plan.bytes(Numbers::Activations),
          .weight = plan.bytes(Numbers::Weights),
          .tokens = plan.shard_shape().tokens(),
          .hidden = config.hidden,
          .query = config.heads * config.head_dim,
          .key = config.kv_heads * config.head_dim,
          .ffn = config.ffn};
}

// A norm in front, and the gradient of the stream that goes around it.
void norm_back(MemorySteps& steps, const Widths& at) {
  const Bytes stream = at.of(at.hidden);
  steps.take(kOfTemporaries, stream).take(kOfGradients, at.weight * at.hidden).free(kOfTemporaries, stream);
  steps.free(kOfActivations, stream + at.statistics()).free(kOfTemporaries, stream);
}

// A product whose input and output are as wide: the weight's gradient, then the input's; it read what it kept, and the gradient.
void product_back(MemorySteps& steps, const Widths& at, std::int64_t inputs, std::int64_t outputs) {
  steps.take(kOfGradients, at.weight * (inputs * outputs)).take(kOfTemporaries, at.of(inputs)).free(kOfTemporaries, at.of(outputs));
}

MemorySteps mlp_back(const Widths& at) {
  const Bytes inner = at.of(at.ffn), stream = at.of(at.hidden);
  MemorySteps steps;
  steps.take(kOfGradients, at.weight * (at.ffn * at.hidden)).take(kOfTemporaries, inner).free(kOfActivations, inner);             // down
  steps.take(kOfTemporaries, inner * std::int64_t{2}).free(kOfActivations, inner * std::int64_t{2}).free(kOfTemporaries, inner);  // product
  product_back(steps, at, at.hidden, at.ffn);                                                                                     // up
  steps.take(kOfTemporaries, inner).free(kOfActivations, inner).free(kOfTemporaries, inner);  // activation
  product_back(steps, at, at.hidden, at.ffn);                                                 // gate
  steps.free(kOfActivations, stream).free(kOfTemporaries, stream);
  norm_back(steps, at);
  return steps;
}

// Its gradient is wide, turned, and narrow again.
void rotary_back(MemorySteps& steps, const Widths& at, const ParallelPlan& plan, std::int64_t width) {
  const std::int64_t wide = kWide.value() / at.element.value();
  const Bytes in = at.of(width), in_wide = in * wide;
  steps.take(kOfTemporaries, in_wide).free(kOfTemporaries, in);
  const Bytes table = kWide * (plan.workload.sequence * plan.model.head_dim);
  steps.take(kOfTemporaries, table + in_wide).free(kOfTemporaries, table + in_wide);
  steps.take(kOfTemporaries, in).free(kOfTemporaries, in_wide);
}

MemorySteps attention_back(const Widths& at, const ParallelPlan& plan) {
  const Bytes query = at.of(at.query), key = at.of(at.key), stream = at.of(at.hidden);
  const bool is_grouped = at.key < at.query,
             copies = is_grouped && plan.model.kv_heads > 1;  // one head is repeated as a view, its gradient is not
  const Bytes operands = query + (copies ? query : key) * std::int64_t{2}, gradients = query + (is_grouped ? query : key) * std::int64_t{2};
  const Bytes sums = std::max(at.element, kWide) * (at.tokens * plan.model.heads);
  MemorySteps steps;
  steps.take(kOfGradients, at.weight * (at.query * at.hidden)).take(kOfTemporaries, query);
  steps.take(kOfTemporaries, gradients).free(kOfActivations, operands + query + sums).free(kOfTemporaries, query);
  for (int each = 0; is_grouped && each < 2; ++each) steps.take(kOfTemporaries, key).free(kOfTemporaries, query);
  if (plan.model.position == Position::Rotary)
    for (const std::int64_t width : {at.key, at.query}) rotary_back(steps, at, plan, width);
  for (const std::int64_t width : {at.key, at.key, at.query}) product_back(steps, at, at.hidden, width);
  steps.free(kOfActivations, stream).free(kOfTemporaries, stream * std::int64_t{2});
  norm_back(steps, at);
  return steps;
}

Bytes logits(const ModelGraph& model, const ParallelPlan& plan) { return kWide * (tokens_with_loss(plan) * model.padded_vocabulary); }

// In fp32: the softmax's logarithm is kept; its gradient, and the one of what it read.
OperatorSteps head_back(const Widths& at, const ModelGraph& model, const ParallelPlan& plan) {
  const Bytes wide = logits(model, plan), narrow = wide * at.element.value() / kWide.value(), stream = at.of(at.hidden);
  OperatorSteps steps;
  steps.loss.take(kOfTemporaries, wide * std::int64_t{2}).free(kOfTemporaries, wide).free(kOfActivations, wide);
  steps.loss.take(kOfTemporaries, narrow).free(kOfTemporaries, wide);
  steps.inside.take(kOfGradients, at.weight * (model.padded_vocabulary * at.hidden)).take(kOfTemporaries, stream);
  steps.inside.free(kOfTemporaries, narrow).free(kOfActivations, stream);
  steps.inside.take(kOfActivations, stream).take(kOfGradients, at.weight * at.hidden).free(kOfTemporaries, stream);
  steps.inside.free(kOfActivations, stream + at.statistics());
  return steps;
}

bool is_plain_block(const ModelConfig& config) {
  return config.norm == Norm::RmsNorm && config.norm_place == NormPlace::Before && config.gated_mlp && !config.experts &&
         config.attention.kind == AttentionKind::Full && config.qk_norm == QkNorm::None && !config.adapters && !config.convolution &&
         !config.patches && config.mtp_layers == 0 && config.residual_dropout == 0 && config.attention_dropout == 0 && !config.sinks &&
         config.score_cap == 0 && config.logit_cap == 0 && config.heads * config.head_dim == config.hidden;
}

bool runs_by_operator(const ModelConfig& config, const ParallelPlan& plan) {
  const SoftwareStack& habits = habits_of(plan.cluster);
  if (!habits.by_operator || habits.compiled || !habits.fused_norm || habits.fused_activation) return false;
  if (plan.mesh.tensor > 1 || plan.mesh.context > 1 || plan.splits_backward() || plan.recompute == Recompute::Selective) return false;
  if (habits.keeps_unrotated || plan.bytes(Numbers::Activations) >= kWide || !is_plain_block(config)) return false;
  return plan.recomputed_modules().none();
}

// Of the segment's weights as its operators have them: no biases.
std::int64_t weights_of(const SegmentGraph& segment) {
  std::int64_t all = 0;
  for (const Operator& op : segment.operators) {
    if (op.kind == OperatorKind::Norm) all += op.outputs;
    if (op.kind == OperatorKind::Linear) all += op.inputs * op.outputs;
  }
  return all;
}

}  // namespace

GradientsCome gradients_come(const ModelGraph& model, const ParallelPlan& plan, const Layer& layer) {
  if (!runs_by_operator(model.config, plan)) return GradientsCome::AtOnce;
  std::int64_t elements = 0, of_segments = 0;
  for (const Parameter& parameter : layer.parameters) elements += parameter.frozen ? 0 : parameter.elements();
  for (const SegmentGraph& segment : layer.segments) of_segments += weights_of(segment);
  return elements == of_segments ? GradientsCome::ByOperator : GradientsCome::AtOnce;
}

OperatorSteps backward_by_operator(const ModelGraph& model, const ParallelPlan& plan, const SegmentGraph& segment) {
  const Widths at = widths_of(plan);
  if (!segment.leaves_tensor()) return head_back(at, model, plan);
  return {.loss = {}, .inside = segment.has(OperatorKind::Attention) ? attention_back(at, plan) : mlp_back(at)};
}

OperatorSteps head_forward_by_operator(const ModelGraph& model, const ParallelPlan& plan) {
  const Widths at = widths_of(plan);
  const Bytes wide = logits(model, plan), narrow = wide * at.element.value() / kWide.value();
  OperatorSteps steps;
  steps.inside.take(kOfActivations, at.of(at.hidden) + at.statistics()).take(kOfTemporaries, narrow);
  steps.loss.take(kOfTemporaries, wide).take(kOfActivations, wide).free(kOfTemporaries, wide + narrow);
  return steps;
}

}  // namespace sim
