// The compute tasks of a stage, in the order of a step: embedding, blocks, head; then their backwards.
#include <c10/core/GradMode.h>

#include <utility>

#include "executor/training/pipeline_stage.h"

namespace executor {

PipelineStage::Part PipelineStage::part_of(sim::Operation operation) {
  using enum sim::Operation;
  return operation == Attention || operation == AttentionResidual || operation == AttentionNorm ? Part::Attention : Part::Mlp;
}

const BlockSegment& PipelineStage::segment_of(const sim::TaskKey& key) const {
  const Block& block = blocks_.at(key.layer);
  return part_of(key.operation) == Part::Attention ? block.attention : block.mlp;
}

PipelineStage::SegmentActivations& PipelineStage::kept_of(const sim::TaskKey& key) {
  BlockActivations& kept = block_activations(key);
  return part_of(key.operation) == Part::Attention ? kept.attention : kept.mlp;
}

Leaf PipelineStage::late_bias(const BlockSegment& segment) const { return shares_tensors() ? segment.out_bias() : Leaf{}; }

void PipelineStage::embedding(const sim::TaskKey& key) {
  partial_ = embedding_->look_up(batch_.ids.select(0, key.microbatch.value()));
  if (!shares_tensors()) embedding_positions(key);
}

void PipelineStage::embedding_positions(const sim::TaskKey& key) {
  flow_ = std::exchange(partial_, {});
  embedding_->add_positions(flow_, embedding_dropout(key));
}

void PipelineStage::embedding_positions_backward(const sim::TaskKey& key) {
  partial_ = take_flow();
  embedding_->positions_backward(partial_, embedding_dropout(key));
}

void PipelineStage::embedding_backward(const sim::TaskKey& key) {
  if (!shares_sequence()) embedding_positions_backward(key);
  embedding_->look_up_backward(std::exchange(partial_, {}), batch_.ids.select(0, key.microbatch.value()));
}

at::Tensor PipelineStage::run(Piece& piece, const at::Tensor& input, const Piece::Function& function, const sim::TaskKey& key) const {
  return keeps_graph(key) ? piece.forward(input, function) : function(input);
}

// A block that is recomputed keeps its input, and starts from it again.
void PipelineStage::enter_block(const sim::TaskKey& key) {
  if (plan_.recompute != sim::Recompute::Full || part_of(key.operation) != Part::Attention) return;
  at::Tensor& input = block_activations(key).input;
  if (key.phase == sim::Phase::Recompute)
    again_ = std::exchange(input, {});
  else
    input = flow_;
}

void PipelineStage::segment_norm(const sim::TaskKey& key) {
  enter_block(key);
  partial_ = run(
      kept_of(key).norm, stream(key), [&](const at::Tensor& x) { return segment_of(key).norm(x); }, key);
}

// Up to the sum over tensor ranks; with one of them, all of it.
void PipelineStage::segment(const sim::TaskKey& key) {
  const BlockSegment& segment = segment_of(key);
  const Dropout scores = score_dropout(key);
  if (!shares_tensors()) {
    enter_block(key);
    return finish_segment(run(
                              kept_of(key).core, stream(key), [&](const at::Tensor& x) { return segment.whole(x, scores); }, key),
                          key);
  }
  if (!shares_sequence()) segment_norm(key);
  const at::Tensor normalized = std::exchange(partial_, {});
  partial_ = run(
      kept_of(key).core, normalized, [&](const at::Tensor& x) { return segment.core(x, scores); }, key);
  if (key.phase == sim::Phase::Recompute && part_of(key.operation) == Part::Mlp) {
    partial_.reset();  // the block's output is not needed
    again_.reset();
  }
}

// The stream becomes stream + dropout(sum + bias); the old one stays as it was for whoever keeps it.
void PipelineStage::finish_segment(at::Tensor sum, const sim::TaskKey& key) {
  if (key.phase == sim::Phase::Recompute && part_of(key.operation) == Part::Mlp) return again_.reset();
  add_residual(sum, stream(key), late_bias(segment_of(key)), residual_dropout(key));
  stream(key) = std::move(sum);
}

void PipelineStage::segment_residual(const sim::TaskKey& key) { finish_segment(std::exchange(partial_, {}), key); }

void PipelineStage::segment_residual_backward(const sim::TaskKey& key) {
  partial_ = residual_backward(flow_, late_bias(segment_of(key)), residual_dropout(key));
}

void PipelineStage::segment_backward(const sim::TaskKey& key) {
  if (!shares_sequence()) segment_residual_backward(key);
  const at::Tensor into_sum = std::exchange(partial_, {});
  const PutOff put_off(later(key));
  at::Tensor gradient = kept_of(key).core.backward(into_sum);
  if (shares_tensors())
    partial_ = std::move(gradient);
  else
    leave_segment(key, std::move(gradient));
}

void PipelineStage::segment_norm_backward(const sim::TaskKey& key) {
  leave_segment(key, kept_of(key).norm.backward(std::exchange(partial_, {})));
}

// The gradient through the segment joins that around it.
void PipelineStage::leave_segment(const sim::TaskKey& key, at::Tensor through) {
  flow_ = through.add_(flow_);
  if (part_of(key.operation) == Part::Attention) kept_.erase({key.layer, key.microbatch});
}

void PipelineStage::head_norm(const sim::TaskKey& key) { partial_ = head_->normalized(kept_head_[key.microbatch], take_flow()); }

void PipelineStage::head(const sim::TaskKey& key) {
  if (!shares_sequence()) head_norm(key);
  HeadActivations& kept = kept_head_[key.microbatch];
  head_->logits(kept, std::exchange(partial_, {}), batch_.targets.select(0, key.microbatch.value()));
  if (shares_tensors())
    partial_ = kept.entropy.maximum;
  else {
    head_exponentials(key);
    head_loss(key);
  }
}

void PipelineStage::head_exponentials(const sim::TaskKey& key) {
  HeadActivations& kept = kept_head_[key.microbatch];
  head_->exponentials(kept);
  partial_ = kept.sums;
}

void PipelineStage::head_loss(const sim::TaskKey& key) {
  partial_.reset();
  losses_.push_back(head_->losses(kept_head_[key.microbatch]));
}

void PipelineStage::head_backward(const sim::TaskKey& key) {
  {
    const PutOff put_off(later(key));
    partial_ = head_->product_backward(kept_head_[key.microbatch], loss_scale_);
  }
  if (!shares_tensors()) head_norm_backward(key);
}

void PipelineStage::head_norm_backward(const sim::TaskKey& key) {
  flow_ = head_->norm_backward(kept_head_[key.microbatch], std::exchange(partial_, {}));
  kept_head_.erase(key.microbatch);
}

void PipelineStage::weights(const sim::TaskKey& key) {
  WeightGradients gradients = std::move(later_.at(later_key(key)));
  later_.erase(later_key(key));
  if (mutation_ != Mutation::ForgottenWeights || key.microbatch != sim::MicrobatchIndex(0)) gradients.perform();
}

}  // namespace executor
