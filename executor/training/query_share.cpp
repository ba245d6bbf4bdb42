#include "executor/training/query_share.h"

#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>

#include <utility>

namespace executor {
namespace {

at::Tensor seen_rows(const at::Tensor& block, std::int64_t side, RowRange rows) { return block.select(0, side).narrow(1, rows.begin, rows.count); }

}  // namespace

void put_gradient(const at::Tensor& block, const BlockGradient& gradient) {
  if (gradient.rows.count < block.size(2)) block.zero_();
  seen_rows(block, 0, gradient.rows).copy_(gradient.keys);
  seen_rows(block, 1, gradient.rows).copy_(gradient.values);
}

void add_gradient(const at::Tensor& block, const BlockGradient& gradient) {
  seen_rows(block, 0, gradient.rows).add_(gradient.keys);
  seen_rows(block, 1, gradient.rows).add_(gradient.values);
}

at::Tensor QueryShare::take(const at::Tensor& joint) {
  const auto& [heads, kv_heads, head_dim, tokens] = shape_->heads;
  apply_rotary(joint, shape_->heads, shape_->rotary, Turn::Forth);
  const at::Tensor cut = joint.view({-1, tokens, heads + 2 * kv_heads, head_dim});
  queries_ = cut.narrow(2, 0, heads).contiguous();
  at::Tensor block = at::empty({2, cut.size(0), tokens, kv_heads, head_dim}, joint.options());
  for (std::int64_t side = 0; side < 2; ++side) block.select(0, side).copy_(cut.narrow(2, heads + side * kv_heads, kv_heads));
  return block;
}

QueryShare::Part QueryShare::part_of(std::int64_t source) const {
  const std::int64_t tokens = shape_->heads.sequence, half = tokens / 2;
  const std::int64_t seen = shape_->mutation == Mutation::FutureBlock ? 2 * shape_->rank - source : source;
  const RowRange all{.begin = 0, .count = tokens};
  if (seen == shape_->rank) return {.queries = all, .keys = all, .mask = BlockMask::Causal};
  if (seen < shape_->rank) return {.queries = all, .keys = {.begin = 0, .count = half}, .mask = BlockMask::None};
  return {.queries = {.begin = half, .count = half}, .keys = all, .mask = BlockMask::None};
}

HeadOperands QueryShare::operands(const at::Tensor& block, const Part& part) const {
  return {.queries = queries_.narrow(1, part.queries.begin, part.queries.count), .keys = seen_rows(block, 0, part.keys), .values = seen_rows(block, 1, part.keys)};
}

BlockScores QueryShare::rows(const BlockScores& scores, RowRange range) {
  return {.output = scores.output.narrow(1, range.begin, range.count), .log_sum_exp = scores.log_sum_exp.narrow(1, range.begin, range.count)};
}

void QueryShare::attend(const at::Tensor& block, std::int64_t source) {
  const Part part = part_of(source);
  BlockScores scores = attend_block(operands(block, part), part.mask);
  if (!scores_.output.defined()) {
    scores_ = {.output = scores.output.to(at::toOpMathType(queries_.scalar_type())), .log_sum_exp = std::move(scores.log_sum_exp)};
    return;
  }
  const BlockScores into = rows(scores_, part.queries);
  if (shape_->mutation == Mutation::UnscaledMerge) scores.log_sum_exp.copy_(into.log_sum_exp);
  merge_scores(into, scores);
}

at::Tensor QueryShare::output() {
  scores_.output = scores_.output.to(queries_.scalar_type());
  return scores_.output.view({queries_.size(0) * queries_.size(1), -1});
}

void QueryShare::begin_backward(const at::Tensor& output_gradient) { output_gradient_ = output_gradient.view(queries_.sizes()); }

BlockGradient QueryShare::block_gradient(const at::Tensor& block, std::int64_t source) {
  const Part part = part_of(source);
  const auto& [begin, count] = part.queries;
  const MergedScores merged{.scores = rows(scores_, part.queries), .output_gradient = output_gradient_.narrow(1, begin, count)};
  HeadOperands gradients = block_gradients(operands(block, part), merged, part.mask);
  if (query_gradient_.defined())
    query_gradient_.narrow(1, begin, count).add_(gradients.queries);
  else
    query_gradient_ = std::move(gradients.queries);
  return {.rows = part.keys, .keys = std::move(gradients.keys), .values = std::move(gradients.values)};
}

at::Tensor QueryShare::joint_gradient(const at::Tensor& own) {
  const auto& [heads, kv_heads, head_dim, tokens] = shape_->heads;
  const std::int64_t samples = queries_.size(0);
  scores_ = {};
  output_gradient_.reset();
  at::Tensor joint = at::empty({samples * tokens, shape_->heads.width()}, std::exchange(queries_, {}).options());
  const at::Tensor cut = joint.view({samples, tokens, heads + 2 * kv_heads, head_dim});
  cut.narrow(2, 0, heads).copy_(std::exchange(query_gradient_, {}));
  for (std::int64_t side = 0; side < 2; ++side) cut.narrow(2, heads + side * kv_heads, kv_heads).copy_(own.select(0, side));
  apply_rotary(joint, shape_->heads, shape_->rotary, Turn::Back);
  return joint;
}

}  // namespace executor
