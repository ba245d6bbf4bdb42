#include "sim/cost/task_kernels.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "sim/clock/expert_load.h"
#include "sim/clock/operator_clock.h"
#include "sim/cost/adapter_memory.h"
#include "sim/cost/cast_kernels.h"
#include "sim/cost/head_widths.h"
#include "sim/cost/loss_tokens.h"
#include "sim/cost/map_operators.h"
#include "sim/cost/scan_memory.h"
#include "sim/cost/unit_copies.h"
#include "sim/plan/scaled_products.h"
#include "sim/plan/token_route.h"
#include "sim/task_graph/layer_tasks.h"
#include "sim/units/at.h"

namespace sim {
namespace {

// Shares of a cross-entropy: the maximum reads the logits once, exponentials and their sum read them again and compute.
constexpr double kLossShares[] = {1.0 / 3.0, 2.0 / 3.0};
constexpr double kOneWay = 0.5;  // of a permutation and its way back

struct LocalShape {
  std::int64_t tokens, inputs, outputs;  // of an expert: its tokens
  std::int64_t products = 0;             // of experts: so many at once
  std::int64_t rows() const { return tokens * std::max<std::int64_t>(1, products); }
  double weights() const { return real(inputs) * real(outputs) * real(std::max<std::int64_t>(1, products)); }
};

class Writer {
 public:
  Writer(const ModelGraph& model, const ParallelPlan& plan, const LayerTask& task, const std::vector<Operator>& of_segment)
      : model_(model),
        plan_(plan),
        shape_(plan.shard_shape()),
        documents_(task.attention),
        copies_(unit_copies(plan, task.phase)),
        slice_(task.slice),
        splits_((plan.splits_backward() && task.layer != LayerIndex(0)) || plan.delays_weights(task.layer, task.microbatch)),
        in_head_(task.layer == model.head()),
        in_routed_(std::ranges::any_of(of_segment, [](const Operator& op) { return op.experts > 0; })),
        is_first_(task.layer == LayerIndex(1) && model.config.adapters && plan.recompute != Recompute::Full) {}

  void forward(const Operator& op, const Parts& parts);
  void again(const Operator& op);                         // where its output was not kept
  void backward(const Operator& op, const Parts& parts);  // without weight gradients where the schedule splits them off
  void weight_gradient(const Operator& op);               // of a linear layer
  // With delay_wgrad weights of experts alone: the router's, and shared experts', come with their backward, behind the exchange.
  bool is_put_off(const Operator& op) const { return splits_ && (!plan_.delay_wgrad || !in_routed_ || op.experts > 0); }
  void add(Kernel kernel, KernelShape shape, double share = 1.0) { calls_.push_back({kernel, shape, share}); }
  void copy(const LocalShape& at, double bytes) { bytes > 0 ? add(Kernel::Copy, {std::llround(at.weights() * bytes / 2)}) : void(); }
  std::int64_t tokens() const { return in_head_ ? tokens_with_loss(plan_) : shape_.tokens(); }
  std::int64_t tokens(const Operator& op) const { return in_head_ ? tokens() : of_tokens(op.tokens, model_.config, shape_).tokens(); }
  std::vector<KernelCall> take() && { return std::move(calls_); }

 private:
  void add_all(const std::vector<KernelCall>& calls) { calls_.insert(calls_.end(), calls.begin(), calls.end()); }
  void whole_forward(const Operator& op);
  void cut_loss(const Operator& op, const Parts& parts);
  LocalShape local(const Operator& op) const;
  void product(Kernel kernel, const Operator& op);
  void dequantize(const Operator& op, Pass pass);
  LocalShape of_experts(const Operator& op, LocalShape shape) const;
  void permutation(const LocalShape& at, Pass pass);
  void join_latent();
  void attention_forward(const Operator& op);
  void attention_backward(const Operator& op);
  void attention(Kernel kernel, const Operator& op);
  void attention_of_slice(Kernel kernel, const Operator& op);
  double attention_share() const;
  bool drops_scores() const;
  void attend_again(const Operator& op);
  bool ends_here(const Operator& op) const;
  bool begins_again(const Operator& op);
  void beside_adapter(const Operator& op);
  void score_dropout(Kernel kernel, const Operator& op) {
    const auto count = [&](Tokens which) { return tokens_in(which, model_.config, shape_.sequence); };
    add(kernel, {shape_.microbatch * op.heads.queries / shape_.tensor * count(op.tokens), count(op.keys_of)});
  }
  bool is_gated(const Operator& op) const { return op.kind == OperatorKind::Activation && op.inputs > op.outputs; }
  void scan(Pass pass);
  void sparse(Kernel kernel, double share = 1.0);
  void index(Kernel kernel);
  void index_backward(const Operator& op);
  KernelShape attention_shape(const Heads& heads) const {
    const std::int64_t ranks = shape_.tensor * plan_.head_ranks();
    return {shape_.microbatch, heads.queries / ranks, shape_.sequence, kernel_head_widths(plan_, heads).mean()};
  }

  const ModelGraph& model_;
  const ParallelPlan& plan_;
  ShardShape shape_;
  AttentionWork documents_;
  UnitCopies copies_;
  SliceIndex slice_;
  bool splits_, in_head_, in_routed_, is_first_, has_projected_again_ = false;
  std::vector<KernelCall> calls_;
};

// Nothing in front of the first adapter is trained: no gradient goes on from the first products that the stream meets. Where blocks are recomputed
// programs ask for the gradient of their input all the same, else nothing would run again (enable_input_require_grads of Transformers).
bool Writer::ends_here(const Operator& op) const {
  if (!is_first_ || model_.layer(LayerIndex(1)).segments.empty()) return false;
  const std::vector<Operator>& first = model_.layer(LayerIndex(1)).segments.front().operators;
  const auto adapter = std::ranges::find(first, AdapterPart::Down, &Operator::adapter);
  return adapter != first.end() && std::any_of(first.begin(), adapter + 1, [&](const Operator& one) { return one.name == op.name; });
}

// The fullest rank: everyone waits for it.
LocalShape Writer::of_experts(const Operator& op, LocalShape shape) const {
  if (plan_.mesh.cuts_experts_apart()) shape.tokens = shape.tokens / plan_.mesh.tensor * plan_.mesh.expert_cut();  // each sends its part
  const std::int64_t ranks = plan_.mesh.expert, held = op.experts / ranks;
  const double load = expert_load(*model_.config.experts, plan_.workload.expert_loads, ranks, common_behavior());
  const double each = real(shape.tokens * op.copies) * load / real(held);
  return {static_cast<std::int64_t>(std::ceil(each)), shape.inputs, shape.outputs, held};
}

LocalShape Writer::local(const Operator& op) const {
  const std::int64_t dealt = op.of_scan ? shape_.context : 1;  // ranks that have a part of the heads, and all tokens
  const std::int64_t t = op.experts > 0 ? plan_.mesh.expert_cut() : shape_.tensor * dealt;
  const std::int64_t tokens = this->tokens(op) * (op.experts > 0 ? 1 : op.copies) * dealt;
  if (op.kind == OperatorKind::Permutation) return of_experts(op, {tokens, op.inputs, op.outputs});
  const bool is_part = shape_.sequence_parallel && (!op.gathered || (op.routes && plan_.mesh.cuts_experts_apart()));
  if (op.split == TensorSplit::None) return {is_part ? tokens / t : tokens, op.inputs, op.outputs};
  const LocalShape whole{tokens, op.split == TensorSplit::Columns ? op.inputs / t : op.inputs,
                         op.split == TensorSplit::Rows ? op.outputs / t : op.outputs};
  if (op.experts > 0) return of_experts(op, whole);
  switch (op.kind) {
    case OperatorKind::EmbeddingLookup:
    case OperatorKind::CrossEntropy: return {tokens, op.inputs / t, op.outputs};
    case OperatorKind::Linear:
      return op.split == TensorSplit::Rows ? LocalShape{tokens, op.inputs, op.outputs / t} : LocalShape{tokens, op.inputs / t, op.outputs};
    default: break;
  }
  const std::int64_t inputs = inputs_of_rank(op, t);
  return {tokens, inputs, op.outputs == op.inputs ? inputs : op.outputs / t};
}

void Writer::product(Kernel kernel, const Operator& op) {
  const LocalShape at = local(op);
  const bool is_adapter = op.adapter == AdapterPart::Down && kernel != Kernel::LinearInputGradient;
  const TensorSplit behind_gather = kernel == Kernel::LinearForward ? TensorSplit::Rows : TensorSplit::Columns;
  calls_.push_back({.kernel = kernel,
                    .shape = {at.tokens, at.outputs, at.inputs, at.products},
                    .unscaled = op.unscaled,
                    .gathered_rows = kernel != Kernel::LinearWeightGradient && op.experts == 0 && op.split == behind_gather,
                    .wide = is_router(op) ? plan_.workload.precision.of(WideKind::Routers) : std::nullopt,
                    .unscaled_share = real(op.unscaled_outputs) / real(op.outputs),
                    .adds_bias = op.experts > 0 && op.bias && op.split == TensorSplit::Columns && kernel != Kernel::LinearWeightGradient,
                    .adapted = is_adapter ? op.outputs / model_.config.adapters->rank : 0});
}

// PEFT (peft/tuners/lora/layer.py): what the second product of an adapter puts out is scaled by a kernel of its own. Where its weights are fp32, each wrapped
// product casts its input to them (_cast_input_dtype), and autocast casts it back; in pure 16 bit there is nothing to cast. Gradients pass through the same.
void Writer::beside_adapter(const Operator& op) {
  constexpr std::int64_t kCasts = 6, kScaling = 2;  // bytes of a 16-bit number's copy, which reads and writes: 2 + 4, 4 + 2; 2 + 2
  constexpr std::int64_t kWide = 2;                 // fp32 is dropped: as many bytes more as 16 bit are read and written
  if (!plan_.cluster.software.unfused_adapters) return;
  const LocalShape at = local(op);
  if (op.adapter == AdapterPart::Up) add(Kernel::Copy, {at.tokens * at.outputs * kScaling});
  if (!plan_.workload.precision.has_masters()) return;
  if (op.adapter == AdapterPart::Down) add(Kernel::Copy, {at.tokens * at.inputs * (op.outputs / model_.config.adapters->rank) * kCasts});
  if (op.adapter == AdapterPart::Dropout) add(Kernel::Copy, {at.tokens * at.outputs * kWide});
}

// 16 bit are made of a quantized weight for each use of it, at half the rate of a copy: 4,096 x 14,336 of nf4 (bitsandbytes 0.50) take 2.4 passes of 16 bit, of
// GPTQ (dequant_kernel_248 of GPTQModel) 2.7, in place of 1.26 (H200). What operators unpacked in the forward waits for the backward.
void Writer::dequantize(const Operator& op, Pass pass) {
  constexpr double kUnpacking = 2;
  const double of_weights = real(plan_.bytes(Numbers::Weights).value());
  const bool is_quantized = op.frozen && !in_head_ && plan_.model.adapters && plan_.model.adapters->base != BaseFormat::Weights;
  if (!is_quantized || reads_frozen_as_kept(plan_)) return;
  const LocalShape at = local(op);
  const double weights = at.weights();
  if (unpacks_by_operator(plan_)) return pass == Pass::Forward ? add_all(unpacking(weights)) : void();
  add(Kernel::Copy, {std::llround(kUnpacking * weights * (base_bytes(plan_.model.adapters->base, of_weights) + of_weights) /
                                  2)});  // a copy reads and writes
}

// A program that moves rows operator by operator, where no library does (torchtitan/models/moe.py and its expert_parallel of 2025). Bytes of a number, there and
// back, forward: gathered 4, weighed in fp32 6 + 8 + 6, padded 4, ordered 4; ordered 4, summed 6. Backward: 4, 4, 8 by a sum into zeros, casts and both gradients
// of weighing 6 + 8 + 16 + 6, summed 6. A compiler fuses what the kernel of a permutation stands for.
void Writer::permutation(const LocalShape& at, Pass pass) {
  constexpr std::int64_t kForward = 42, kBackward = 58, kPriced = kPermutationPasses * 2;
  add(Kernel::Permutation, {at.rows(), at.outputs}, kOneWay);
  const SoftwareStack& program = plan_.cluster.software;
  if (!program.by_operator || program.compiled || reaches_nodes_once(plan_) || plan_.bytes(Numbers::Activations) != Bytes(2)) return;
  const std::int64_t more = (pass == Pass::Forward ? kForward : kBackward) - kPriced;
  add(Kernel::Copy, {at.rows() * at.outputs * more / 4});  // of both ways this is one, and a copy reads and writes
}

// The turned part of a key goes beside the rest of it, for every head: queries, keys and values are copied. Sparse: queries alone, as wide as the latent key.
void Writer::join_latent() {
  if (model_.config.attention.kind != AttentionKind::Latent) return;
  const AttentionWidths widths = attention_widths(model_.config);
  const AttentionForm& form = model_.config.attention;
  const std::int64_t joint = form.is_sparse() ? 2 * model_.config.heads * form.shared_key() : 2 * widths.query + widths.key + widths.value;
  const std::int64_t copied = joint / shape_.tensor;
  add(Kernel::Copy, {tokens() * copied * plan_.bytes(Numbers::Activations).value()});
}

// Of the queries: a context rank has its part of them (or of the heads), and meets the keys block by block in a ring.
double Writer::attention_share() const {
  const double part = 1.0 / static_cast<double>(plan_.block_ranks());
  return plan_.context_algorithm == ContextAlgorithm::AllGather ? part : part * part;
}

// Its own tokens are a causal block; those of each slice before it a block twice as full, which gives a part of the output that is joined. (Of the
// backward: a part of the queries' gradient.)
void Writer::attention_of_slice(Kernel kernel, const Operator& op) {
  KernelShape shape = attention_shape(op.heads);
  shape[2] /= shape_.slices;
  const double before = slice_.exists() ? slice_.value() : real(shape_.slices - 1) / 2, length = real(shape[2]);
  add(kernel, shape, 1 + before * 2 * length / (length + 1));
  if (before > 0) add(Kernel::ResidualForward, {shape_.tokens(), shape[1] * shape[3]}, before);
}

// A kernel is described by causal samples. With a window of w, queries see as many keys as in samples of 2 w, of which there are as many tokens;
// those at the start of a sample see fewer. Chunks are such samples themselves, and so are documents. An encoder's see all. A kernel that skips nothing has
// whole samples, whatever a window hides, and meets every key with every query once, whichever of two stacks they are of.
void Writer::attention(Kernel kernel, const Operator& described) {
  Operator op = described;
  const bool skips = skips_hidden(attention_kernel(plan_, plan_.cluster.software));
  if (!skips) op.window = 0;
  KernelShape shape = attention_shape(op.heads);
  const bool has_documents = documents_.length > 0;
  double pairs = has_documents ? documents_.pairs : attention_pairs(real(shape[2]), op, model_.config);
  if (has_documents) shape[2] = documents_.length;
  const std::int64_t queries = tokens_in(op.tokens, model_.config, shape_.sequence),
                     keys = tokens_in(op.keys_of, model_.config, shape_.sequence);
  if (model_.config.encoder) shape[2] = std::max(queries, keys);
  if (op.window > 0) shape[2] = std::min(shape[2], op.chunked ? op.window : 2 * op.window);
  const double length = real(shape[2]), causal = length * (length + 1) / 2;
  if (model_.config.encoder && !skips) pairs = causal * real(queries) / length * real(keys) / length;
  add(kernel, shape, pairs == causal ? attention_share() : attention_share() * pairs / causal);
}

// A pass over all pairs of positions: where scores are written, unless the program's price of them has it already, and in the worker, whose kernel draws
// beside a place's number. Other kernels drop inside (Dao et al. 2022, algorithm 2).
bool Writer::drops_scores() const {
  const SoftwareStack& software = plan_.cluster.software;
  if (model_.config.attention_dropout == 0) return false;
  return !habits_of(plan_.cluster).keeps_masks || (writes_scores(attention_kernel(plan_, software)) && !software.dropout);
}

void Writer::attention_forward(const Operator& op) {
  if (model_.config.attention.is_sparse()) return sparse(Kernel::SparseForward);
  if (shape_.slices > 1) return attention_of_slice(Kernel::AttentionForward, op);
  attention(Kernel::AttentionForward, op);
  if (drops_scores()) score_dropout(Kernel::DropoutForward, op);
}

void Writer::attention_backward(const Operator& op) {
  if (model_.config.attention.is_sparse()) return sparse(Kernel::SparseBackward);
  if (shape_.slices > 1) return attention_of_slice(Kernel::AttentionBackward, op);
  const bool drops = drops_scores();
  if (drops && plan_.recomputes_scores() && !in_head_) attend_again(op);
  attention(Kernel::AttentionBackward, op);
  if (drops) score_dropout(Kernel::DropoutBackward, op);
}

// Selective: the forward in the backward. Where scores are written, the backward's price has their products and the softmax.
void Writer::attend_again(const Operator& op) {
  if (habits_of(plan_.cluster).keeps_masks) return score_dropout(Kernel::DropoutForward, op);
  attention_forward(op);
}

void Writer::scan(Pass pass) {
  const ShardShape shape = by_heads(shape_);
  const Scan one = scan_of(*model_.config.linear, {.tokens = shape.tokens(), .sample = shape.sequence, .ranks = shape.tensor});
  constexpr std::pair<Kernel, Kernel> kScans[] = {{Kernel::StateSpaceForward, Kernel::StateSpaceBackward},  // by LinearRule
                                                  {Kernel::DeltaRuleForward, Kernel::DeltaRuleBackward},
                                                  {Kernel::ChannelDeltaForward, Kernel::ChannelDeltaBackward},
                                                  {Kernel::SelectiveScanForward, Kernel::SelectiveScanBackward}};
  const auto& [forward, backward] = sim::at(kScans, one.rule);
  add(pass == Pass::Forward ? forward : backward, {one.tokens, one.heads, one.groups, one.key, one.value, one.chunk});
  if (pass == Pass::Forward || !is_one_call(*model_.config.linear)) return;
  add(Kernel::ActivationForward, {one.tokens, one.heads});  // convolved and steps are made again
  add(Kernel::LinearForward, {one.tokens, one.heads, model_.config.linear->step_rank});
}

void Writer::sparse(Kernel kernel, double share) {
  const AttentionForm& form = model_.config.attention;
  add(kernel, {shape_.microbatch, model_.config.heads / shape_.tensor, shape_.sequence, form.shared_key(), form.kv_lora, form.indexer.topk},
      share);
}

void Writer::index(Kernel kernel) {
  const Indexer& indexer = model_.config.attention.indexer;
  add(kernel, {shape_.microbatch, indexer.heads, shape_.sequence, indexer.width, indexer.topk});
}

// Its loss compares its scores with attention's, which are made again: of a forward the product of queries and keys.
void Writer::index_backward(const Operator& op) {
  if (op.frozen) return;
  const AttentionForm& form = model_.config.attention;
  sparse(Kernel::SparseForward, real(form.shared_key()) / real(form.shared_key() + form.kv_lora));
  index(Kernel::IndexerBackward);
}

void Writer::whole_forward(const Operator& op) {
  if (is_of_maps(op)) return add_all(map_forward(op, plan_));
  const LocalShape at = local(op);
  add_all(beside_stream(op, at.tokens * op.outputs, plan_, Pass::Forward));
  add_all(beside_norm(op, at.tokens * at.outputs, plan_));
  switch (op.kind) {
    case OperatorKind::EmbeddingLookup: return add(Kernel::EmbeddingForward, {at.tokens, at.outputs});
    case OperatorKind::Norm: return add(Kernel::NormForward, {at.tokens, at.outputs});
    case OperatorKind::Linear:
      dequantize(op, Pass::Forward);
      if (op.scales_rows) add(Kernel::NormForward, {at.outputs, at.inputs});
      product(Kernel::LinearForward, op);
      beside_adapter(op);
      if (op.adapter == AdapterPart::Up) add(Kernel::ResidualForward, {at.tokens, at.outputs});  // to what the frozen product put out
      return;
    case OperatorKind::Routing: return add(Kernel::Routing, {at.tokens, at.outputs}, width_of_scores(plan_));
    case OperatorKind::Permutation: return permutation(at, Pass::Forward);
    case OperatorKind::Rotary:
      if (!op.gathered) join_latent();
      return add(Kernel::RotaryForward, {at.tokens, at.outputs});
    case OperatorKind::Attention: return attention_forward(op);
    case OperatorKind::Scan: return scan(Pass::Forward);
    case OperatorKind::Indexer: return index(Kernel::IndexerForward);
    case OperatorKind::CausalConvolution:
      return add(Kernel::ActivationForward, {at.tokens, at.outputs});  // which it ends with: as many bytes
    case OperatorKind::Activation:
      return add(is_gated(op) ? Kernel::GatedActivationForward : Kernel::ActivationForward, {at.rows(), at.outputs});
    case OperatorKind::Residual: return add(Kernel::ResidualForward, {at.tokens, at.outputs});
    case OperatorKind::CrossEntropy: return add(Kernel::CrossEntropyForward, {at.tokens, at.inputs});
    case OperatorKind::Dropout: beside_adapter(op); return add(Kernel::DropoutForward, {at.tokens, at.outputs});
    default: return;  // of maps
  }
}

// A loss that tensor ranks cut runs part by part: maximum, exponentials, and what is left is a number a token.
void Writer::cut_loss(const Operator& op, const Parts& parts) {
  for (std::int32_t at = 0; at < op.spans; ++at) {
    if (!parts.has(op.part + at)) continue;
    if (std::cmp_less(at, std::size(kLossShares)))
      add(Kernel::CrossEntropyForward, {local(op).tokens, local(op).inputs}, kLossShares[at]);
    else
      add(Kernel::ResidualForward, {tokens(), 1});
  }
}

MapPart halves_of(const Operator& op, const Parts& parts) {
  return {.first = parts.has(op.part), .second = parts.has(op.part + op.spans - 1)};
}

void Writer::forward(const Operator& op, const Parts& parts) {
  if (op.kind == OperatorKind::Linear) copy(local(op), copies_.gathered);
  if (is_of_maps(op) && op.spans > 1)
    add_all(map_forward(op, plan_, halves_of(op, parts)));
  else if (parts.has(op.part) && parts.has(op.part + op.spans - 1))
    whole_forward(op);
  else
    cut_loss(op, parts);
}

// The first operator that the backward meets of a module that is made again: each norm is one. Those with an activation or attention are told by these.
bool Writer::begins_again(const Operator& op) {
  if (op.modules.has(Module::LayerNorm)) return true;
  const bool is_projection = op.kind == OperatorKind::Linear && op.modules.has(Module::MlaUpProjection);
  return is_projection && !std::exchange(has_projected_again_, true);
}

// Of products `op` makes every second one again, and of experts all: what is kept is a list of operators, which has products and exchanges, but neither grouped
// products nor copies of rows (torchtitan/distributed/activation_checkpoint.py; get_default_op_list of torch/_functorch/partitioners.py).
void Writer::again(const Operator& op) {
  const Modules recomputed = in_head_ ? Modules() : plan_.recomputed_modules();
  const bool by_name = op.modules.without(Module::Op).meets(recomputed), is_copy = op.kind == OperatorKind::Permutation;
  if (!op.modules.meets(recomputed) || (is_copy && !by_name && plan_.sends_tokens())) return;
  const std::size_t begin = calls_.size();
  whole_forward(op);
  if (by_name && begin < calls_.size()) calls_[begin].reruns_module = begins_again(op);
  const bool is_listed = op.kind == OperatorKind::Linear && op.experts == 0;
  for (std::size_t at = begin; at < calls_.size() && is_listed && !by_name; ++at) calls_[at].share *= 0.5;
}

void Writer::backward(const Operator& op, const Parts& parts) {
  if (is_of_maps(op)) return add_all(map_backward(op, plan_, halves_of(op, parts)));
  const LocalShape at = local(op);
  add_all(beside_stream(op, at.tokens * op.outputs, plan_, Pass::Backward));
  add_all(beside_norm(op, at.tokens * at.outputs, plan_));
  switch (op.kind) {
    case OperatorKind::EmbeddingLookup: return op.frozen ? void() : add(Kernel::EmbeddingBackward, {at.tokens, at.outputs});
    case OperatorKind::Norm: return ends_here(op) ? void() : add(Kernel::NormBackward, {at.tokens, at.outputs});
    case OperatorKind::Linear:
      dequantize(op, Pass::Backward);
      copy(at, copies_.gathered);
      beside_adapter(op);
      if (!op.map.of_images && !op.detached && !ends_here(op)) product(Kernel::LinearInputGradient, op);
      if (op.adapter == AdapterPart::Down && !ends_here(op))
        add(Kernel::ResidualForward, {at.tokens, at.inputs});  // to the frozen product's
      if (!is_put_off(op)) weight_gradient(op);
      return;
    case OperatorKind::Routing: return add(Kernel::Routing, {at.tokens, at.outputs}, width_of_scores(plan_));
    case OperatorKind::Permutation: return permutation(at, Pass::Backward);
    case OperatorKind::Rotary:
      if (!op.gathered) join_latent();
      return add(Kernel::RotaryBackward, {at.tokens, at.outputs});
    case OperatorKind::Attention: return attention_backward(op);
    case OperatorKind::Scan: return scan(Pass::Backward);
    case OperatorKind::Indexer: return index_backward(op);
    case OperatorKind::CausalConvolution: return add(Kernel::ActivationBackward, {at.tokens, at.outputs});
    case OperatorKind::Activation:
      return add(is_gated(op) ? Kernel::GatedActivationBackward : Kernel::ActivationBackward, {at.rows(), at.outputs});
    case OperatorKind::Residual: return add(Kernel::ResidualBackward, {at.tokens, at.outputs});
    case OperatorKind::CrossEntropy: return add(Kernel::CrossEntropyBackward, {at.tokens, at.inputs});
    case OperatorKind::Dropout: beside_adapter(op); return add(Kernel::DropoutBackward, {at.tokens, at.outputs});
    default: return;  // of maps
  }
}

void Writer::weight_gradient(const Operator& op) {
  if (op.kind != OperatorKind::Linear || op.frozen) return;
  const LocalShape at = local(op);
  product(Kernel::LinearWeightGradient, op);
  copy(at, copies_.reduced);
  if (op.scales_rows) add(Kernel::NormBackward, {at.outputs, at.inputs});
  // The bias gradient reads the output gradient once: half of what a copy of it moves.
  if (op.bias) add(Kernel::Copy, {at.rows() * at.outputs * plan_.bytes(Numbers::Activations).value() / 2});
}

// Saving its inputs is the last that a program with early_stop does again of a block or module: behind them nothing of a product is read.
bool leaves_last_product(const ParallelPlan& plan, const std::vector<Piece>& pieces, const LayerTask& task) {
  return task.phase == Phase::Recompute && habits_of(plan.cluster).early_stop && plan.recompute_scope.together == 1 &&
         ends_recompute(pieces, plan.recompute != Recompute::Full, task.operation);
}

// Operators of the task, without a last product that is left out, and without the sum behind it.
std::span<const Operator> operators_run(std::span<const Operator> operators, const Parts& parts, bool leaves_last) {
  const auto is_run = [&](const Operator& op) { return parts.has(op.part) || parts.has(op.part + op.spans - 1); };
  std::span<const Operator> run = operators;
  while (leaves_last && !run.empty() && (!is_run(run.back()) || run.back().kind == OperatorKind::Residual)) run = run.first(run.size() - 1);
  const bool ends_with_product = leaves_last && !run.empty() && run.back().kind == OperatorKind::Linear;
  return ends_with_product ? run.first(run.size() - 1) : run;
}

}  // namespace

TaskKernels kernels_of(const ModelGraph& model, const ParallelPlan& plan, const LayerTask& task) {
  return kernels_of(model, plan, task, pieces_of(model, plan, task.layer, task.phase));
}

TaskKernels kernels_of(const ModelGraph& model, const ParallelPlan& plan, const LayerTask& task, const std::vector<Piece>& pieces) {
  const Parts parts = parts_of(pieces, task.operation);
  const SegmentGraph& segment = sim::at(model.layer(task.layer).segments, parts.segment);
  const std::vector<Operator>& operators = segment.operators;
  Writer writer(model, plan, task, operators);
  if (task.phase == Phase::Backward || task.phase == Phase::Weight) {
    for (auto op = operators.rbegin(); op != operators.rend(); ++op) {
      if (parts.last <= op->part || op->part + op->spans <= parts.first) continue;
      const bool is_weights = task.phase == Phase::Weight;
      if (is_weights && writer.is_put_off(*op)) writer.weight_gradient(*op);
      if (is_weights) continue;
      writer.again(*op);
      writer.backward(*op, parts);
    }
    return {std::move(writer).take(), CallKind::Backward, segment.name};
  }
  for (const Operator& op : operators_run(operators, parts, leaves_last_product(plan, pieces, task))) writer.forward(op, parts);
  return {std::move(writer).take(), CallKind::Forward, segment.name};
}

TaskKernels weight_gradients_beside(const ModelGraph& model, const ParallelPlan& plan, const TaskKey& exchange,
                                    const std::vector<Piece>& pieces) {
  const std::optional<Piece> piece = piece_among(pieces, exchange);
  const SegmentGraph* const of = piece ? &sim::at(model.layer(exchange.layer).segments, piece->parts.segment) : nullptr;
  if (of == nullptr || sim::at(of->meets, piece->parts.first).meeting != Meeting::Enter) return {};
  Writer writer(model, plan, {exchange.layer, exchange.phase, exchange.operation}, of->operators);
  for (const Operator& op : of->operators)
    if (op.part == piece->parts.first + 1 && op.split == TensorSplit::Rows) writer.weight_gradient(op);
  return {std::move(writer).take(), CallKind::Backward};
}

TaskKernels flat_kernels(const ParallelPlan& plan, Operation operation, Elements elements) {
  KernelCall call{.shape = {elements.value}};
  switch (operation) {
    case Operation::Accumulate: call = {Kernel::ResidualForward, {elements.value, 1}}; break;
    case Operation::NormPart: call.kernel = Kernel::SquaredNorm; break;
    default: call.kernel = moments_of(plan.workload.optimizer) == 2 ? Kernel::AdamW : Kernel::Sgd; break;  // as many bytes
  }
  if (elements.orthogonalized == 0) return {{call}, CallKind::Plain};
  const std::int64_t side = std::llround(std::cbrt(elements.orthogonalized / 2));  // of one product that takes as many flops
  return {{call, {Kernel::LinearForward, {side, side, side}}}, CallKind::Plain};
}

}  // namespace sim
