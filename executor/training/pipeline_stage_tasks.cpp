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
  flow_ = embedding_->look_up(batch_.ids.select(0, key.microbatch.value()));
  if (shares_tensors())
    partial_ = flow_;
  else
    embedding_positions(key);
}

void PipelineStage::embedding_positions(const sim::TaskKey& key) {
  partial_.reset();
  embedding_->add_positions(flow_, embedding_dropout(key));
}

void PipelineStage::embedding_backward(const sim::TaskKey& key) {
  at::Tensor gradient = take_flow();
  embedding_->backward(gradient, batch_.ids.select(0, key.microbatch.value()), embedding_dropout(key));
}

// A segment up to its sum over tensor ranks, its graph kept.
at::Tensor PipelineStage::run_segment(const BlockSegment& segment, SegmentActivations& kept, const at::Tensor& input) const {
  if (!shares_tensors()) return kept.core.forward(input, [&](const at::Tensor& x) { return segment.whole(x); });
  const at::Tensor normalized = kept.norm.forward(input, [&](const at::Tensor& x) { return segment.norm(x); });
  return kept.core.forward(normalized, [&](const at::Tensor& x) { return segment.core(x); });
}

at::Tensor PipelineStage::run_unrecorded(const BlockSegment& segment, const at::Tensor& input) const {
  return shares_tensors() ? segment.core(segment.norm(input)) : segment.whole(input);
}

// stream becomes stream + dropout(sum + bias); the old stream stays as it was for whoever keeps it.
void PipelineStage::finish_segment(at::Tensor& stream, at::Tensor sum, const sim::TaskKey& key) const {
  add_residual(sum, stream, late_bias(segment_of(key)), residual_dropout(key));
  stream = std::move(sum);
}

void PipelineStage::segment(const sim::TaskKey& key) {
  const BlockSegment& segment = segment_of(key);
  const bool recomputes = plan_.recompute == sim::Recompute::Full;
  if (recomputes && part_of(key.operation) == Part::Attention) block_activations(key).input = flow_;
  at::Tensor sum = recomputes ? run_unrecorded(segment, flow_) : run_segment(segment, kept_of(key), flow_);
  if (shares_tensors())
    partial_ = std::move(sum);
  else
    finish_segment(flow_, std::move(sum), key);
}

void PipelineStage::segment_residual(const sim::TaskKey& key) { finish_segment(flow_, std::exchange(partial_, {}), key); }

void PipelineStage::segment_again(const sim::TaskKey& key) {
  const Part part = part_of(key.operation);
  if (part == Part::Attention) again_ = std::exchange(block_activations(key).input, {});
  at::Tensor sum = run_segment(segment_of(key), kept_of(key), again_);
  if (part == Part::Mlp)
    again_.reset();  // the block's output is not needed
  else if (shares_tensors())
    partial_ = std::move(sum);
  else
    finish_segment(again_, std::move(sum), key);
}

void PipelineStage::segment_again_residual(const sim::TaskKey& key) { finish_segment(again_, std::exchange(partial_, {}), key); }

void PipelineStage::segment_backward(const sim::TaskKey& key) {
  const at::Tensor into_sum = residual_backward(flow_, late_bias(segment_of(key)), residual_dropout(key));
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

void PipelineStage::head(const sim::TaskKey& key) {
  HeadActivations& kept = kept_head_[key.microbatch];
  head_->logits(kept, take_flow(), batch_.targets.select(0, key.microbatch.value()));
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
  partial_ = head_->product_backward(kept_head_[key.microbatch], loss_scale_);
  if (!shares_tensors()) head_norm_backward(key);
}

void PipelineStage::head_norm_backward(const sim::TaskKey& key) {
  flow_ = head_->norm_backward(kept_head_[key.microbatch], std::exchange(partial_, {}));
  kept_head_.erase(key.microbatch);
}

}  // namespace executor
