#include "sim/cost/attention_memory.h"

#include <algorithm>

#include "sim/clock/kernel_setting.h"
#include "sim/cost/head_widths.h"
#include "sim/cost/sparse_memory.h"
#include "sim/plan/scores_at_once.h"

namespace sim {
namespace {

// Matrices of a head's scores that attention head by head has alive at once in its backward, beside kept or recomputed probabilities: their slope, a
// product of it, the mask of the future or of a window.
std::int64_t score_matrices(const SegmentSizes& size) {
  const bool has_mask = size.is_causal || (size.window > 0 && size.window < size.sequence);
  return has_mask ? 3 : 2;
}

// Blocks of scores, and of their slopes, that LibTorch's fused kernel of a CPU has in its backward (aten/native/cpu/FlashAttentionKernel.cpp), of one thread.
Bytes fused_blocks(const SegmentSizes& size) {
  constexpr std::int64_t kManyQueries = 768, kSomeQueries = 192, kKeys = 512;
  const std::int64_t most = size.queries >= kManyQueries ? 256 : size.queries >= kSomeQueries ? 64 : 32;
  return size.statistic * (2 * std::min(most, size.queries) * std::min(kKeys, size.sequence));
}

// Slices, ring and all-gather: operands are kept as they travel, or wait, and made what a kernel wants while it runs.
bool attends_by_blocks(const ParallelPlan& plan) { return plan.slices > 1 || plan.block_ranks() > 1; }

// Scores between a query and every key, on this rank.
std::int64_t scores_of(const SegmentSizes& size) { return size.tokens * size.sequence * size.heads; }

// A program's kernel for attention keeps its scores or makes them again by itself; the worker leaves its fused one where scores are dropped, or are
// no plain ones, of which it keeps none.
struct ScoreHabit {
  bool dropped_by_hand = false, made_by_hand = false;  // the worker's loop over heads
  double kept = 0, made = 0, gradients = 0;            // bytes a score: for the backward, by a forward, by the backward
};

// Of operators autograd keeps what softmax put out, and what the product with values read: a copy in the type of activations where softmax ran in fp32
// (torch.autocast, Megatron's attention_softmax_in_fp32), and with dropout its output and a byte of mask. Scaled and masked scores are read by no backward.
double kept_of_a_score(const ParallelPlan& plan, double element, bool drops) {
  const PrecisionPolicy& precision = plan.workload.precision;
  const bool is_wide = is_sixteen_bit(precision.compute()) && precision.has_masters();
  const double softmax = is_wide ? 4 : element, copied = is_wide ? element : 0;
  return softmax + (drops ? element + 1 : copied);
}
bool has_scores_of_its_own(const ModelConfig& config, const SegmentSizes& size) {
  const bool is_biased = config.encoder && config.encoder->relative_buckets > 0 && !size.reads_source;
  const bool has_sinks = config.sinks && (size.window > 0 || !config.sinks_in_windows);
  return is_biased || (size.window > 0 && size.window < size.sequence) || has_sinks || config.score_cap > 0 ||
         config.position == Position::Alibi;
}
ScoreHabit score_habit(const ParallelPlan& plan, const SegmentSizes& size) {
  const SoftwareStack& habits = habits_of(plan.cluster);
  const AttentionKernel kernel = attention_kernel(plan, habits);
  const double element = static_cast<double>(size.element.value());
  if (!habits.keeps_masks && plan.model.attention_dropout > 0) return {.dropped_by_hand = true};
  if (!habits.keeps_masks && has_scores_of_its_own(plan.model, size) && !attends_by_blocks(plan)) return {.made_by_hand = true};
  if (!writes_scores(kernel)) return {};
  const bool is_fused = kernel == AttentionKernel::FusedSoftmax;
  const bool drops = plan.model.attention_dropout > 0 || habits.dropout;
  const double made = (is_fused ? 1 : 4) * element + (drops ? element + 1 : 0);
  return {.kept = is_fused ? made : kept_of_a_score(plan, element, drops), .made = made, .gradients = is_fused ? element : 8};
}

// The worker's loop over heads reads no output in its backward: that is kept by the product behind, which reads it, and by a gate.
std::int64_t kept_output(const SegmentSizes& size, const ParallelPlan& plan) {
  const ScoreHabit habit = score_habit(plan, size);
  const bool by_hand = habit.dropped_by_hand || habit.made_by_hand;
  return by_hand && !size.keeps_last && size.head.gate == 0 ? 0 : size.output;
}

// Of it, what is gone when scores run backward, because they do not read it: what the product behind read, and what weighed it.
std::int64_t given_up_output(const SegmentSizes& size, const ParallelPlan& plan) {
  if (plan.splits_backward()) return 0;
  return size.output * ((size.keeps_last ? 1 : 0) + (size.head.gate > 0 ? 1 : 0));
}

Bytes matrices_by_hand(const SegmentSizes& size) { return size.element * (size.queries * size.sequence * (score_matrices(size) + 1)); }

Kept scores_kept(std::string_view tensor, Bytes bytes) {
  return {.tensor = tensor, .bytes = bytes, .modules = Module::CoreAttention, .saved_by = Module::CoreAttention};
}

// Whether keys that heads share are written once a head. On a GPU the worker's kernel knows of groups in 16 bit (executor/kernels/on_device.h).
bool writes_repeats(const ParallelPlan& plan) {
  return habits_of(plan.cluster).repeats_keys && !(is_worker_on_gpu(plan.cluster) && plan.bytes(Numbers::Activations) == Bytes(2));
}

// Heads of queries on this rank that read the same keys.
std::int64_t sharers_of_keys(const SegmentSizes& size, const ParallelPlan& plan) {
  if (!size.head.are_shared() || writes_repeats(plan)) return 1;
  return size.heads / std::max<std::int64_t>(1, size.head.keys * size.heads / size.head.queries);
}

// Of the kernel that LibTorch's attention has on a GPU in 16 bit, in its backward (mha_bwd, aten/native/transformers/cuda/flash_attn/flash_api.cpp): gradients of
// queries are summed in fp32, of whole tiles of queries and of columns; the sum of each row; and where queries share keys, gradients of keys and values of every
// head, before they are summed.
Bytes flash_sums(const SegmentSizes& size, const ParallelPlan& plan) {
  if (size.element != Bytes(2) || attends_by_blocks(plan)) return {};
  constexpr std::int64_t kTile = 128, kNarrow = 128, kColumns = 32, kWideColumns = 64;
  const auto rounded = [](std::int64_t count, std::int64_t to) { return (count + to - 1) / to * to; };
  const std::int64_t width = kernel_head_widths(plan, size.head).key, rows = size.tokens / size.queries * rounded(size.queries, kTile);
  const std::int64_t columns = rounded(width, width <= kNarrow ? kColumns : kWideColumns);
  const Bytes expanded = sharers_of_keys(size, plan) > 1 ? size.elements(size.query + size.output) : Bytes(0);
  return Bytes(4) * (rows * size.heads * (columns + 1)) + expanded;
}

// Of attention that drops scores, in backward: head by head; where a GPU has a kernel a part of them and its slope, which become what products read, and of several samples,
// or of queries that share keys, heads laid one behind another.
Bytes dropped_alive(const SegmentSizes& size, const ParallelPlan& plan, bool is_kept) {
  const Bytes head = size.element * (size.queries * size.sequence);
  const bool has_kernel = plan.cluster.hardware.kind != DeviceKind::Cpu && !has_scores_of_its_own(plan.model, size);
  if (!has_kernel) return head * (score_matrices(size) + (is_kept ? 0 : 1));
  const std::int64_t samples = size.tokens / size.queries, sharers = sharers_of_keys(size, plan);
  const Bytes copied = samples > 1 || sharers > 1 ? size.elements(size.output) : Bytes(0);
  return head * (heads_of_a_part(head, {.all = samples * size.heads, .sharers = sharers}) * (is_kept ? 1 : 2)) + copied;
}

// What backward has alive of scores beside what it found.
void add_scores(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan) {
  const SoftwareStack& habits = habits_of(plan.cluster);
  const ScoreHabit habit = score_habit(plan, size);
  const bool is_kept = !plan.recomputes_scores();
  if (habit.dropped_by_hand) {
    if (is_kept) memory.keep(scores_kept("probabilities", size.elements(size.sequence * size.heads)));
    memory.backward_temporary += dropped_alive(size, plan, is_kept);
    memory.backward_temporary -= size.elements(given_up_output(size, plan));
    return;
  }
  if (habit.made_by_hand) {
    memory.backward_temporary += matrices_by_hand(size);
    memory.backward_temporary -= size.elements(given_up_output(size, plan));
    return;
  }
  if (habit.kept == 0) {
    memory.keep(scores_kept("sums of exponentials", size.statistic * (size.tokens * size.heads)));
    if (!habits.own_memory)
      memory.backward_temporary += plan.cluster.hardware.kind == DeviceKind::Cpu ? fused_blocks(size) : flash_sums(size, plan);
    return;
  }
  const Bytes scores(scores_of(size));
  if (is_kept) memory.keep(scores_kept("scores", scaled(scores, habit.kept)));
  memory.backward_temporary += scaled(scores, habit.gradients + (is_kept ? 0 : habit.made));
}

// Keys that heads share are repeated for a kernel that does not know of it; a single head is repeated as a view (its gradient is not).
bool repeats_keys(const SegmentSizes& size, const ParallelPlan& plan) {
  return writes_repeats(plan) && size.head.are_shared() && !attends_by_blocks(plan) &&
         size.key_value / plan.mesh.context > size.head.key_width + size.head.value_width;
}

// Columns by which values are filled up for the fused kernel of a CPU, which takes heads of one width.
std::int64_t filled_columns(const SegmentSizes& size, const ParallelPlan& plan) {
  const ScoreHabit habit = score_habit(plan, size);
  if (habits_of(plan.cluster).keeps_masks || habit.dropped_by_hand || habit.made_by_hand || attends_by_blocks(plan)) return 0;
  return size.heads * (kernel_head_widths(plan, size.head).value - size.head.value_width);
}

// Values that are filled up, and the kernel's output, of which the product behind reads a copy without the filling (of one head a view).
void add_filling(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan, bool repeats) {
  const std::int64_t filling = filled_columns(size, plan), wide = size.output + filling;
  if (filling == 0) return;
  const bool copies = size.heads > 1 && size.keeps_last;
  memory.keep({.tensor = "values, filled up",
               .bytes = size.elements(repeats ? filling : wide),
               .modules = Module::Op,
               .saved_by = Module::CoreAttention});
  memory.keep({.tensor = "attention's output, filled up",
               .bytes = size.elements(copies ? wide : filling),
               .saved_by = Module::AttentionProjection});
  memory.backward_temporary += size.elements(2 * filling - (copies && !plan.splits_backward() ? size.output : 0));
}

// The product behind attention keeps the output itself, which attention's backward reads, too; with delayed scales its own rounded one beside it.
void add_rounded_output(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan) {
  if (size.rounded < 1 && plan.workload.precision.scales() == ScaleRecipe::Delayed)
    memory.keep({.tensor = "attention's output, rounded", .bytes = size.read(size.output), .saved_by = Module::AttentionProjection});
}

void add_usual_attention(SegmentMemory& memory, const SegmentSizes& size, const ModelConfig& config, const ParallelPlan& plan) {
  const bool is_grouped = size.head.are_shared() && writes_repeats(plan);
  const std::int64_t joint = size.query + size.key_value;
  memory.keep_normalized(size.read(size.normalized), size.keeps_first);
  const bool repeats = repeats_keys(size, plan), frees_narrow = repeats && habits_of(plan.cluster).by_operator;
  memory.keep({.tensor = "queries, keys, values",
               .bytes = frees_narrow || size.head.made_before ? size.elements(size.query) : size.operands(),
               .modules = Module::Op,
               .by_op = frees_narrow ? 0 : real(size.key_value / 2) / real(joint),
               .saved_by = Module::CoreAttention});
  if (frees_narrow && plan.recomputed_modules().has(Module::Op))
    memory.keep({"values before they are repeated", size.elements(size.key_value / 2)});
  if (repeats)
    memory.keep({.tensor = "keys and values of all heads",
                 .bytes = size.elements(size.query + size.output),
                 .modules = Module::Op,
                 .saved_by = Module::CoreAttention});
  memory.keep({.tensor = "attention's output", .bytes = size.elements(kept_output(size, plan)), .saved_by = Module::AttentionProjection});
  add_rounded_output(memory, size, plan);
  const std::int64_t gate = size.head.gate / plan.mesh.tensor;
  memory.keep({"gate", size.elements(gate), Module::Op, kEverySecond});
  memory.keep({"gated output", size.elements(gate > 0 && size.keeps_last ? size.output : 0), Module::Op});
  memory.backward_temporary =
      size.elements(size.output + gate) + (is_grouped ? size.elements(2 * size.query + size.output) : size.operands());
  memory.weight_inputs = size.normalized + size.elements(size.output);
  memory.output_gradients = size.operands() + size.elements(gate + config.hidden);
  if (config.position == Position::Rotary && habits_of(plan.cluster).keeps_unrotated)
    memory.keep({"what rotary read", size.elements(joint) / std::int64_t{2}, Module::Op});
  if (size.head.made_before) memory.backward_temporary += size.elements(size.key_value);  // where gradients of several blocks are summed
  add_filling(memory, size, plan, repeats);
  add_scores(memory, size, plan);
}

// The kernel's operands and output are as wide as it wants them (f_k, f_v a head); what is wider than a value is copied for the projection.
void add_latent_attention(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan) {
  const AttentionForm& form = plan.model.attention;
  const HeadWidths head = attends_by_blocks(plan) ? HeadWidths{form.key_width(), form.v_dim} : kernel_head_widths(plan, size.head);
  const bool copies = head.value > form.v_dim && size.heads > 1 && size.keeps_last;  // of one head the narrow part is a view
  const std::int64_t operands = size.heads * (2 * head.key + head.value), output = size.heads * head.value,
                     narrow = form.q_lora + form.kv_lora;
  memory.keep_normalized(size.rounded < 1 ? size.read(size.normalized) * std::int64_t{2} : size.normalized, size.keeps_first);
  if (form.is_sparse()) return add_sparse_attention(memory, size, plan);
  memory.keep({.tensor = "narrow vectors",
               .bytes = size.elements(narrow),
               .modules = Module::Op,
               .by_op = kEverySecond,
               .saved_by = Module::QkvProduct});
  memory.keep({.tensor = "narrow vectors, normalized",
               .bytes = size.read(size.narrow_read) + size.statistic * (size.tokens * (form.q_lora > 0 ? 2 : 1)),
               .modules = Module::MlaUpProjection | Module::Op,
               .saved_by = Module::QkvProduct});
  memory.keep({.tensor = "queries, keys, values",
               .bytes = size.elements(operands),
               .modules = Module::MlaUpProjection | Module::Op,
               .by_op = kEverySecond,
               .saved_by = Module::CoreAttention});
  memory.keep({.tensor = "attention's output",
               .bytes = size.elements((kept_output(size, plan) > 0 ? output : 0) + (copies ? size.output : 0)),
               .saved_by = Module::AttentionProjection});
  add_rounded_output(memory, size, plan);
  const bool copy_goes = copies && !plan.splits_backward();  // else it is left for Weight
  memory.backward_temporary = size.elements(operands + output - (copy_goes ? size.output : 0));
  add_scores(memory, size, plan);
  memory.weight_inputs = size.normalized + size.elements(size.output + size.narrow_read);
  memory.output_gradients =
      size.elements(narrow + form.qk_rope + size.query + size.heads * (form.qk_nope + form.v_dim) + plan.model.hidden);
}

// Of scores between a block's keys and queries, which the worker makes by hand where they are not plain ones: two matrices of a head in the backward, a product
// of one, and a byte for each key out of sight.
Bytes matrices_of_block(const SegmentSizes& size, const ParallelPlan& plan) {
  if (habits_of(plan.cluster).keeps_masks || !has_scores_of_its_own(plan.model, size)) return {};
  const std::int64_t blocks = std::max<std::int64_t>(plan.slices, plan.block_ranks()), tokens = size.sequence / blocks;
  constexpr std::int64_t kMatrices = 3;
  return (size.statistic * kMatrices + Bytes(1)) * (tokens * tokens);
}

// Of attention over blocks of keys, beside what is kept.
void add_joining(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan) {
  memory.middle_temporary = matrices_of_block(size, plan);
  const Bytes wide = Bytes(4) * (size.tokens * size.output);
  constexpr std::int64_t kStatistics = 4;  // the block's, the joint one, and what both weigh
  memory.exchanged += size.elements(size.output) + size.statistic * (kStatistics * size.tokens * size.heads);
  if (size.element < Bytes(4)) memory.exchanged += wide * 2;
  memory.exchanged_back += size.elements(std::max(size.query / 2, size.query - size.key_value / 2));
}

// n tokens of keys and values of one slice are a block.
void add_slices(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan) {
  memory.output_gradient = size.elements(size.output);
  memory.input_gradients = size.elements(size.query + size.key_value);
  memory.cached_gradient = size.elements(size.key_value);
  add_joining(memory, size, plan);
}

// n tokens of keys and values of one rank are a block.
void add_exchanges(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan) {
  const std::int64_t ranks = plan.block_ranks();
  if (plan.mesh.context == 1) return;
  const SoftwareStack& habits = habits_of(plan.cluster);
  const Bytes block = size.elements(habits.gathers_context && writes_repeats(plan) ? size.query + size.output : size.key_value);
  memory.output_gradient = size.elements(size.output);
  memory.input_gradients = size.elements(size.query + size.key_value);
  const bool by_hand = score_habit(plan, size).made_by_hand;
  if (plan.head_ranks() > 1) {
    if (!by_hand) memory.keep({"attention's output of heads", size.elements(size.output)});
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
      if (size.head.are_shared()) memory.input_gradients = size.elements(2 * size.query + size.output);
      if (by_hand) memory.middle_temporary = matrices_by_hand(size);
      return;
  }
  add_joining(memory, size, plan);
}

}  // namespace

void add_attention(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan) {
  const ModelConfig& config = plan.model;
  if (config.attention.kind == AttentionKind::Latent)
    add_latent_attention(memory, size, plan);
  else
    add_usual_attention(memory, size, config, plan);
  plan.slices > 1 ? add_slices(memory, size, plan) : add_exchanges(memory, size, plan);
  if (plan.mesh.tensor > 1 && config.qk_norm == QkNorm::Joint) memory.input_gradients = size.elements(size.query + size.key_value);
  if (size.head.keys < plan.mesh.tensor && !size.head.made_before)  // the gradient of what all ranks made, until each has its part of it
    memory.input_gradients = size.elements(size.head.columns());
}

}  // namespace sim
