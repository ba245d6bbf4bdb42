#include "executor/training/context_attention.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <utility>

#include "sim/units/at.h"

namespace executor {
namespace {

bool is_backward(const sim::TaskKey& key) { return key.phase == sim::Phase::Backward; }

at::Tensor empty_blocks(std::int64_t count, const at::Tensor& block) {
  std::vector<std::int64_t> sizes = block.sizes().vec();
  sizes.insert(sizes.begin(), count);
  return at::empty(sizes, block.options());
}

at::Tensor gradient_of(const at::Tensor& travelling) { return travelling.select(0, travelling.size(0) - 1); }

}  // namespace

void RingAttention::begin(at::Tensor joint) {
  own_ = share_.take(joint);
  for (std::int32_t hop = 0; hop < 2 && hop + 1 < shape_->ranks; ++hop) buffer(hop) = empty_blocks(1, own_);
}

at::Tensor RingAttention::block(std::int32_t step) const { return step == 0 ? own_ : sim::at(travelling_, (step - 1) % 2).select(0, 0); }

Exchange RingAttention::exchange(const sim::TaskKey& key) {
  const std::int32_t hop = key.sequence;
  const at::Tensor to = buffer(hop);
  if (!is_backward(key) || hop == 0) return {.to = to.select(0, 0), .from = block(hop)};
  const at::Tensor from = buffer(hop - 1), gradient = gradient_of(from);
  const KeyBlock block_gradient(gradient, *shape_);
  hop == 1 ? put_gradient(block_gradient, contribution_) : add_gradient(block_gradient, contribution_);
  contribution_ = {};
  if (hop + 1 < shape_->ranks) return {.to = to, .from = from};
  return {.to = gradient_of(to), .from = gradient};
}

void RingAttention::attend(const sim::TaskKey& key) {
  const at::Tensor keys = block(key.sequence);
  if (is_backward(key))
    contribution_ = share_.block_gradient(keys, source(key.sequence));
  else
    share_.attend(keys, source(key.sequence));
}

at::Tensor RingAttention::output() {
  travelling_ = {};
  return share_.output();
}

void RingAttention::begin_backward(at::Tensor output_gradient) {
  share_.begin_backward(output_gradient);
  const bool keys_return = shape_->ranks > 2;  // into the second buffer, too
  travelling_ = {empty_blocks(2, own_), empty_blocks(keys_return ? 2 : 1, own_)};
}

at::Tensor RingAttention::joint_gradient() {
  own_.reset();
  const at::Tensor home = gradient_of(buffer(static_cast<std::int32_t>(shape_->ranks)));
  travelling_ = {};
  return share_.joint_gradient(home);
}

void GatheredAttention::begin(at::Tensor joint) {
  own_ = share_.take(joint);
  gathered_ = empty_blocks(shape_->ranks, own_);
}

Exchange GatheredAttention::exchange(const sim::TaskKey& key) {
  if (key.operation == sim::Operation::AllGather) return {.to = gathered_, .from = own_};
  gathered_.reset();
  own_gradient_ = at::empty_like(own_);
  return {.to = own_gradient_, .from = gradients_};
}

void GatheredAttention::attend(const sim::TaskKey& key) {
  for (std::int64_t step = 0; step < shape_->ranks; ++step) {
    const std::int64_t source = (shape_->rank - step + shape_->ranks) % shape_->ranks;
    const at::Tensor block = gathered_.select(0, source);
    if (is_backward(key))
      put_gradient(KeyBlock(gradients_.select(0, source), *shape_), share_.block_gradient(block, source));
    else
      share_.attend(block, source);
  }
}

at::Tensor GatheredAttention::output() {
  gathered_.reset();
  return share_.output();
}

void GatheredAttention::begin_backward(at::Tensor output_gradient) {
  share_.begin_backward(output_gradient);
  gathered_ = empty_blocks(shape_->ranks, own_);
  gradients_ = empty_blocks(shape_->ranks, own_);
}

at::Tensor GatheredAttention::joint_gradient() {
  gradients_.reset();
  own_.reset();
  return share_.joint_gradient(std::exchange(own_gradient_, {}));
}

DealtAttention::DealtAttention(const ContextShape& shape, HeadsMixed mixed, bool keeps_graph)
    : heads_mixed_(std::move(mixed)),
      joint_{.columns = {shape.query_columns(), shape.key_columns(), shape.value_columns()},
             .tokens = shape.heads.sequence,
             .ranks = shape.ranks},
      mixed_{.columns = {shape.heads.heads * shape.value_dim}, .tokens = shape.heads.sequence, .ranks = shape.ranks},
      keeps_graph_(keeps_graph) {}

void DealtAttention::begin(at::Tensor joint) { sent_ = by_heads(joint, joint_); }

Exchange DealtAttention::exchange(const sim::TaskKey&) {
  received_ = at::empty_like(sent_);
  return {.to = received_, .from = sent_};
}

void DealtAttention::attend(const sim::TaskKey& key) {
  sent_.reset();
  const at::Tensor rows = joined_tokens(std::exchange(received_, {}), is_backward(key) ? mixed_ : joint_);
  const at::Tensor result = is_backward(key) ? core_.backward(rows) : keeps_graph_ ? core_.forward(rows, heads_mixed_) : heads_mixed_(rows);
  sent_ = by_tokens(result, is_backward(key) ? joint_ : mixed_);
}

at::Tensor DealtAttention::output() {
  sent_.reset();
  return joined_heads(std::exchange(received_, {}), mixed_);
}

void DealtAttention::begin_backward(at::Tensor output_gradient) { sent_ = by_heads(output_gradient, mixed_); }

at::Tensor DealtAttention::joint_gradient() {
  sent_.reset();
  return joined_heads(std::exchange(received_, {}), joint_);
}

HierarchicalAttention::HierarchicalAttention(const ContextShape& shape, const Documents& documents)
    : joint_{.columns = {shape.query_columns() * shape.head_ranks, shape.key_columns() * shape.head_ranks,
                         shape.value_columns() * shape.head_ranks},
             .tokens = shape.heads.sequence / shape.head_ranks,
             .ranks = shape.head_ranks,
             .is_mirrored = true},
      mixed_(joint_),
      ring_(shape, documents) {
  mixed_.columns = {shape.heads.heads * shape.value_dim * shape.head_ranks};
}

Exchange HierarchicalAttention::exchange(const sim::TaskKey& key) {
  if (key.operation == sim::Operation::RingHop) {
    arrive(key);
    return ring_.exchange(key);
  }
  if (!sent_.defined()) sent_ = is_backward(key) ? by_tokens(ring_.joint_gradient(), joint_) : by_tokens(ring_.output(), mixed_);
  received_ = at::empty_like(sent_);
  return {.to = received_, .from = sent_};
}

void HierarchicalAttention::attend(const sim::TaskKey& key) {
  arrive(key);
  ring_.attend(key);
}

void HierarchicalAttention::arrive(const sim::TaskKey& key) {
  if (!received_.defined()) return;
  sent_.reset();
  const at::Tensor rows = joined_tokens(std::exchange(received_, {}), is_backward(key) ? mixed_ : joint_);
  is_backward(key) ? ring_.begin_backward(rows) : ring_.begin(rows);
}

at::Tensor HierarchicalAttention::output() {
  sent_.reset();
  return joined_heads(std::exchange(received_, {}), mixed_);
}

at::Tensor HierarchicalAttention::joint_gradient() {
  sent_.reset();
  return joined_heads(std::exchange(received_, {}), joint_);
}

ContextAttention make_context_attention(sim::ContextAlgorithm algorithm, const ContextShape& shape, ContextInputs inputs) {
  switch (algorithm) {
    case sim::ContextAlgorithm::Ring: return RingAttention(shape, inputs.documents);
    case sim::ContextAlgorithm::AllGather: return GatheredAttention(shape, inputs.documents);
    case sim::ContextAlgorithm::Hierarchical: return HierarchicalAttention(shape, inputs.documents);
    default: return DealtAttention(shape, std::move(inputs.mixed), inputs.keeps_graph);
  }
}

}  // namespace executor
