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
//   scores           with windows, sinks, caps or ALiBi: no logsumexp; backward a few matrices s x s of one head
//   residual         nothing: the sum is written over the projection's output
//
//   backward, at its fullest (autograd frees an operator's inputs once it is done with them):
//   Attention        d out n q, then dq, dk, dv beside it, and with dropout of the scores a few matrices s x s of one head;
//                    with dropout of the stream a copy of the output's gradient, n h (sequence parallel: memory_effects)
//   Mlp              d activation n f; gated: minus the activation, plus d gate and up 2 n f and one product n f
//   Head             nothing: the logits' gradient is written over them, d normalized comes when normalized goes
//   Embedding        -   (T > 1: this rank's rows, n h)
//   context ranks (attention in three parts; b: a block, 2 n kv), beside what attention keeps and while its scores are computed:
//     ring        two blocks that come in (C = 2: one); backward also two of their gradients
//     all_gather  all C blocks; backward also as many gradients
//     both        read grouped keys as they are. What a block gives before it is joined: n q and w n heads, of 16 bits also the sum in fp32;
//                 backward the gradient of its queries, n q / 2 or, beside half a block's, n q
//     all_to_all  its output twice, n q: as heads and as tokens. Backward: what goes back takes the place of what it was made from
//     backward    d out n q (all_to_all: in the place of the tokens), then dq, dk, dv
//   slices of a sample (attention in three parts, likewise; b: a slice's keys and values, 2 n kv)
//     keeps       what attention keeps, until the slice's own backward: slices behind it read its keys and values, and go backward before it
//     forward     as ring, but nothing comes in: what a block gives before it is joined
//     backward    n q of d out, then dq, dk, dv; gradients of all slices' keys and values, b each, from the last slice's backward to their own
//   LinearAttention (p, c, v: widths of the first product, of what is convolved and of the values; H heads of k keys, chunk s)
//     keeps       norm as Mlp; n p; n c of the convolution; gated delta: queries and keys of all heads 2 n H k, its inverse n H s in 16 bit or more;
//                 what the scan puts out n v, gated and normed n v (the second product's input)
//     backward    d of the values n v, then of what was convolved n c, states of all chunks n H k v / s
//   Experts (r: rows of the fullest rank, n topk / E of E ranks each, times their load; f_e, f_s: widths of an expert and of the shared one)
//     keeps       norm and linear as Mlp; scores of the router, w n experts; rows r h, their products r g f_e and r f_e, what goes back r h;
//                 of the shared expert n (g + 1) f_s; of each of n topk choices four numbers of 8 bytes (expert, row, and back) and its weight, w
//     backward    what comes back r h, then the gradients of the products r g f_e; that of the rows takes the place of the rows that went back
//
//   programs (fields of the software profile in brackets; without a name the worker's, as above)
//     sequence parallel  the norm's output, n h / T: gathered again in backward                       [keeps_gathered: n h, as above]
//     dropout            masks, a byte an element: n h / T behind each segment and the embedding          [dropout, keeps_masks]
//     scores             n s heads, where the kernel keeps them: e of a fused softmax, 4 e else; with dropout e + 1 more    [attention]
//     norm, activation   RMSNorm 2 n h more, a gated activation's product n f more          [fused_norm, fused_activation, compiled]
//     rotary             what it read: half of q, k, v                                                    [keeps_unrotated]
//     loss               bytes of a logit at its peak: of them fp32 or less until the backward, which adds the rest       [loss_bytes ...]
//     experts            what goes back is not kept where weights came before                             [weights_activation]
//
//   backward split: between Backward and Weight stay the inputs of the linear layers and the gradients of their outputs: q + 2kv and h; g f and h; V
#include "sim/cost/activation_memory.h"

#include <algorithm>
#include <cmath>

#include "sim/clock/expert_load.h"
#include "sim/cost/head_widths.h"
#include "sim/cost/loss_tokens.h"
#include "sim/cost/map_operators.h"
#include "sim/cost/row_memory.h"
#include "sim/cost/segment_sizes.h"
#include "sim/cost/sparse_memory.h"
#include "sim/cost/word_memory.h"

namespace sim {
namespace {

using Sizes = SegmentSizes;

// Matrices s x s that attention with dropout has alive at once in its backward, beside kept or recomputed probabilities: those dropped, their
// slope, a product of it, the mask of the future.
constexpr std::int64_t kScoreMatrices = 4;

// Slices, ring and all-gather: operands are kept as they travel, or wait, and made what a kernel wants while it runs.
bool attends_by_blocks(const ParallelPlan& plan) { return plan.slices > 1 || plan.block_ranks() > 1; }

// Scores between a query and every key, on this rank.
std::int64_t scores_of(const Sizes& size) { return size.tokens * size.sequence * size.heads; }
bool is_dropping(const ParallelPlan& plan) { return plan.model.residual_dropout > 0 || habits_of(plan.cluster).dropout; }

// A program's kernel for attention keeps its scores or makes them again by itself; the worker leaves its fused one where scores are dropped, or are
// no plain ones, of which it keeps none.
struct ScoreHabit {
  bool dropped_by_hand = false, made_by_hand = false;  // the worker's loop over heads
  double kept = 0, gradients = 0;                      // bytes a score
};
bool has_scores_of_its_own(const ModelConfig& config, const Sizes& size) {
  const bool is_biased = config.encoder && config.encoder->relative_buckets > 0 && !size.reads_source;
  return is_biased || (size.window > 0 && size.window < size.sequence) || config.sinks || config.score_cap > 0 ||
         config.position == Position::Alibi;
}
ScoreHabit score_habit(const ParallelPlan& plan, const Sizes& size) {
  const SoftwareStack& habits = habits_of(plan.cluster);
  const AttentionKernel kernel = attention_kernel(habits);
  const double element = static_cast<double>(size.element.value());
  if (!habits.keeps_masks && plan.model.attention_dropout > 0) return {.dropped_by_hand = true};
  if (!habits.keeps_masks && has_scores_of_its_own(plan.model, size)) return {.made_by_hand = true};
  if (kernel >= AttentionKernel::Flash1) return {};
  const bool is_fused = kernel == AttentionKernel::FusedSoftmax;
  const bool drops = plan.model.attention_dropout > 0 || habits.dropout;
  return {.kept = (is_fused ? 1 : 4) * element + (drops ? element + 1 : 0), .gradients = is_fused ? element : 8};
}

void keep(SegmentMemory& memory, const Kept& tensor) {
  if (tensor.bytes.value() != 0) memory.tensors.push_back(tensor);
}

Bytes times(std::int64_t count, double each) { return Bytes(std::llround(static_cast<double>(count) * each)); }

// What backward has alive of scores beside what it found.
void add_scores(SegmentMemory& memory, const Sizes& size, const ParallelPlan& plan) {
  const ScoreHabit habit = score_habit(plan, size);
  const bool is_kept = !plan.recomputes_scores();
  if (habit.dropped_by_hand) {
    if (is_kept) keep(memory, {"probabilities", size.elements(size.sequence * size.heads), Module::CoreAttention});
    memory.backward_temporary += size.element * (size.queries * size.sequence * (kScoreMatrices + (is_kept ? 0 : 1)));
    return;
  }
  if (habit.made_by_hand) {
    memory.backward_temporary += size.element * (size.queries * size.sequence * kScoreMatrices);
    return;
  }
  if (habit.kept == 0) {
    keep(memory, {"sums of exponentials", size.statistic * (size.tokens * size.heads), Module::CoreAttention});
    return;
  }
  const Bytes kept = times(scores_of(size), habit.kept);
  if (is_kept) keep(memory, {"scores", kept, Module::CoreAttention});
  memory.backward_temporary += times(scores_of(size), habit.gradients) + (is_kept ? Bytes{} : kept);
}

// Whether keys that heads share are written once a head. On a GPU the worker's kernel knows of groups in 16 bit (executor/kernels/on_device.h).
bool writes_repeats(const ParallelPlan& plan) {
  const bool is_worker_on_gpu = !plan.cluster.software.own_memory && plan.cluster.hardware.kind == DeviceKind::Gpu;
  return habits_of(plan.cluster).repeats_keys && !(is_worker_on_gpu && plan.bytes(Numbers::Activations) == Bytes(2));
}

// Keys that heads share are repeated for a kernel that does not know of it; a single head is repeated as a view (its gradient is not).
bool repeats_keys(const Sizes& size, const ModelConfig& config, const ParallelPlan& plan) {
  return writes_repeats(plan) && config.kv_heads < config.heads && !attends_by_blocks(plan) &&
         size.key_value / plan.mesh.context > 2 * config.head_dim;
}

constexpr double kEverySecond = 0.5;
void keep_normalized(SegmentMemory& memory, const Sizes& size) {
  memory.entering = memory.stream - (size.keeps_first ? size.normalized : Bytes{});
  if (size.keeps_first) keep(memory, {"normalized", size.normalized, Module::LayerNorm | Module::Op});
}

void add_attention(SegmentMemory& memory, const Sizes& size, const ModelConfig& config, const ParallelPlan& plan) {
  const bool is_grouped = config.kv_heads < config.heads && writes_repeats(plan);
  const std::int64_t joint = size.query + size.key_value;
  keep_normalized(memory, size);
  const bool repeats = repeats_keys(size, config, plan), frees_narrow = repeats && habits_of(plan.cluster).by_operator;
  keep(memory, {"queries, keys, values", frees_narrow ? size.elements(size.query) : size.operands(), Module::Op,
                frees_narrow ? 0 : real(size.key_value / 2) / real(joint)});
  if (frees_narrow && plan.recomputed_modules().has(Module::Op))
    keep(memory, {"values before they are repeated", size.elements(size.key_value / 2)});
  if (repeats) keep(memory, {"keys and values of all heads", size.elements(2 * size.query), Module::Op});
  keep(memory, {"attention's output", size.elements(size.output)});
  const std::int64_t gate = config.attention_gate ? size.output : 0;
  keep(memory, {"gate", size.elements(gate), Module::Op, kEverySecond});
  keep(memory, {"gated output", size.elements(gate), Module::Op});
  memory.backward_temporary = size.elements(size.output + gate) + (is_grouped ? size.elements(3 * size.query) : size.operands());
  memory.weight_inputs = size.normalized + size.elements(size.output);
  memory.output_gradients = size.operands() + size.elements(gate + config.hidden);
  if (config.position == Position::Rotary && habits_of(plan.cluster).keeps_unrotated)
    keep(memory, {"what rotary read", size.elements(joint) / std::int64_t{2}, Module::Op});
  add_scores(memory, size, plan);
}

// The kernel's operands and output are as wide as it wants them (f_k, f_v a head); what is wider than a value is copied for the projection.
void add_latent_attention(SegmentMemory& memory, const Sizes& size, const ParallelPlan& plan) {
  const AttentionForm& form = plan.model.attention;
  const HeadWidths head = attends_by_blocks(plan) ? HeadWidths{form.key_width(), form.v_dim} : kernel_head_widths(plan);
  const bool copies = head.value > form.v_dim && size.heads > 1;  // of one head the narrow part is a view
  const std::int64_t operands = size.heads * (2 * head.key + head.value), output = size.heads * head.value,
                     narrow = form.q_lora + form.kv_lora;
  keep_normalized(memory, size);
  if (form.is_sparse()) return add_sparse_attention(memory, size, plan);
  keep(memory, {"narrow vectors", size.elements(narrow), Module::Op, kEverySecond});
  keep(memory, {"narrow vectors, normalized", size.elements(narrow) + size.statistic * (size.tokens * (form.q_lora > 0 ? 2 : 1)),
                Module::MlaUpProjection | Module::Op});
  keep(memory, {"queries, keys, values", size.elements(operands), Module::MlaUpProjection | Module::Op, kEverySecond});
  keep(memory, {"attention's output", size.elements(output + (copies ? size.output : 0))});
  const bool copy_goes = copies && !plan.splits_backward();  // else it is left for Weight
  memory.backward_temporary = size.elements(operands + output - (copy_goes ? size.output : 0));
  add_scores(memory, size, plan);
  memory.weight_inputs = size.normalized + size.elements(size.output + narrow);
  memory.output_gradients =
      size.elements(narrow + form.qk_rope + size.query + size.heads * (form.qk_nope + form.v_dim) + plan.model.hidden);
}

// Of gate and up one is a second product.
double gated_share(const ModelConfig& config) { return config.gated_mlp ? kEverySecond : 0; }

void add_experts(SegmentMemory& memory, const Sizes& size, const ModelConfig& config, const ParallelPlan& plan) {
  const ExpertForm& form = *config.experts;
  const bool apart = plan.mesh.cuts_experts_apart();  // then each tensor rank routes its part of the tokens
  const std::int64_t routed = apart ? size.local_tokens : size.tokens, computed = apart ? routed * plan.mesh.expert_cut() : routed;
  const std::int64_t gates = config.gated_mlp ? 2 : 1, width = form.expert_ffn / plan.mesh.expert_cut(),
                     shared = form.shared_ffn / plan.mesh.tensor;
  const double load = expert_load(form, plan.mesh.expert, common_behavior()).computed;
  const auto rows = [&](std::int64_t each) {
    return size.element * static_cast<std::int64_t>(std::ceil(real(computed * form.topk) * load)) * each;
  };
  const Bytes choices = (Bytes(std::int64_t{4} * 8) + size.statistic) * (routed * form.topk);
  const std::int64_t ways = habits_of(plan.cluster).weights_activation ? 1 : 2;  // out, and back
  keep_normalized(memory, size);
  keep(memory, {"router's scores and choices", size.statistic * (routed * form.experts) + choices});
  if (size.keeps_first) keep(memory, {"rows of experts", rows(config.hidden)});
  keep(memory, {"first products of experts", rows(gates * width), Module::Op, gated_share(config), plan.expert_overlap});
  if (size.keeps_last) keep(memory, {"activations of experts", rows(width), Module::MoeActivation | Module::Op, 1, plan.expert_overlap});
  const bool inside = plan.expert_overlap && size.keeps_first;
  if (ways > 1) keep(memory, {"rows that go back", rows((ways - 1) * config.hidden), Module::Op, kEverySecond, inside});
  keep(memory, {"shared experts", size.elements((gates + 1) * shared), Module::SharedExperts | Module::Op, kEverySecond});
  memory.output_gradient = rows(config.hidden);
  memory.input_gradients = rows((plan.splits_backward() ? config.hidden : 0) + gates * width);
  memory.weight_inputs = size.normalized + rows(config.hidden + width) + size.elements(shared);
  memory.output_gradients = rows(config.hidden + gates * width) + size.elements(gates * shared + config.hidden);
}

// By operators, a program that runs them one by one holds every second product's output, though no backward reads the last one's (of q, k, v, o,
// gate, up and down: the seventh). A compiled block keeps what its backward reads.
bool holds_last_product(const ModelConfig& config, const ParallelPlan& plan) {
  return plan.recomputed_modules().has(Module::Op) && config.gated_mlp && !habits_of(plan.cluster).compiled;
}

// A split backward leaves the second product's input for the weight's gradient.
void add_mlp(SegmentMemory& memory, const Sizes& size, const ModelConfig& config, const ParallelPlan& plan) {
  const std::int64_t gates = config.gated_mlp ? 2 : 1;
  keep_normalized(memory, size);
  keep(memory, {"first products", size.elements(gates * size.ffn), Module::Op, gated_share(config)});
  if (size.keeps_last) keep(memory, {"activations", size.elements(size.ffn), Module::Op});
  if (config.ffn_dropout > 0 && habits_of(plan.cluster).keeps_masks)  // and what it leaves
    keep(memory, {"inner dropout", size.elements(size.ffn) + Bytes(size.tokens * size.ffn), Module::Op});
  if (holds_last_product(config, plan)) memory.unread = size.elements(config.hidden);
  keep(memory, {"what the last product put out", memory.unread});
  memory.backward_temporary = size.elements(((config.gated_mlp ? 3 : 1) + (plan.splits_backward() ? 1 : 0)) * size.ffn);
  memory.weight_inputs = size.normalized + size.elements(size.ffn);
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

// n tokens of keys and values of one slice are a block.
void add_slices(SegmentMemory& memory, const Sizes& size) {
  memory.output_gradient = size.elements(size.output);
  memory.input_gradients = size.elements(size.query + size.key_value);
  memory.cached_gradient = size.elements(size.key_value);
  add_joining(memory, size);
}

// n tokens of keys and values of one rank are a block.
void add_exchanges(SegmentMemory& memory, const Sizes& size, const ModelConfig& config, const ParallelPlan& plan) {
  const std::int64_t ranks = plan.block_ranks();
  if (plan.mesh.context == 1) return;
  const SoftwareStack& habits = habits_of(plan.cluster);
  const Bytes block = size.elements(habits.gathers_context && writes_repeats(plan) ? 2 * size.query : size.key_value);
  memory.output_gradient = size.elements(size.output);
  memory.input_gradients = size.elements(size.query + size.key_value);
  if (plan.head_ranks() > 1) {
    keep(memory, {"attention's output of heads", size.elements(size.output)});
    memory.output_gradient = {};
  }
  switch (plan.context_algorithm) {
    case ContextAlgorithm::Hierarchical:
    case ContextAlgorithm::Ring:
      memory.exchanged = block * (habits.gathers_context ? ranks : std::min<std::int64_t>(2, ranks - 1));
      memory.exchanged_back = memory.exchanged + block * 2;
      break;
    case ContextAlgorithm::AllGather: memory.exchanged = block * ranks, memory.exchanged_back = memory.exchanged * 2; break;
    case ContextAlgorithm::AllToAll:
      if (config.kv_heads < config.heads) memory.input_gradients = size.elements(3 * size.query);
      return;
  }
  add_joining(memory, size);
}

void add_linear(SegmentMemory& memory, const Sizes& size, const ParallelPlan& plan) {
  const LinearForm& form = *plan.model.linear;
  const std::int64_t ranks = plan.mesh.tensor, heads = form.heads / ranks, values = form.values() / ranks,
                     convolved = form.convolved() / ranks;
  const bool is_delta = form.is_delta();
  const std::int64_t narrow = form.narrow() > 0 ? 2 * form.narrow() + (form.keys() + form.values()) / ranks : 0;
  const std::int64_t chunk = std::min(form.chunk, size.sequence), states = heads * form.key * form.value / chunk;
  keep_normalized(memory, size);
  keep(memory, {"first product", size.elements(form.projected() / ranks), Module::Op, kEverySecond});
  if (narrow > 0) keep(memory, {"decays and gate", size.elements(narrow), Module::Op, kEverySecond});
  keep(memory, {"convolved", size.elements(convolved), Module::Op});
  if (is_delta) keep(memory, {"queries and keys of all heads", size.elements(2 * heads * form.key), Module::Op});
  if (is_delta) keep(memory, {"inverses", size.elements(heads * chunk), Module::Op});
  keep(memory, {"scan's output", size.elements(values), Module::Op});
  if (size.keeps_last) keep(memory, {"gated output", size.elements(values), Module::Op});
  memory.backward_temporary = size.elements(2 * values + convolved + states);
  memory.weight_inputs = size.normalized + size.elements(values);
  memory.output_gradients = size.elements(form.projected() / ranks + plan.model.hidden);
}

// What operators that a program does not fuse leave, and masks.
void add_unfused(SegmentMemory& memory, const Sizes& size, const ModelConfig& config, const ParallelPlan& plan, bool is_mlp) {
  const SoftwareStack& habits = habits_of(plan.cluster);
  if (config.norm == Norm::RmsNorm && !habits.fused_norm && !habits.compiled)
    keep(memory, {"products of the norm", size.rows * 2, Module::LayerNorm | Module::Op});
  if (is_mlp && config.gated_mlp && !habits.fused_activation && !habits.compiled)
    keep(memory, {"product of the activation", size.elements(size.ffn), Module::Op});
}
Bytes mask_bytes(const Sizes& size, const ModelConfig& config, const ParallelPlan& plan) {
  return habits_of(plan.cluster).keeps_masks && is_dropping(plan) ? Bytes(size.local_tokens * config.hidden) : Bytes{};
}

// One kernel's logits are overwritten; others hold fp32 of the softmax until the backward, which adds its gradients.
void add_head(SegmentMemory& memory, const Sizes& size, const ParallelPlan& plan) {
  const SoftwareStack& habits = habits_of(plan.cluster);
  const bool fused = habits.fused_loss || (habits.compiled && habits.compiled_loss);
  constexpr double kGatheredLogit = 26;  // of both types, and copies
  const double peak = fused                        ? habits.fused_loss_bytes
                      : plan.mesh.tensor == 1      ? habits.loss_bytes
                      : habits.vocabulary_parallel ? habits.cut_loss_bytes
                                                   : kGatheredLogit;
  const std::int64_t parts = habits.vocabulary_parallel ? 1 : plan.mesh.tensor, heads = 1 + plan.model.mtp_layers,
                     logits = heads * tokens_with_loss(plan) * size.vocabulary * parts;
  const double element = static_cast<double>(size.element.value()), kept = std::max(element, std::min(peak, 4.0));
  keep_normalized(memory, size);
  keep(memory, {"logits", times(logits, kept) + size.statistic * ((habits.by_operator ? 0 : 3) * heads * size.tokens)});
  memory.backward_temporary = times(logits, std::max(0.0, peak - kept));
  if (plan.model.logit_cap > 0 && !habits.keeps_masks)
    memory.backward_temporary += times(logits, element);  // the worker's slope of the cap
  if (heads > 1) keep(memory, {"further inputs", (memory.stream + memory.statistics + size.normalized) * (heads - 1)});
  memory.weight_inputs = size.normalized * heads;
  memory.output_gradients = size.elements(size.vocabulary * heads);
}

// In front of a block that predicts a further token: the token's embedding and both norms' outputs, which one product reads.
void add_joined(SegmentMemory& memory, const Sizes& size, const ModelConfig& config) {
  keep_normalized(memory, size);
  keep(memory, {"normalized embedding", size.normalized});
  keep(memory, {"embedding of the next token", size.elements(config.hidden) + memory.statistics});
  memory.backward_temporary = size.elements(2 * config.hidden);
  memory.weight_inputs = size.normalized * std::int64_t{2};
  memory.output_gradients = size.elements(config.hidden);
}

// Those of a segment's output and of heads keep what they read.
void add_norms(SegmentMemory& memory, const Sizes& size, const ModelConfig& config, const SegmentGraph& segment) {
  const bool is_attention = segment.has(OperatorKind::Attention),
             has_head_norms = std::ranges::find(segment.operators, "qk_norm", &Operator::name) != segment.operators.end();
  const auto is_behind = [](const Operator& op) { return op.name == "norm_behind"; };
  if (std::ranges::any_of(segment.operators, is_behind)) keep(memory, {"what the norm behind read", size.rows + memory.statistics});
  if (!is_attention || !has_head_norms) return;
  const std::int64_t width = size.query + size.key_value / 2, norms = config.qk_norm == QkNorm::Joint ? 2 : width / config.head_dim;
  keep(memory, {"heads before their norms", size.elements(width) + size.statistic * (size.tokens * norms), Module::Op});
}

// How many copies of its input are dropped: the operator behind it, A, reads one.
std::int64_t adapter_pairs_of(const Operator& dropout) { return dropout.outputs / std::next(&dropout)->inputs; }

// Numbers of one of a segment's frozen products, which are made of a packed weight for each use. In the backward they stand beside the gradient of what the
// product reads; when those in front of the last one are made, what that one read is gone. The worker's: other programs' measured rows are told without.
void add_unpacked(SegmentMemory& memory, const Sizes& size, const SegmentGraph& segment, const ParallelPlan& plan) {
  if (plan.model.adapters->base == BaseFormat::Weights || habits_of(plan.cluster).keeps_masks) return;
  const Bytes gone = size.elements(segment.has(OperatorKind::Attention) ? size.output : size.keeps_last ? size.ffn : 0);
  Bytes before_last{};
  for (const Operator& op : segment.operators) {
    if (op.kind != OperatorKind::Linear || op.adapter != AdapterPart::None) continue;
    const std::int64_t cuts = op.split == TensorSplit::None ? 1 : plan.mesh.tensor,
                       inputs = op.split == TensorSplit::Columns ? op.inputs / cuts : op.inputs;
    const Bytes numbers = size.element * (op.inputs * op.outputs / cuts);
    memory.forward_temporary = std::max(memory.forward_temporary, numbers);
    memory.backward_temporary = std::max(memory.backward_temporary, before_last);
    before_last = numbers + size.elements(inputs) - gone;
  }
  memory.backward_temporary = std::max(memory.backward_temporary, before_last + gone);
}

// A copy of what one pair reads. Where masks are kept, so are all copies, but for one in the place of the input itself, if no kernel keeps that.
void add_dropped(SegmentMemory& memory, const Sizes& size, const SegmentGraph& segment, const ParallelPlan& plan) {
  for (const Operator& op : segment.operators) {
    if (op.adapter != AdapterPart::Dropout) continue;
    const std::int64_t read = op.outputs / (op.split == TensorSplit::None ? 1 : plan.mesh.tensor), pairs = adapter_pairs_of(op);
    if (!habits_of(plan.cluster).keeps_masks) {
      memory.forward_temporary = std::max(memory.forward_temporary, size.elements(read / pairs));
      memory.backward_temporary = std::max(memory.backward_temporary, size.elements(read / pairs) * 2);
      continue;
    }
    const bool is_kept_anyway = segment.has(OperatorKind::Attention) && op.split != TensorSplit::None;
    const std::int64_t copies = is_kept_anyway ? pairs : pairs - 1;
    keep(memory, {"what adapters' dropouts leave", size.elements(read / pairs * copies) + Bytes(size.tokens * read), op.modules});
  }
}

void add_adapters(SegmentMemory& memory, const Sizes& size, const SegmentGraph& segment, const ParallelPlan& plan) {
  if (!plan.model.adapters) return;
  add_unpacked(memory, size, segment, plan);
  for (const Operator& op : segment.operators)
    if (op.adapter == AdapterPart::Down) keep(memory, {"what adapters hand on", size.elements(op.outputs), op.modules});
  add_dropped(memory, size, segment, plan);
}

// The gradient with zeros for other ranks' rows. Autograd makes that of all ranks' rows in place of it; units count it with their gradients.
Bytes embedding_temporary(const ModelGraph& model, const Sizes& size, const ParallelPlan& plan) {
  const SoftwareStack& habits = habits_of(plan.cluster);
  if (!habits.by_operator) return size.elements(model.config.hidden);
  return habits.unit_buffers ? Bytes{} : plan.bytes(Numbers::Weights) * (model.padded_vocabulary * model.config.hidden);
}

// What is kept, and what is made again.
SegmentMemory settled(SegmentMemory memory, Modules recomputed) {
  for (const Kept& tensor : memory.tensors) {
    const bool by_name = (tensor.modules.without(Module::Op)).meets(recomputed),
               by_op = tensor.modules.has(Module::Op) && recomputed.has(Module::Op);
    const Bytes dropped = by_name ? tensor.bytes : by_op ? times(tensor.bytes.value(), tensor.by_op) : Bytes{};
    memory.dropped += dropped;
    memory.kept += tensor.bytes - dropped;
    if (tensor.inside) memory.inside += tensor.bytes - dropped;
    if (tensor.modules.has(Module::LayerNorm)) memory.of_norm += tensor.bytes - dropped;
  }
  memory.entering = std::max(Bytes{}, memory.entering + memory.of_norm);
  return memory;
}

// Maps: what backward reads of each operator (map_operators). What goes in and out is the layer's (memory_effects).
SegmentMemory memory_of_maps(const ParallelPlan& plan, const SegmentGraph& segment) {
  SegmentMemory memory;
  for (const Operator& op : segment.operators) keep(memory, {op.name, kept_of_map(op, plan)});
  return settled(std::move(memory), {});
}

}  // namespace

SegmentMemory segment_memory(const ModelGraph& model, const ParallelPlan& plan, const SegmentGraph& segment) {
  if (model.config.convolution) return memory_of_maps(plan, segment);
  const Sizes size = segment_sizes(model, plan, segment);
  const ModelConfig& config = model.config;
  SegmentMemory memory;
  memory.stream = stream_of(plan) / (plan.sequence_parallel ? plan.mesh.tensor : 1);
  if (!segment.starts_with_side()) {  // the embedding
    if (plan.mesh.tensor > 1) memory.backward_temporary = embedding_temporary(model, size, plan);
    keep(memory, {"masks", mask_bytes(size, config, plan)});
    if (config.embedding_norm) keep(memory, {"what the norm read", memory.stream});
    add_sound(memory, plan);
    if (config.patches) keep(memory, {"patches", size.elements(config.patches->width() / plan.mesh.tensor)});
    return settled(std::move(memory), {});
  }
  const bool is_head = !segment.leaves_tensor(), is_attention = segment.has(OperatorKind::Attention),
             is_expert = segment.has(OperatorKind::Routing), is_joining = segment.has(OperatorKind::EmbeddingLookup),
             is_linear = segment.name == Operation::LinearAttention,
             is_mlp = !is_head && !is_attention && !is_expert && !is_joining && !is_linear;
  if (plan.recomputed_modules() != Modules(Module::Op))  // else made again
    memory.statistics = size.statistic * (size.local_tokens * (config.norm == Norm::LayerNorm ? 2 : 1));
  memory.normalized = routes_parts(plan, segment) ? size.normalized : stream_of(plan);
  if (!routes_parts(plan, segment) && size.normalized < size.elements(config.hidden)) memory.regathered = memory.normalized;
  if (is_attention) {
    if (config.attention.kind == AttentionKind::Latent)
      add_latent_attention(memory, size, plan);
    else
      add_attention(memory, size, config, plan);
    plan.slices > 1 ? add_slices(memory, size) : add_exchanges(memory, size, config, plan);
    if (shares_keys(config, plan.mesh.tensor))  // the gradient of what all ranks made, until each has its part of it
      memory.input_gradients =
          size.elements(attention_widths(config).joint() + (config.attention_gate ? size.output * plan.mesh.tensor : 0));
  }
  if (is_linear) config.linear->is_of_channels() ? add_channels(memory, size, plan) : add_linear(memory, size, plan);
  if (is_expert) add_experts(memory, size, config, plan);
  if (is_joining) add_joined(memory, size, config);
  if (is_mlp) add_mlp(memory, size, config, plan);
  if (is_head) {
    add_head(memory, size, plan);
  } else {
    add_norms(memory, size, config, segment);
    add_adapters(memory, size, segment, plan);
    add_unfused(memory, size, config, plan, is_mlp);
    keep(memory, {"masks", mask_bytes(size, config, plan)});
  }
  add_norms_of_words(memory, size, segment, plan);
  add_rows(memory, size, plan, segment);
  // Gradients kept wider than the products: the largest weight's product stands beside its sum.
  if (plan.bytes(Numbers::Gradients) > plan.bytes(Numbers::Weights)) memory.weight_product = largest_weight(size, segment, plan.mesh);
  memory.backward_temporary = std::max(memory.backward_temporary, memory.weight_product);
  return settled(std::move(memory), is_head ? Modules() : plan.recomputed_modules());
}

}  // namespace sim
