// n tokens of a microbatch, h hidden, q and kv widths of queries and of keys or values (of one tensor rank), f ffn width (likewise),
// g 2 for a gated MLP, else 1, V vocabulary rows of this rank; e bytes an element, w = max(e, 4) bytes of a statistic.
//
//   keeps            Attention                          Mlp                      Head                 Embedding
//   input            n h (its leaf)                     n h                      n h                  - (token ids: resident_memory)
//   norm             statistics: w n, LayerNorm 2 w n   the same                 the same             -
//   linear           its input: normalized, n h         the same                 the same             -
//   attention        q, k, v: views of qkv, n (q+2kv);  -                        -                    -
//                    repeated heads: 2 n q beside it
//                    out n q (the projection's input),
//                    logsumexp w n heads; with
//                    dropout instead of it the
//                    probabilities, n s heads
//                    (selective: nothing)
//   latent           narrow vectors before and after
//                    their norms, statistics w n each,
//                    in place of qkv
//   activation       -                                  its input n g f          -                    -
//   linear           (out, above)                       its input n f            -                    -
//   cross-entropy    -                                  -                        logits n V; maximum, sum, target: 3 w n
//   dropout          nothing: masks are computed again from their counters
//   residual         nothing: the sum is written over the projection's output
//
//   backward, at its fullest (autograd frees an operator's inputs once it is done with them):
//   Attention        d out n q, then dq, dk, dv beside it, and with dropout of the scores a few matrices s x s of one head;
//                    with dropout of the stream a copy of the output's gradient, n h (sequence parallel: memory_effects)
//   Mlp              d activation n f; gated: minus the activation, plus d gate and up 2 n f and one product n f
//   Head             nothing: the logits' gradient is written over them, d normalized comes when normalized goes
//   Embedding        -   (T > 1: this rank's rows, n h)
//
//   context ranks (attention in three parts; b: a block, 2 n kv), beside what attention keeps and while its scores are computed:
//     ring        two blocks that come in (C = 2: one); backward also two of their gradients
//     all_gather  all C blocks; backward also as many gradients
//     both        read grouped keys as they are. What a block gives before it is joined: n q and w n heads, of 16 bits also the sum in fp32;
//                 backward the gradient of its queries, n q / 2 or, beside half a block's, n q
//     all_to_all  its output twice, n q: as heads and as tokens. Backward: what goes back takes the place of what it was made from
//     backward    d out n q (all_to_all: in the place of the tokens), then dq, dk, dv
//
//   Experts (r: rows of the fullest rank, n topk / E of E ranks each, times their load; f_e, f_s: widths of an expert and of the shared one)
//     keeps       norm and linear as Mlp; scores of the router, w n experts; rows r h, their products r g f_e and r f_e, what goes back r h;
//                 of the shared expert n (g + 1) f_s; of each of n topk choices four numbers of 8 bytes (expert, row, and back) and its weight, w
//     backward    what comes back r h, then the gradients of the products r g f_e; that of the rows takes the place of the rows that went back
//
//   backward split: between Backward and Weight stay the inputs of the linear layers and the gradients of their outputs: q + 2kv and h;
//   g f and h; V (where the logits were)
#include "sim/cost/activation_memory.h"

#include <algorithm>
#include <cmath>

#include "sim/cost/head_widths.h"
#include "sim/estimate/expert_load.h"

namespace sim {
namespace {

struct Sizes {
  std::int64_t tokens, local_tokens;  // local: of the parts that sequence parallelism divides
  std::int64_t sequence;
  std::int64_t query, key_value, output, heads, ffn, vocabulary;  // key_value: of keys and values together
  Bytes element, statistic;
  Bytes elements(std::int64_t width) const { return element * (tokens * width); }
};

Sizes sizes_of(const ModelGraph& model, const ParallelPlan& plan) {
  const ShardShape shape = plan.shard_shape();
  const ModelConfig& config = model.config;
  const Bytes element = bytes_per_element(plan.workload.precision);
  const AttentionWidths widths = attention_widths(config);
  return {.tokens = shape.tokens(),
          .local_tokens = shape.sequence_parallel ? shape.tokens() / shape.tensor : shape.tokens(),
          .sequence = shape.sequence,
          .query = widths.query / shape.tensor,
          .key_value = (widths.key + widths.value) / shape.tensor,
          .output = widths.output / shape.tensor,
          .heads = config.heads / shape.tensor,
          .ffn = config.ffn / shape.tensor,
          .vocabulary = model.padded_vocabulary / shape.tensor,
          .element = element,
          .statistic = std::max(element, Bytes(4))};
}

// Matrices s x s that attention with dropout has alive at once in its backward, beside kept or recomputed probabilities: those dropped, their
// slope, a product of it, the mask of the future.
constexpr std::int64_t kScoreMatrices = 4;

// Ring and all-gather: operands are kept as they travel, and made what a kernel wants while it runs.
bool attends_by_blocks(const ParallelPlan& plan) { return plan.mesh.context > 1 && plan.context_algorithm != ContextAlgorithm::AllToAll; }

// Keys that heads share are repeated for a kernel that does not know of it; a single head is repeated as a view (its gradient is not).
bool repeats_keys(const Sizes& size, const ModelConfig& config, const ParallelPlan& plan) {
  return config.kv_heads < config.heads && !attends_by_blocks(plan) && size.key_value / plan.mesh.context > 2 * config.head_dim;
}

void add_attention(SegmentMemory& memory, const Sizes& size, const ModelConfig& config, const ParallelPlan& plan) {
  const Recompute recompute = plan.recompute;
  const bool drops = config.attention_dropout > 0, is_grouped = config.kv_heads < config.heads;
  const bool keeps_scores = drops && recompute != Recompute::Selective;
  const std::int64_t joint = size.query + size.key_value;
  memory.kept = memory.normalized + size.elements(joint + (repeats_keys(size, config, plan) ? 2 * size.query : 0) + size.output);
  if (!drops) memory.kept += size.statistic * (size.tokens * size.heads);
  if (keeps_scores) memory.kept += size.elements(size.sequence * size.heads);
  memory.backward_temporary = size.elements(size.output + (is_grouped ? 3 * size.query : joint));
  memory.weight_inputs = memory.normalized + size.elements(size.output);
  memory.output_gradients = size.elements(joint + config.hidden);
  if (drops) memory.backward_temporary += size.element * (size.sequence * size.sequence * (kScoreMatrices + (keeps_scores ? 0 : 1)));
}

// The kernel's operands and output are as wide as it wants them (f_k, f_v a head); what is wider than a value is copied for the projection.
void add_latent_attention(SegmentMemory& memory, const Sizes& size, const ParallelPlan& plan) {
  const AttentionForm& form = plan.model.attention;
  const HeadWidths head = attends_by_blocks(plan) ? HeadWidths{form.key_width(), form.v_dim} : kernel_head_widths(plan);
  const bool drops = plan.model.attention_dropout > 0, keeps_scores = drops && plan.recompute != Recompute::Selective;
  const bool copies = head.value > form.v_dim && size.heads > 1;  // of one head the narrow part is a view
  const std::int64_t operands = size.heads * (2 * head.key + head.value), output = size.heads * head.value,
                     narrow = form.q_lora + form.kv_lora;
  memory.kept = memory.normalized + size.elements(2 * narrow + operands + output + (copies ? size.output : 0));
  memory.kept += size.statistic * (size.tokens * ((form.q_lora > 0 ? 2 : 1) + (drops ? 0 : size.heads)));
  if (keeps_scores) memory.kept += size.elements(size.sequence * size.heads);
  const bool copy_goes = copies && !plan.splits_backward();  // else it is left for Weight
  memory.backward_temporary = size.elements(operands + output - (copy_goes ? size.output : 0));
  if (drops) memory.backward_temporary += size.element * (size.sequence * size.sequence * (kScoreMatrices + (keeps_scores ? 0 : 1)));
  memory.weight_inputs = memory.normalized + size.elements(size.output + narrow);
  memory.output_gradients =
      size.elements(narrow + form.qk_rope + size.query + size.heads * (form.qk_nope + form.v_dim) + plan.model.hidden);
}

void add_experts(SegmentMemory& memory, const Sizes& size, const ModelConfig& config, const ParallelPlan& plan) {
  const ExpertForm& form = *config.experts;
  const std::int64_t gates = config.gated_mlp ? 2 : 1, width = form.expert_ffn / plan.mesh.tensor,
                     shared = form.shared_ffn / plan.mesh.tensor;
  const double load = expert_load(form, plan.mesh.expert, common_behavior()).computed;
  const auto rows = [&](std::int64_t each) {
    return size.element * static_cast<std::int64_t>(std::ceil(real(size.tokens * form.topk) * load)) * each;
  };
  const Bytes choices = (Bytes(4 * 8) + size.statistic) * (size.tokens * form.topk);
  memory.kept = memory.normalized + size.statistic * (size.tokens * form.experts) + choices +
                rows(2 * config.hidden + (gates + 1) * width) + size.elements((gates + 1) * shared);
  memory.output_gradient = rows(config.hidden);
  memory.input_gradients = rows((plan.splits_backward() ? config.hidden : 0) + gates * width);
  memory.weight_inputs = memory.normalized + rows(config.hidden + width) + size.elements(shared);
  memory.output_gradients = rows(config.hidden + gates * width) + size.elements(gates * shared + config.hidden);
}

// `input_stays`: a split backward leaves the second product's input for the weight's gradient.
void add_mlp(SegmentMemory& memory, const Sizes& size, const ModelConfig& config, bool input_stays) {
  const std::int64_t gates = config.gated_mlp ? 2 : 1;
  memory.kept = memory.normalized + size.elements((gates + 1) * size.ffn);
  memory.backward_temporary = size.elements(((config.gated_mlp ? 3 : 1) + (input_stays ? 1 : 0)) * size.ffn);
  memory.weight_inputs = memory.normalized + size.elements(size.ffn);
  memory.output_gradients = size.elements(gates * size.ffn + config.hidden);
}

// Of attention over blocks of keys, beside what is kept.
void add_joining(SegmentMemory& memory, const Sizes& size) {
  const Bytes wide = Bytes(4) * (size.tokens * size.output);
  constexpr std::int64_t kStatistics = 4;  // the block's, the joint one, and what both weigh
  memory.exchanged += size.elements(size.output) + size.statistic * (kStatistics * size.tokens * size.heads);
  if (size.element < Bytes(4)) memory.exchanged += wide * 2;
  memory.exchanged_back += size.elements(std::max(size.query / 2, size.query - size.key_value / 2));
}

// n tokens of keys and values of one rank are a block.
void add_exchanges(SegmentMemory& memory, const Sizes& size, const ModelConfig& config, const ParallelPlan& plan) {
  const std::int64_t ranks = plan.mesh.context;
  if (ranks == 1) return;
  const Bytes block = size.elements(size.key_value);
  memory.output_gradient = size.elements(size.output);
  memory.input_gradients = size.elements(size.query + size.key_value);
  switch (plan.context_algorithm) {
    case ContextAlgorithm::Ring:
      memory.exchanged = block * std::min<std::int64_t>(2, ranks - 1);
      memory.exchanged_back = memory.exchanged + block * 2;
      break;
    case ContextAlgorithm::AllGather:
      memory.exchanged = block * ranks;
      memory.exchanged_back = block * (2 * ranks);
      break;
    case ContextAlgorithm::AllToAll:
      memory.kept += size.elements(size.output);
      memory.output_gradient = {};
      if (config.kv_heads < config.heads) memory.input_gradients = size.elements(3 * size.query);
      return;
  }
  add_joining(memory, size);
}

// Gradients kept wider than the products: the largest weight's product stands beside its sum.
Bytes weight_product(const Sizes& size, const ModelConfig& config, Segment segment) {
  const std::int64_t gates = config.gated_mlp ? 2 : 1;
  const AttentionForm& form = config.attention;
  if (segment == Segment::Attention && form.kind == AttentionKind::Latent)
    return size.element *
           std::max({(form.q_lora > 0 ? form.q_lora : config.hidden) * size.query, form.kv_lora * size.heads * (form.qk_nope + form.v_dim),
                     config.hidden * std::max({form.q_lora, form.kv_lora + form.qk_rope, size.output})});
  const std::int64_t width = segment == Segment::Attention ? size.query + size.key_value
                             : segment == Segment::Mlp     ? gates * size.ffn
                             : segment == Segment::Experts && config.experts
                                 ? gates * config.experts->expert_ffn * size.ffn / config.ffn  // one expert's
                                 : size.vocabulary;
  return size.element * (width * config.hidden);
}

}  // namespace

SegmentMemory segment_memory(const ModelGraph& model, const ParallelPlan& plan, Segment segment) {
  const Sizes size = sizes_of(model, plan);
  const ModelConfig& config = model.config;
  SegmentMemory memory;
  memory.stream = size.element * (size.local_tokens * config.hidden);
  if (segment == Segment::Embedding) {
    if (plan.mesh.tensor > 1) memory.backward_temporary = size.elements(config.hidden);
    return memory;
  }
  memory.statistics = size.statistic * (size.local_tokens * (config.norm == Norm::LayerNorm ? 2 : 1));
  memory.normalized = size.elements(config.hidden);
  if (segment == Segment::Attention) {
    if (config.attention.kind == AttentionKind::Latent)
      add_latent_attention(memory, size, plan);
    else
      add_attention(memory, size, config, plan);
    add_exchanges(memory, size, config, plan);
  }
  if (segment == Segment::Experts && config.experts) add_experts(memory, size, config, plan);
  if (segment == Segment::Mlp) add_mlp(memory, size, config, plan.splits_backward());
  if (segment == Segment::Head) {
    memory.kept = memory.normalized + size.elements(size.vocabulary) + size.statistic * (3 * size.tokens);
    memory.weight_inputs = memory.normalized;
    memory.output_gradients = size.elements(size.vocabulary);
  } else if (config.residual_dropout > 0 && !plan.sequence_parallel) {
    memory.backward_temporary += memory.stream;
  }
  if (plan.workload.fp32_gradients) memory.weight_product = weight_product(size, config, segment);
  memory.backward_temporary = std::max(memory.backward_temporary, memory.weight_product);
  return memory;
}

}  // namespace sim
