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
//   activation       -                                  its input n g f (relu: -)  -                  -
//   linear           (out, above)                       its input n f            -                    -
//   cross-entropy    -                                  -                        logits n V; maximum, sum, target: 3 w n
//   dropout          nothing: masks are computed again from their counters
//   scores           with windows, sinks, caps or ALiBi: no logsumexp; backward a few matrices s x s of one head
//   8 bit            beside each product its operands, rounded, in fp32 (fp64), where a CPU emulates it (rounded_memory)
//   residual         nothing: the sum is written over the projection's output
//
//   backward, at its fullest (autograd frees an operator's inputs once it is done with them):
//   Attention        d out n q, then dq, dk, dv beside it, and with dropout of the scores a few matrices s x s of one head;
//                    with dropout of the stream a copy of the output's gradient, n h (sequence parallel: memory_effects)
//   Mlp              d activation n f (relu: and d of what it read, n f); gated: minus the activation, plus d gate and up 2 n f and one product n f
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
//     context     p and c with a copy of shared queries and keys for each rank; backward d of the output n v, until that of p, n p, is made
//   Experts (r: rows of the fullest rank, n topk / E of E ranks each, times their load; f_e, f_s: widths of an expert and of the shared one)
//     keeps       norm and linear as Mlp; scores of the router, w n experts; rows r h, their products r g f_e and r f_e, what goes back r h;
//                 of the shared expert n (g + 1) f_s; of each of n topk choices four numbers of 8 bytes (expert, row, and back) and its weight, w
//     backward    what comes back r h, then the gradients of the products r g f_e; that of the rows takes the place of the rows that went back
//
//   programs (fields of the software profile in brackets; without a name the worker's, as above)
//     sequence parallel  the norm's output, n h / T: gathered again in backward                       [keeps_gathered: n h, as above]
//     dropout            masks, a byte an element: n h / T behind each segment and the embedding          [dropout, keeps_masks]
//     scores             n s heads, where the kernel keeps them: e of a fused softmax, else softmax's output, in fp32 beside
//                        masters, and e of what the next product reads; with dropout e + 1 more                      [attention]
//     norm, activation   RMSNorm 2 n h more, a gated activation's product n f more          [fuses_norm, fused_activation, compiled]
//     rotary             what it read: half of q, k, v                                                    [keeps_unrotated]
//     loss               bytes of a logit at its peak: of them fp32 or less until the backward, which adds the rest       [loss_bytes ...]
//     experts            what goes back is not kept where weights came before                             [weights_activation]
//     8 and 4 bit        inputs of products as they were rounded; with delayed scales n q of a byte beside attention's output    [keeps_scaled_inputs;
//                        compiled, by_operator: without a list of operators that are kept]
//
//   backward split: between Backward and Weight stay the inputs of the linear layers and the gradients of their outputs: q + 2kv and h; g f and h; V
#include "sim/cost/activation_memory.h"

#include <algorithm>

#include "sim/cost/adapter_memory.h"
#include "sim/cost/attention_memory.h"
#include "sim/cost/feed_forward_memory.h"
#include "sim/cost/loss_tokens.h"
#include "sim/cost/map_operators.h"
#include "sim/cost/rounded_memory.h"
#include "sim/cost/row_memory.h"
#include "sim/cost/scan_memory.h"
#include "sim/cost/segment_sizes.h"
#include "sim/task_graph/host_inputs.h"

namespace sim {
namespace {

bool is_dropping(const ParallelPlan& plan) { return plan.model.residual_dropout > 0 || habits_of(plan.cluster).dropout; }

// What operators that a program does not fuse leave, and masks.
void add_unfused(SegmentMemory& memory, const SegmentSizes& size, const ModelConfig& config, const ParallelPlan& plan, bool is_mlp) {
  const SoftwareStack& habits = habits_of(plan.cluster);
  if (config.norm == Norm::RmsNorm && !fuses_norm(habits, true) && !habits.compiled)
    memory.keep({"products of the norm", size.rows * 2, Module::LayerNorm | Module::Op});
  if (is_mlp && config.gated_mlp && !habits.fused_activation && !habits.compiled)
    memory.keep({"product of the activation", size.elements(size.ffn), Module::Op});
}
Bytes mask_bytes(const SegmentSizes& size, const ModelConfig& config, const ParallelPlan& plan) {
  return habits_of(plan.cluster).keeps_masks && is_dropping(plan) ? Bytes(size.local_tokens * config.hidden) : Bytes{};
}

// Logits of a tensor rank's part of the vocabulary need sums between a piece's product and its loss: no kernel of both does them, but operators, piece by
// piece (torchtitan/components/loss.py, ChunkedLossWrapper).
bool is_in_pieces(const ParallelPlan& plan) {
  const SoftwareStack& habits = habits_of(plan.cluster);
  const bool is_possible = plan.mesh.tensor == 1 || (habits.by_operator && habits.vocabulary_parallel);
  return habits.loss_in_pieces && is_possible && !plan.splits_backward() && !plan.model.head_transform;
}

// A piece has as many tokens as make its logits about as large as all hidden states (Hsu et al. 2024, Liger Kernel, section 3.2): they are
// overwritten by their gradient, beside fp32 of them.
Bytes logits_of_piece(const SegmentSizes& size, const ParallelPlan& plan) {
  constexpr std::int64_t kWide = 4;
  const std::int64_t pieces = std::max<std::int64_t>(1, (size.vocabulary + plan.model.hidden - 1) / plan.model.hidden);
  return Bytes((size.element.value() + kWide) * size.vocabulary * ((tokens_with_loss(plan) + pieces - 1) / pieces));
}

// What leads from the blocks' rows to the projection; 0: nothing does.
std::int64_t transformed_width(const ModelConfig& config) {
  return config.head_transform && !config.narrow_tables ? config.hidden : config.embedding_width;
}

// One kernel's logits are overwritten; others hold fp32 of the softmax until the backward, which adds its gradients.
void add_head(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan) {
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
  if (is_in_pieces(plan)) {
    memory.keep({"gradient of the head's inputs", size.normalized * heads});
    memory.backward_temporary = logits_of_piece(size, plan);
    return;
  }
  memory.keep_normalized(size.normalized, size.keeps_first);
  memory.keep({"logits", scaled(Bytes(logits), kept) + size.statistic * ((habits.by_operator ? 0 : 3) * heads * size.tokens)});
  memory.backward_temporary = scaled(Bytes(logits), std::max(0.0, peak - kept));
  if (plan.model.logit_cap > 0 && !habits.keeps_masks)
    memory.backward_temporary += scaled(Bytes(logits), element);  // the worker's slope of the cap
  if (plan.model.head_transform)                                  // what its activation, its norm and the projection read
    memory.keep({"transform", size.elements(3 * transformed_width(plan.model)) + size.statistic * (2 * size.tokens)});
  const Bytes further = plan.model.predicts_apart() ? Bytes{} : memory.stream;  // else they come as it does
  if (heads > 1) memory.keep({"further inputs", (further + memory.statistics + size.normalized) * (heads - 1)});
  if (plan.model.embedding_width > 0 && !plan.model.narrow_tables)
    memory.keep({"rows as wide as the token table", size.elements(plan.model.embedding_width)});
  const Bytes transformed = size.elements(transformed_width(plan.model));
  memory.weight_inputs = size.normalized * heads + transformed;
  memory.output_gradients = size.elements(size.vocabulary * heads) + transformed;
  if (plan.splits_backward()) memory.backward_temporary += transformed * 2;  // beside logits, and what the projection read
}

// In front of a block that predicts a further token: the token's embedding and both norms' outputs, which one product reads.
void add_joined(SegmentMemory& memory, const SegmentSizes& size, const ModelConfig& config) {
  memory.keep_normalized(size.normalized, size.keeps_first);
  memory.keep({"normalized embedding", size.normalized});
  memory.keep({"embedding of the next token", size.elements(config.hidden) + memory.statistics});
  memory.backward_temporary = size.elements(2 * config.hidden);
  memory.weight_inputs = size.normalized * std::int64_t{2};
  memory.output_gradients = size.elements(config.hidden);
}

bool is_norm_behind(const Operator& op) { return op.name == "norm_behind"; }

// Those of a segment's output and of heads keep what they read.
void add_norms(SegmentMemory& memory, const SegmentSizes& size, const ModelConfig& config, const SegmentGraph& segment) {
  const bool is_attention = segment.has(OperatorKind::Attention),
             has_head_norms = std::ranges::find(segment.operators, "qk_norm", &Operator::name) != segment.operators.end();
  if (std::ranges::any_of(segment.operators, is_norm_behind)) memory.keep({"what the norm behind read", size.rows + memory.statistics});
  if (config.layer_scale && (is_attention || segment.name == Operation::Mlp))
    memory.keep({"what a factor of each channel read", size.rows});
  if (!is_attention || !has_head_norms) return;
  const std::int64_t keys = size.head.made_before ? 0 : config.value_norm ? size.key_value : size.key_value / 2;
  const std::int64_t width = size.query + keys, norms = config.qk_norm == QkNorm::Joint ? 2 : width / size.head.key_width;
  memory.keep({.tensor = "heads before their norms",
               .bytes = size.elements(width) + size.statistic * (size.tokens * norms),
               .modules = Module::Op,
               .saved_by = Module::QkvProduct});
}

// A norm behind the sum goes backward first: its gradient takes the place of the one that it read, and what it had kept is gone when the rest of the segment
// runs. One of what is added makes a gradient beside the stream's in place of that. Tensor ranks have it in a task in front. Other programs' is told without.
void pass_norm_behind(SegmentMemory& memory, const SegmentSizes& size, const SegmentGraph& segment, const ParallelPlan& plan) {
  const NormPlace place = plan.model.norm_place;
  const bool is_of_sum = place == NormPlace::AfterSum || place == NormPlace::Before;
  if (!is_of_sum || std::ranges::none_of(segment.operators, is_norm_behind) || habits_of(plan.cluster).keeps_masks) return;
  const Bytes of_norm = plan.mesh.tensor == 1 ? size.rows : Bytes{};
  memory.backward_temporary = std::max(of_norm, memory.backward_temporary - size.rows - memory.statistics);
}

// What a wide norm puts out stands beside what is cast of it, and its gradient beside what was cast to it: of the widest norm.
void add_wide_norms(SegmentMemory& memory, const SegmentSizes& size, const SegmentGraph& segment, const ParallelPlan& plan) {
  if (!plan.workload.precision.of(WideKind::Norms)) return;
  for (const Operator& op : segment.operators) {
    if (op.kind != OperatorKind::Norm) continue;
    const std::int64_t width = op.outputs / (op.split == TensorSplit::None ? 1 : plan.mesh.tensor);
    const Bytes wide = plan.bytes_of_norms() * ((op.gathered ? size.tokens : size.local_tokens) * op.copies * width);
    memory.forward_temporary = std::max(memory.forward_temporary, wide);
    memory.backward_temporary = std::max(memory.backward_temporary, wide);
  }
}

// In front of a last product, what it read; of a head whose rows are normed, those rows.
void add_norms_of_products(SegmentMemory& memory, const SegmentSizes& size, const SegmentGraph& segment, const ParallelPlan& plan) {
  for (const Operator& op : segment.operators) {
    if (op.name == "inner_norm")
      memory.keep({"what the inner norm read", size.elements(op.inputs / plan.mesh.tensor) + size.statistic * size.tokens, Module::Op});
    if (op.scales_rows)
      memory.keep({"normed rows of the head", size.element * (size.vocabulary * op.inputs) + size.statistic * size.vocabulary});
  }
}

// Of the encoder's places: two frames, two rows before and behind the first activation, one before the second.
void add_sound(SegmentMemory& memory, const ParallelPlan& plan) {
  if (!plan.model.encoder || !plan.model.encoder->hears()) return;
  const ShardShape shape = of_tokens(Tokens::Source, plan.model, plan.shard_shape());
  const std::int64_t places = shape.sequence_parallel ? shape.tokens() / shape.tensor : shape.tokens(),
                     width = 2 * plan.model.encoder->frame_width + 5 * plan.model.hidden;
  memory.keep({"what convolutions over sound read", plan.bytes(Numbers::Activations) * (places * width)});
}

// Behind a feed-forward: what is multiplied with the block's own input.
void add_layer_input(SegmentMemory& memory, const SegmentSizes& size, const SegmentGraph& segment, const ModelConfig& config) {
  if (std::ranges::find(segment.operators, "layer_gate", &Operator::name) == segment.operators.end()) return;
  memory.keep({"a block's input", size.element * (size.local_tokens * (2 * config.hidden + 3 * config.layer_inputs))});
}

// The gradient with zeros for other ranks' rows. Autograd makes that of all ranks' rows in place of it; units count it with their gradients.
Bytes embedding_temporary(const ModelGraph& model, const SegmentSizes& size, const ParallelPlan& plan) {
  const SoftwareStack& habits = habits_of(plan.cluster);
  if (!habits.by_operator) return size.elements(model.config.hidden);
  return habits.unit_buffers ? Bytes{} : plan.bytes(Numbers::Weights) * (model.padded_vocabulary * model.config.hidden);
}

// Modules of a segment that send what they save to the host.
Modules sent_by(const ParallelPlan& plan, const SegmentGraph& segment) {
  if (!sends_stream(plan.model, segment)) return {};
  return segment.attention() ? plan.offload_modules
                             : plan.offload_modules.without(Module::QkvProduct);  // of experts nothing is the latter's
}

// What is kept, what is made again, and what of the former goes to the host.
SegmentMemory settled(SegmentMemory memory, Modules recomputed, Modules sent = {}, Bytes least = {}) {
  for (const Kept& tensor : memory.tensors) {
    const bool by_name = (tensor.modules.without(Module::Op)).meets(recomputed),
               by_op = tensor.modules.has(Module::Op) && recomputed.has(Module::Op);
    const Bytes dropped = by_name ? tensor.bytes : by_op ? scaled(tensor.bytes, tensor.by_op) : Bytes{};
    memory.dropped += dropped;
    memory.kept += tensor.bytes - dropped;
    if (tensor.saved_by.meets(sent) && tensor.bytes - dropped >= least) memory.on_host += tensor.bytes - dropped;
    if (tensor.inside) memory.inside += tensor.bytes - dropped;
    if (tensor.modules.has(Module::LayerNorm)) memory.of_norm += tensor.bytes - dropped;
  }
  memory.entering = std::max(Bytes{}, memory.entering + memory.of_norm);
  return memory;
}

// Maps: what backward reads of each operator (map_operators). What goes in and out is the layer's (memory_effects).
SegmentMemory memory_of_maps(const ParallelPlan& plan, const SegmentGraph& segment) {
  SegmentMemory memory;
  for (const Operator& op : segment.operators) memory.keep({op.name, kept_of_map(op, plan)});
  return settled(std::move(memory), {});
}

Bytes statistics_of_norm(const SegmentSizes& size, const ModelConfig& config) {
  return size.statistic * (size.local_tokens * (config.norm == Norm::LayerNorm ? 2 : 1));
}

void add_embedding(SegmentMemory& memory, const SegmentSizes& size, const ModelGraph& model, const ParallelPlan& plan) {
  const ModelConfig& config = model.config;
  if (plan.mesh.tensor > 1) memory.backward_temporary = embedding_temporary(model, size, plan);
  memory.keep({"masks", mask_bytes(size, config, plan)});
  const Bytes at_table = config.narrow_tables ? size.elements(config.embedding_width) : memory.stream;
  if (config.embedding_norm) memory.keep({"what the norm read", at_table + statistics_of_norm(size, config)});
  if (config.narrow_tables) memory.keep({"what widens the embedding", at_table});
  add_sound(memory, plan);
  if (config.layer_inputs > 0)  // of all blocks, before and behind their norm
    memory.keep({"inputs of blocks", size.element * (size.local_tokens * 2 * config.layer_inputs * config.layers)});
  if (config.patches) memory.keep({"patches", size.elements(config.patches->width() / plan.mesh.tensor)});
}

// Of the norm in front: its statistics, unless it is made again, and what tensor ranks gather of it.
void add_normalized(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan, const SegmentGraph& segment) {
  if (plan.recomputed_modules() != Modules(Module::Op)) memory.statistics = statistics_of_norm(size, plan.model);
  const bool in_parts = routes_parts(plan, segment);
  memory.normalized = in_parts ? size.normalized : stream_of(plan);
  if (!in_parts && size.normalized < size.elements(plan.model.hidden)) memory.regathered = memory.normalized;
}

// Of a block.
void add_core(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan, const SegmentGraph& segment) {
  const ModelConfig& config = plan.model;
  const bool is_attention = segment.has(OperatorKind::Attention), is_expert = segment.has(OperatorKind::Routing),
             is_joining = segment.has(OperatorKind::EmbeddingLookup), is_linear = segment.name == Operation::LinearAttention,
             is_mlp = !is_attention && !is_expert && !is_joining && !is_linear;
  if (is_attention) add_attention(memory, size, plan);
  if (is_linear) add_scan(memory, size, plan);
  if (is_expert) add_experts(memory, size, plan);
  if (is_joining) add_joined(memory, size, config);
  if (is_mlp) add_mlp(memory, size, plan);
  add_norms(memory, size, config, segment);
  add_layer_input(memory, size, segment, config);
  add_adapters(memory, size, segment, plan);
  add_rounded(memory, size, segment, plan);
  add_unfused(memory, size, config, plan, is_mlp);
  memory.keep({"masks", mask_bytes(size, config, plan)});
}

}  // namespace

SegmentMemory segment_memory(const ModelGraph& model, const ParallelPlan& plan, const SegmentGraph& segment) {
  if (model.config.convolution) return memory_of_maps(plan, segment);
  const SegmentSizes size = segment_sizes(model, plan, segment);
  SegmentMemory memory;
  memory.stream = stream_of(plan) / (plan.sequence_parallel ? plan.mesh.tensor : 1);
  if (!segment.starts_with_side()) {
    add_embedding(memory, size, model, plan);
    return settled(std::move(memory), {});
  }
  const bool is_head = !segment.leaves_tensor();
  add_normalized(memory, size, plan, segment);
  is_head ? add_head(memory, size, plan) : add_core(memory, size, plan, segment);
  add_norms_of_products(memory, size, segment, plan);
  add_wide_norms(memory, size, segment, plan);
  add_rows(memory, size, plan, segment);
  pass_norm_behind(memory, size, segment, plan);
  // Gradients kept wider than the products: the largest weight's product stands beside its sum.
  if (plan.bytes(Numbers::Gradients) > plan.bytes(Numbers::Weights)) memory.weight_product = largest_weight(size, segment, plan.mesh);
  memory.backward_temporary = std::max(memory.backward_temporary, memory.weight_product);
  const Modules sent = inputs_on_host(model, plan, segment) > Bytes{} ? sent_by(plan, segment) : Modules();
  if (const auto module = sends_stream(model.config, segment); module && sent.has(*module) && is_large_enough(plan, memory.stream))
    memory.on_host = memory.stream;
  return settled(std::move(memory), is_head ? Modules() : plan.recomputed_modules(), sent, size.element * plan.offload_least);
}

}  // namespace sim
