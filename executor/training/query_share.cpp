#include "executor/training/query_share.h"

#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>

#include <utility>

namespace executor {

at::Tensor QueryShare::take(const at::Tensor& joint) {
  const HeadShape& heads = shape_->heads;
  const std::int64_t query = heads.heads * heads.head_dim;
  apply_rotary(joint, heads, shape_->rotary, Turn::Forth);
  const at::Tensor cut = joint.view({-1, heads.sequence, heads.width()});
  queries_ = cut.narrow(2, 0, query).unflatten(2, {heads.heads, heads.head_dim}).contiguous();
  return cut.narrow(2, query, heads.width() - query).contiguous();
}

QueryShare::Part QueryShare::part_of(std::int64_t source) const {
  const std::int64_t tokens = shape_->heads.sequence, half = tokens / 2;
  const std::int64_t seen = shape_->mutation == Mutation::ShiftedBlock ? (source + 1) % shape_->ranks : source;
  const RowRange all{.begin = 0, .count = tokens};
  if (seen == shape_->rank) return {.queries = all, .keys = all, .mask = BlockMask::Causal};
  if (seen < shape_->rank) return {.queries = all, .keys = {.begin = 0, .count = half}, .mask = BlockMask::None};
  return {.queries = {.begin = half, .count = half}, .keys = all, .mask = BlockMask::None};
}

HeadOperands QueryShare::operands(const at::Tensor& block, const Part& part) const {
  const auto [keys, values] = sides(block.narrow(1, part.keys.begin, part.keys.count));
  return {.queries = queries_.narrow(1, part.queries.begin, part.queries.count), .keys = keys, .values = values};
}

QueryShare::Sides QueryShare::sides(const at::Tensor& block) const {
  const HeadShape& heads = shape_->heads;
  const std::int64_t keys = heads.kv_heads * heads.head_dim;
  return {block.narrow(2, 0, keys).unflatten(2, {heads.kv_heads, heads.head_dim}),
          block.narrow(2, keys, heads.kv_heads * heads.value_width()).unflatten(2, {heads.kv_heads, heads.value_width()})};
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

void QueryShare::begin_backward(const at::Tensor& output_gradient) {
  output_gradient_ = output_gradient.view({queries_.size(0), queries_.size(1), queries_.size(2), shape_->heads.value_width()});
}

void QueryShare::block_gradient(const at::Tensor& into, const at::Tensor& block, std::int64_t source) {
  const Part part = part_of(source);
  const auto& [begin, count] = part.queries;
  const MergedScores merged{.scores = rows(scores_, part.queries), .output_gradient = output_gradient_.narrow(1, begin, count)};
  HeadOperands gradients = block_gradients(operands(block, part), merged, part.mask);
  if (part.keys.count < block.size(1)) into.zero_();
  const auto [keys, values] = sides(into.narrow(1, part.keys.begin, part.keys.count));
  keys.copy_(gradients.keys);
  values.copy_(gradients.values);
  if (query_gradient_.defined())
    query_gradient_.narrow(1, begin, count).add_(gradients.queries);
  else
    query_gradient_ = std::move(gradients.queries);
}

at::Tensor QueryShare::joint_gradient(const at::Tensor& own) {
  const HeadShape& heads = shape_->heads;
  const std::int64_t samples = queries_.size(0), query = heads.heads * heads.head_dim;
  scores_ = {};
  output_gradient_.reset();
  at::Tensor joint = at::empty({samples * heads.sequence, heads.width()}, std::exchange(queries_, {}).options());
  const at::Tensor cut = joint.view({samples, heads.sequence, heads.width()});
  cut.narrow(2, 0, query).unflatten(2, {heads.heads, heads.head_dim}).copy_(std::exchange(query_gradient_, {}));
  cut.narrow(2, query, heads.width() - query).copy_(own);
  apply_rotary(joint, heads, shape_->rotary, Turn::Back);
  return joint;
}

}  // namespace executor
