//   X a row of the stream for each token, Q of queries, K of keys (or values), F of the ffn, N numbers a row in fp32, L a 16-bit logit for each token;
//   W a product's weight. Freed behind a bar.
//
//   loss       gradient of the softmax's logarithm +2L    of what it read: +2L |4L with the logarithm that was kept    in 16 bit: +L |2L
//   of a part of the vocabulary: +2L +2L +2L |4L with the logarithm +L |2L
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

// Of one tensor rank; tokens: of all of them, of which each has a part in its stream.
struct Widths {
  Bytes element{}, weight{};
  std::int64_t tokens = 0, ranks = 1, hidden = 0, query = 0, key = 0, ffn = 0;
  Bytes of(std::int64_t width) const { return element * (tokens * width); }
  Bytes stream() const { return of(hidden) / ranks; }
  Bytes statistics() const { return std::max(element, kWide) * (tokens / ranks); }
};

Widths widths_of(const ParallelPlan& plan) {
  const ModelConfig& config = plan.model;
  return {.element = plan.bytes(Numbers::Activations),
          .weight = plan.bytes(Numbers::Weights),
          .tokens = plan.shard_shape().tokens(),
          .ranks = plan.mesh.tensor,
          .hidden = config.hidden,
          .query = config.heads * config.head_dim / plan.mesh.tensor,
          .key = config.kv_heads * config.head_dim / plan.mesh.tensor,
          .ffn = config.ffn / plan.mesh.tensor};
}

// A norm in front, and the gradient of the stream that goes around it.
MemorySteps norm_back(const Widths& at) {
  const Bytes stream = at.stream();
  MemorySteps steps;
  steps.take(kOfTemporaries, stream).take(kOfGradients, at.weight * at.hidden).free(kOfTemporaries, stream);
  return steps.free(kOfActivations, stream + at.statistics()).free(kOfTemporaries, stream);
}

// A product whose input and output are as wide: the weight's gradient, then the input's; it read what it kept, and the gradient.
void product_back(MemorySteps& steps, const Widths& at, std::int64_t inputs, std::int64_t outputs) {
  steps.take(kOfGradients, at.weight * (inputs * outputs)).take(kOfTemporaries, at.of(inputs)).free(kOfTemporaries, at.of(outputs));
}

// The last product of a core: behind it the gradient that was gathered for it is gone; one that nobody gathered is the stream's, and stays.
void last_product_back(MemorySteps& steps, const Widths& at, std::int64_t inputs) {
  steps.take(kOfGradients, at.weight * (inputs * at.hidden)).take(kOfTemporaries, at.of(inputs));
  if (at.ranks > 1) steps.free(kOfTemporaries, at.of(at.hidden));
}

MemorySteps mlp_back(const Widths& at) {
  const Bytes inner = at.of(at.ffn), stream = at.of(at.hidden);
  MemorySteps steps;
  last_product_back(steps, at, at.ffn);
  steps.free(kOfActivations, inner);  // down
  steps.take(kOfTemporaries, inner)
      .take(kOfTemporaries, inner)
      .free(kOfActivations, inner * std::int64_t{2})
      .free(kOfTemporaries, inner);                                                           // product
  product_back(steps, at, at.hidden, at.ffn);                                                 // up
  steps.take(kOfTemporaries, inner).free(kOfActivations, inner).free(kOfTemporaries, inner);  // activation
  product_back(steps, at, at.hidden, at.ffn);                                                 // gate
  steps.free(kOfActivations, stream).free(kOfTemporaries, stream);
  return steps;
}

// Its gradient is wide, turned, and narrow again.
void rotary_back(MemorySteps& steps, const Widths& at, const ParallelPlan& plan, std::int64_t width) {
  const std::int64_t wide = kWide.value() / at.element.value();
  const Bytes in = at.of(width), in_wide = in * wide;
  steps.take(kOfTemporaries, in_wide).free(kOfTemporaries, in);
  const Bytes table = kWide * (plan.workload.sequence * plan.model.head_dim);
  steps.take(kOfTemporaries, table).take(kOfTemporaries, in_wide).free(kOfTemporaries, table + in_wide);
  steps.take(kOfTemporaries, in).free(kOfTemporaries, in_wide);
}

MemorySteps attention_back(const Widths& at, const ParallelPlan& plan) {
  const Bytes query = at.of(at.query), key = at.of(at.key), stream = at.of(at.hidden);
  const bool is_grouped = at.key < at.query,
             copies = is_grouped && at.key > plan.model.head_dim;  // one head is repeated as a view, its gradient is not
  const Bytes operands = query + (copies ? query : key) * std::int64_t{2};
  const Bytes sums = std::max(at.element, kWide) * (at.tokens * plan.model.heads / at.ranks);
  MemorySteps steps;
  last_product_back(steps, at, at.query);
  for (const Bytes each : {query, is_grouped ? query : key, is_grouped ? query : key}) steps.take(kOfTemporaries, each);
  steps.free(kOfActivations, operands + query + sums).free(kOfTemporaries, query);
  for (int each = 0; is_grouped && each < 2; ++each) steps.take(kOfTemporaries, key).free(kOfTemporaries, query);
  if (plan.model.position == Position::Rotary)
    for (const std::int64_t width : {at.key, at.query}) rotary_back(steps, at, plan, width);
  for (const std::int64_t width : {at.key, at.key}) product_back(steps, at, at.hidden, width);
  steps.take(kOfTemporaries, stream).free(kOfTemporaries, stream * std::int64_t{2});
  product_back(steps, at, at.hidden, at.query);
  steps.free(kOfActivations, stream).free(kOfTemporaries, stream);
  return steps;
}

// Of a logit in fp32, and as the product makes it; of one tensor rank's part of the vocabulary.
struct Logits {
  std::int64_t vocabulary = 0;
  Bytes wide{}, narrow{};
};
Logits logits(const Widths& at, const ModelGraph& model, const ParallelPlan& plan) {
  const std::int64_t vocabulary = model.padded_vocabulary / at.ranks, all = tokens_with_loss(plan) * vocabulary;
  return {.vocabulary = vocabulary, .wide = kWide * all, .narrow = at.element * all};
}

// The softmax's logarithm is kept, in fp32; its gradient, and the one of what it read. Of a part of the vocabulary: the gradient's place, the
// exponentials, and their sum.
MemorySteps loss_back(const Widths& at, const Logits& logits) {
  const std::int64_t others = at.ranks > 1 ? 2 : 1;
  MemorySteps steps;
  for (std::int64_t each = 0; each <= others; ++each) steps.take(kOfTemporaries, logits.wide);
  steps.free(kOfTemporaries, logits.wide * others).free(kOfActivations, logits.wide);
  return steps.take(kOfTemporaries, logits.narrow).free(kOfTemporaries, logits.wide);
}

MemorySteps head_product_back(const Widths& at, const Logits& logits) {
  MemorySteps steps;
  steps.take(kOfGradients, at.weight * (logits.vocabulary * at.hidden)).take(kOfTemporaries, at.of(at.hidden));
  return steps.free(kOfTemporaries, logits.narrow).free(kOfActivations, at.of(at.hidden));
}

MemorySteps head_norm_back(const Widths& at) {
  MemorySteps steps;
  steps.take(kOfActivations, at.stream()).take(kOfGradients, at.weight * at.hidden).free(kOfTemporaries, at.stream());
  return steps.free(kOfActivations, at.stream() + at.statistics());
}

bool is_plain_block(const ModelConfig& config) {
  return config.norm == Norm::RmsNorm && config.norm_place == NormPlace::Before && config.gated_mlp && !config.experts && !config.encoder &&
         config.attention.kind == AttentionKind::Full && config.qk_norm == QkNorm::None && !config.adapters && !config.convolution &&
         !config.patches && config.mtp_layers == 0 && config.residual_dropout == 0 && config.attention_dropout == 0 && !config.sinks &&
         config.score_cap == 0 && config.logit_cap == 0 && config.sizes.empty() && config.value_dim == 0 &&
         config.heads * config.head_dim == config.hidden;
}

bool runs_by_operator(const ModelConfig& config, const ParallelPlan& plan) {
  const SoftwareStack& habits = habits_of(plan.cluster);
  if (!habits.by_operator || habits.compiled || habits.loss_in_pieces || !fuses_norm(habits, true) || habits.fused_activation) return false;
  const bool is_cut = plan.mesh.tensor > 1, cuts_all = plan.sequence_parallel && habits.keeps_gathered && habits.vocabulary_parallel;
  if ((is_cut && !cuts_all) || plan.mesh.context > 1 || plan.splits_backward()) return false;
  if (plan.recompute == Recompute::Selective && (is_cut || plan.recomputed_modules() != Modules(Module::Op))) return false;
  return !habits.keeps_unrotated && plan.bytes(Numbers::Activations) < kWide && is_plain_block(config);
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

OperatorSteps backward_by_operator(const ModelGraph& model, const ParallelPlan& plan, const SegmentGraph& segment, SegmentRun part) {
  const Widths at = widths_of(plan);
  const bool is_head = !segment.leaves_tensor();
  OperatorSteps steps;
  if (part != SegmentRun::Norm && is_head) {
    steps.loss = loss_back(at, logits(at, model, plan));
    steps.inside = head_product_back(at, logits(at, model, plan));
  } else if (part != SegmentRun::Norm) {
    steps.inside = segment.has(OperatorKind::Attention) ? attention_back(at, plan) : mlp_back(at);
  }
  if (part == SegmentRun::Core) return steps;
  steps.inside.add(is_head ? head_norm_back(at) : norm_back(at));
  return steps;
}

Bytes rotary_by_operator(const ModelGraph& model, const ParallelPlan& plan, const SegmentGraph& segment) {
  const bool turns = model.config.position == Position::Rotary && segment.has(OperatorKind::Attention);
  if (!turns || !runs_by_operator(model.config, plan)) return {};
  const Widths at = widths_of(plan);
  const std::int64_t wide = 2 * kWide.value() / at.element.value();  // the keys, and their product with the table
  return at.of(2 * at.query + (3 + wide) * at.key);
}

Bytes logits_before_loss(const ModelGraph& model, const ParallelPlan& plan) {
  const SoftwareStack& habits = habits_of(plan.cluster);
  const bool is_one_kernel = habits.fused_loss || habits.loss_in_pieces || (habits.compiled && habits.compiled_loss);
  if (is_one_kernel || plan.model.convolution || plan.bytes(Numbers::Activations) >= kWide) return {};
  return logits(widths_of(plan), model, plan).narrow;
}

OperatorSteps head_forward_by_operator(const ModelGraph& model, const ParallelPlan& plan, SegmentRun part) {
  const Widths at = widths_of(plan);
  const Bytes wide = logits(at, model, plan).wide, narrow = logits(at, model, plan).narrow;
  OperatorSteps steps;
  if (part == SegmentRun::Whole) steps.inside.take(kOfActivations, at.stream() + at.statistics());
  if (part == SegmentRun::Whole || part == SegmentRun::Product) {
    steps.inside.take(kOfTemporaries, narrow);
    steps.loss.take(kOfTemporaries, wide);
  }
  if (part == SegmentRun::Sums) steps.loss.take(kOfTemporaries, wide).pass(kOfTemporaries, wide);  // less the largest; its exponentials
  const std::int64_t gone = part == SegmentRun::Loss ? 2 : 1;
  if (part == SegmentRun::Whole || part == SegmentRun::Loss)
    steps.loss.take(kOfActivations, wide).free(kOfTemporaries, wide * gone + narrow);
  return steps;
}

}  // namespace sim
