// The compute tasks of a stage, in the order of a step: embedding, blocks, head; then their backwards.
#include <ATen/TensorOperators.h>
#include <c10/core/GradMode.h>

#include <utility>

#include "executor/training/pipeline_stage.h"

#include "executor/model/gradient_place.h"
#include "executor/training/host_buffer.h"
#include "executor/training/precision.h"
#include "sim/plan/repeated_blocks.h"

namespace executor {

PipelineStage::Part PipelineStage::part_of(sim::Operation operation) {
  using enum sim::Operation;
  switch (operation) {
    case Attention:
    case AttentionInput:
    case AttentionHeads:
    case AttentionScores:
    case AttentionOutput:
    case AttentionResidual:
    case AttentionNorm: return Part::Attention;
    default: return Part::Mlp;
  }
}

const BlockSegment& PipelineStage::segment_of(const sim::TaskKey& key) const {
  return part_of(key.operation) == Part::Attention ? block(key).attention : block(key).mlp;
}

PipelineStage::SegmentActivations& PipelineStage::kept_of(const sim::TaskKey& key) {
  BlockActivations& kept = block_activations(key);
  return part_of(key.operation) == Part::Attention ? kept.attention : kept.mlp;
}

// The weight gradients of attention are one task, however many parts its backward has.
PipelineStage::LaterKey PipelineStage::later_key(const sim::TaskKey& key) const {
  if (key.operation == sim::Operation::ExpertInput)
    return {key.layer, piece(key), sim::Operation::Experts};  // the task of all weights of experts
  return {key.layer, piece(key), part_of(key.operation) == Part::Attention ? sim::Operation::Attention : key.operation};
}

void PipelineStage::embedding(const sim::TaskKey& key) {
  partial_ = view(key).embedding->look_up(tokens(batch_.ids, key));
  if (!shares_tensors()) embedding_positions(key);
}

void PipelineStage::embedding_positions(const sim::TaskKey& key) {
  flow_.value = std::exchange(partial_, {});
  EmbeddingActivations kept = view(key).embedding->add_positions(flow_.value, embedding_dropout(key), documents_of(key));
  flow_.value = flow_.value.to(type_into(sim::LayerIndex(1)));
  if (goes_back(key.layer)) kept_embedding_[piece(key)] = std::move(kept);
}

void PipelineStage::embedding_positions_backward(const sim::TaskKey& key) {
  partial_ = std::exchange(flow_, {}).value.to(type_in(key.layer));
  view(key).embedding->positions_backward(partial_, embedding_dropout(key), kept_embedding_.extract(piece(key)).mapped(),
                                          documents_of(key));
}

void PipelineStage::embedding_backward(const sim::TaskKey& key) {
  if (!shares_sequence()) embedding_positions_backward(key);
  view(key).embedding->look_up_backward(std::exchange(partial_, {}), tokens(batch_.ids, key));
}

// A block that is recomputed keeps its input, into which its norm writes a sum that waits, and starts from it again; one that is recomputed together with those
// in front of it goes on from these.
void PipelineStage::enter_block(const sim::TaskKey& key) {
  if (plan_.makes_input_again(key.layer, key.microbatch)) return;
  if (!plan_.recomputes(key.layer, key.microbatch) || part_of(key.operation) != Part::Attention || !goes_back(key.layer)) return;
  at::Tensor& input = block_activations(key).input;
  if (key.phase == sim::Phase::Recompute)
    again_.value = std::exchange(input, {});
  else
    input = flow_.value;
}

bool PipelineStage::recomputes_module(const sim::TaskKey& key) const {
  const sim::Modules modules = plan_.recomputed_modules();
  if (modules.none() || part_of(key.operation) != Part::Mlp || !goes_back(key.layer)) return false;
  return modules.has(block(key).experts ? sim::Module::Moe : sim::Module::Mlp);
}

void PipelineStage::begin_again(const sim::TaskKey& exchange) {
  turn_to(exchange);
  const bool is_of_module = exchange.phase == sim::Phase::Recompute && !plan_.recomputes(exchange.layer, exchange.microbatch);
  if (is_of_module) partial_ = std::exchange(block_activations(exchange).module_input, {});
}

// The core reads what the norm makes, in the same task or in one before; recomputed by itself, what it made in the forward.
void PipelineStage::enter_core(const sim::TaskKey& key) {
  if (shares_sequence() && !stays_apart(key)) return;
  if (key.phase == sim::Phase::Recompute && recomputes_module(key))
    begin_again(key);
  else
    segment_norm(key);
}

// Its norm reads the sum, which is kept as it came where the block is recomputed.
void PipelineStage::enter_full_block(const sim::TaskKey& key) {
  if (!plan_.is_full(key.layer) || plan_.reads_full(key.layer) || part_of(key.operation) != Part::Attention) return;
  ResidualStream& entered = stream(key);
  sum_up(entered);
  entered.value = entered.value.to(type_in(key.layer));
}

void PipelineStage::segment_norm(const sim::TaskKey& key) {
  enter_block(key);
  enter_full_block(key);
  if (!segment_of(key).rows().are_all()) return norm_of_rows(key);
  ResidualStream& sum = stream(key);
  const std::optional<NormLayer>& norm = segment_of(key).norm();
  ResidualStream entered{.value = sum.addend, .addend = {}};  // of a parallel block, where the sum with attention's output waits
  ResidualStream& read = is_beside_attention(key) ? entered : sum;
  if (!norm) {
    sum_up(read);
    partial_ = read.value;
    if (recomputes_module(key)) block_activations(key).module_input = partial_;
    return;
  }
  NormResult result = norm_forward(read, *norm);
  partial_ = std::move(result.output);
  if (keeps_norm(key)) kept_of(key).norm = std::move(result.kept);
  save_stream(key);
  if (recomputes_module(key)) block_activations(key).module_input = partial_;
}

// Up to the sum over tensor ranks; with one of them, all of it. Where they meet at heads, from there.
void PipelineStage::segment(const sim::TaskKey& key) {
  const bool at_heads = begins_at_heads(key);
  if (!at_heads) enter_core(key);
  const at::Tensor normalized = at_heads ? whole_heads(key) : std::exchange(partial_, {});
  const auto core = [&](const at::Tensor& x) {
    return at_heads ? segment_of(key).core_of_heads(x, core_inputs(key)) : segment_of(key).core(x, core_inputs(key));
  };
  if (keeps_graph(key)) {
    const Recomputing recomputing(modules_made_again(), kept_of(key).again);
    const Saving saving(sent(), kept_of(key).saved);
    partial_ = kept_of(key).core.forward(normalized, core);
    if (!at_heads) forget_normalized(key, normalized);
  } else {
    partial_ = core(normalized);
  }
  if (ends_recomputation(key)) {
    partial_.reset();  // the block's output is not needed
    again_ = {};
  } else if (!shares_tensors()) {
    segment_residual(key);
  }
}

// What the core reads is made again of what its norm keeps, before anything else.
void PipelineStage::forget_normalized(const sim::TaskKey& key, const at::Tensor& normalized) {
  SegmentActivations& kept = kept_of(key);
  if (part_of(key.operation) == Part::Attention) save(key, sim::Module::QkvProduct, normalized);
  const std::optional<NormLayer>& norm = segment_of(key).norm();
  if (norm && modules_made_again().has(sim::Module::LayerNorm))
    kept.again.add({normalized}, [&norm = *norm, input = kept.norm.input] {
      ResidualStream read{.value = input, .addend = {}};
      return std::vector<at::Tensor>{norm_forward(read, norm).output};
    });
  kept.again.forget();
}

void PipelineStage::save(const sim::TaskKey& key, sim::Module module, const at::Tensor& tensor) {
  const Saving saving(sent(), kept_of(key).saved);
  Saving::offer(module, {tensor});
}

// It goes with the module that has its norm (sim/task_graph/host_inputs.h); that of a plain feed-forward stays.
void PipelineStage::save_stream(const sim::TaskKey& key) {
  const at::Tensor& input = kept_of(key).norm.input;
  const bool is_latent = plan_.model.attention.kind == sim::AttentionKind::Latent;
  if (part_of(key.operation) == Part::Attention)
    save(key, is_latent ? sim::Module::AttentionNorm : sim::Module::QkvProduct, input);
  else if (block(key).experts)
    save(key, sim::Module::MlpNorm, input);
}

SavedTensors& PipelineStage::saved_of(const sim::TaskKey& copy) {
  const bool begins_with_mixer = sim::half_of(plan_.model, copy.layer.value() - 1) != sim::BlockHalf::FeedForward;
  BlockActivations& kept = block_activations(copy);
  return begins_with_mixer && copy.sequence == 0 ? kept.attention.saved : kept.mlp.saved;
}

// A sum that waits for the next norm is made before its other part leaves.
void PipelineStage::send_saved(const sim::TaskKey& copy) {
  turn_to(copy);
  sum_up(flow_);
  saved_of(copy).leave([&](std::int64_t bytes) { return host_buffer({bytes}, {.device = parameters_.device(), .type = at::kByte}); });
}

void PipelineStage::bring_saved(const sim::TaskKey& copy) { saved_of(copy).come_back(); }

// Of the next segment, or of the head.
bool PipelineStage::has_next_norm(const sim::TaskKey& key) const {
  return !is_last_segment(key) || sim::LayerIndex(key.layer.value() + 1) < plan_.layers(key.stage, key.chunk).end;
}

// What a feed-forward puts out is made again where a norm behind it reads it in the backward, and where its end is a task of its own.
bool PipelineStage::ends_recomputation(const sim::TaskKey& key) const {
  const bool has_end = sim::repeats_to_end(plan_) && (shares_tensors() || block(key).experts);
  return ends_again(key) && (recomputes_module(key) || !segment_of(key).norm_behind()) && !has_end;
}

at::Tensor PipelineStage::norm_behind(const sim::TaskKey& key, ResidualStream stream) {
  NormResult result = norm_forward(stream, *segment_of(key).norm_behind());
  if (keeps_norm(key)) kept_of(key).norm_behind = std::move(result.kept);
  return std::move(result.output);
}

// The old stream stays as it was for whoever keeps it.
void PipelineStage::segment_residual(const sim::TaskKey& key) {
  ResidualStream& sum = stream(key);
  const BlockSegment& segment = segment_of(key);
  if (!segment.rows().are_all()) return residual_of_rows(key);
  at::Tensor product = std::exchange(partial_, {});
  Leaf bias = segment.late_bias();
  if (segment.norm_behind() && !norms_sum()) {
    if (bias.value.defined()) product.add_(bias.value);
    bias = {};
    product = norm_behind(key, {.value = std::move(product), .addend = {}});
  }
  if (is_beside_attention(key)) sum_up(sum);
  sum = add_residual(sum, std::move(product), bias, residual_dropout(key), plan_.model.residual_factor);
  if (segment.norm_behind() && norms_sum()) sum = {.value = norm_behind(key, std::move(sum)), .addend = {}};
  if (ends_again(key))
    again_ = {};
  else if (leaves_full_block(key) || !has_next_norm(key))
    sum_up(sum);
  if (leaves_full_block(key) && sum.value.defined()) sum.value = sum.value.to(type_between());
  if (!goes_back(key.layer) && is_last_segment(key)) kept_.erase({key.layer, piece(key)});
}

// Of the stream's gradient, which nothing in front of the layer reads.
void PipelineStage::end_backward(sim::LayerIndex layer) {
  if (sim::at(reach_, layer.value()) == sim::BackwardReach::Ends) flow_ = {};
}

void PipelineStage::segment_residual_backward(const sim::TaskKey& key) {
  const BlockSegment& segment = segment_of(key);
  if (!segment.rows().are_all()) return residual_of_rows_backward(key);
  if (leaves_full_block(key)) flow_.value = flow_.value.to(type_in(key.layer));
  const std::optional<NormLayer>& norm = segment.norm_behind();
  const auto through = [&](const at::Tensor& gradient) {
    return norm_backward(std::exchange(kept_of(key).norm_behind, {}), {.output = gradient, .stream = {}}, *norm);
  };
  if (norm && norms_sum()) flow_.value = through(flow_.value);
  const bool norms_output = norm && !norms_sum();
  partial_ =
      residual_backward(flow_.value, norms_output ? Leaf{} : segment.late_bias(), residual_dropout(key), plan_.model.residual_factor);
  if (!norms_output) return;
  partial_ = through(partial_);
  if (segment.late_bias().gradient.defined()) add_gradient(segment.late_bias().gradient, partial_.sum(0));
}

void PipelineStage::segment_backward(const sim::TaskKey& key) {
  if (!shares_sequence()) segment_residual_backward(key);
  {
    if (!begins_at_heads(key)) kept_of(key).again.make();
    const PutOff put_off(later(key));
    partial_ = kept_of(key).core.backward(std::exchange(partial_, {}));
  }
  if (begins_at_heads(key)) return leave_heads(key, partial_);
  if (!shares_tensors()) segment_norm_backward(key);
}

// The gradient through the segment joins that around it; in a parallel block that through the feed-forward waits for attention.
void PipelineStage::segment_norm_backward(const sim::TaskKey& key) {
  if (!segment_of(key).rows().are_all()) return norm_of_rows_backward(key);
  const std::optional<NormLayer>& norm = segment_of(key).norm();
  const at::Tensor around = is_beside_attention(key) ? at::Tensor() : flow_.value;
  at::Tensor through = std::exchange(partial_, {});
  if (norm)
    through = norm_backward(std::exchange(kept_of(key).norm, {}), {.output = through, .stream = around}, *norm);
  else if (around.defined())
    through = through + around;
  if (is_beside_attention(key))
    flow_.addend = std::move(through);
  else
    flow_.value = std::move(through);
  if (part_of(key.operation) == Part::Mlp) return;
  sum_up(flow_);
  if (plan_.is_full(key.layer)) flow_.value = flow_.value.to(type_into(key.layer));
  kept_.erase({key.layer, piece(key)});
  end_backward(key.layer);
}

// Of an encoder or a decoder. Where the core reads the others, too, they stand beside its rows as they are.
void PipelineStage::norm_of_rows(const sim::TaskKey& key) {
  const BlockSegment& segment = segment_of(key);
  ResidualStream& sum = stream(key);
  sum_up(sum);
  if (segment.norm()) {
    ResidualStream read{.value = segment.rows().taken(sum.value), .addend = {}};
    NormResult result = norm_forward(read, *segment.norm());
    if (keeps_norm(key)) kept_of(key).norm = std::move(result.kept);
    partial_ = segment.reads_all() ? segment.rows().put(sum.value.clone(), result.output) : std::move(result.output);
  } else {
    partial_ = segment.reads_all() ? sum.value : segment.rows().taken(sum.value);
  }
  if (recomputes_module(key)) block_activations(key).module_input = partial_;
}

void PipelineStage::drop_rows(const sim::TaskKey& key, at::Tensor& rows) const {
  Dropout dropout = residual_dropout(key);
  const TokenStretches places = segment_of(key).rows().stretches(plan_.microbatch_size);
  dropout.stretches = places;
  apply_dropout(rows, dropout);
}

// In place: nobody else reads the stream, but a block that is recomputed keeps what it starts from.
void PipelineStage::residual_of_rows(const sim::TaskKey& key) {
  const BlockSegment& segment = segment_of(key);
  at::Tensor product = std::exchange(partial_, {});
  if (segment.late_bias().value.defined()) product.add_(segment.late_bias().value);
  drop_rows(key, product);
  at::Tensor& sum = stream(key).value;
  const bool is_kept =
      key.phase == sim::Phase::Forward && part_of(key.operation) == Part::Attention && plan_.recomputes(key.layer, key.microbatch);
  if (is_kept) sum = sum.clone();
  const at::Tensor own = segment.rows().of(sum);
  own.add_(product.view_as(own), plan_.model.residual_factor);
  if (segment.norm_behind()) segment.rows().put(sum, norm_behind(key, {.value = segment.rows().taken(sum), .addend = {}}));
  if (ends_again(key)) again_ = {};
}

void PipelineStage::residual_of_rows_backward(const sim::TaskKey& key) {
  const BlockSegment& segment = segment_of(key);
  at::Tensor gradient = segment.rows().taken(flow_.value);
  if (segment.norm_behind()) {
    gradient = norm_backward(std::exchange(kept_of(key).norm_behind, {}), {.output = gradient, .stream = {}}, *segment.norm_behind());
    segment.rows().put(flow_.value, gradient);
  }
  if (plan_.model.residual_factor != 1) gradient.mul_(plan_.model.residual_factor);
  drop_rows(key, gradient);
  if (segment.late_bias().gradient.defined()) add_gradient(segment.late_bias().gradient, gradient.sum(0));
  partial_ = std::move(gradient);
}

void PipelineStage::norm_of_rows_backward(const sim::TaskKey& key) {
  const BlockSegment& segment = segment_of(key);
  at::Tensor through = std::exchange(partial_, {});
  const bool of_all = segment.reads_all();
  if (segment.norm()) {
    const at::Tensor own = norm_backward(std::exchange(kept_of(key).norm, {}),
                                         {.output = of_all ? segment.rows().taken(through) : through, .stream = {}}, *segment.norm());
    through = of_all ? segment.rows().put(through, own) : own;
  }
  const at::Tensor around = of_all ? flow_.value : segment.rows().of(flow_.value);
  around.add_(through.view_as(around));
  if (part_of(key.operation) == Part::Attention) kept_.erase({key.layer, piece(key)});
}

at::ScalarType PipelineStage::type_in(sim::LayerIndex layer) const {
  return scalar_type(plan_.precision_of(layer).of(sim::Numbers::Activations));
}

// Of an encoder and its decoder, rows of the target alone.
void PipelineStage::head_norm(const sim::TaskKey& key) {
  if (plan_.model.encoder) flow_.value = rows_with_loss().taken(flow_.value);
  if (plan_.is_full(key.layer) && !plan_.reads_full(key.layer)) {  // the sum, as others' norms read it
    sum_up(flow_);
    flow_.value = flow_.value.to(type_in(key.layer));
  }
  partial_ = head_->normalized(kept_head_[piece(key)], std::exchange(flow_, {}));
}

void PipelineStage::head(const sim::TaskKey& key) {
  if (!shares_sequence()) head_norm(key);
  HeadActivations& kept = kept_head_[piece(key)];
  if (!batch_.without_loss.empty()) kept.without_loss = batch_.without_loss[key.microbatch.position()];
  at::Tensor targets = tokens(batch_.targets, key);
  if (plan_.model.encoder) targets = rows_with_loss().taken(targets.unsqueeze(1)).squeeze(1);
  head_->logits(kept, std::exchange(partial_, {}), targets);
  if (shares_tensors())
    partial_ = kept.entropy.maximum;
  else {
    head_exponentials(key);
    head_loss(key);
  }
}

void PipelineStage::head_exponentials(const sim::TaskKey& key) {
  HeadActivations& kept = kept_head_[piece(key)];
  head_->exponentials(kept);
  partial_ = kept.sums;
}

void PipelineStage::head_loss(const sim::TaskKey& key) {
  partial_.reset();
  losses_.push_back(head_->losses(kept_head_[piece(key)]));
}

void PipelineStage::head_backward(const sim::TaskKey& key) {
  {
    const PutOff put_off(later(key));
    partial_ = head_->product_backward(kept_head_[piece(key)], loss_);
  }
  if (!shares_tensors()) head_norm_backward(key);
}

void PipelineStage::head_norm_backward(const sim::TaskKey& key) {
  const at::Tensor gradient = head_->norm_backward(kept_head_[piece(key)], std::exchange(partial_, {})).to(type_into(key.layer));
  flow_.value = rows_with_loss().among_zeros(gradient);
  kept_head_.erase(piece(key));
  end_backward(key.layer);
}

void PipelineStage::weights(const sim::TaskKey& key) {
  WeightGradients gradients = std::move(later_.at(later_key(key)));
  later_.erase(later_key(key));
  gradients.perform();
}

}  // namespace executor
