#include "executor/training/query_share.h"

#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <limits>
#include <utility>

namespace executor {
namespace {

at::Tensor rows_in(const at::Tensor& tokens, RowRange samples, RowRange rows) {
  return tokens.narrow(0, samples.begin, samples.count).narrow(1, rows.begin, rows.count);
}

at::Tensor zeros_as(const at::Tensor& tensor) { return at::zeros(tensor.sizes(), tensor.options()); }

}  // namespace

KeyBlock::KeyBlock(const at::Tensor& flat, const ContextShape& shape) {
  const std::int64_t tokens = shape.heads.sequence, kv_heads = shape.heads.kv_heads;
  const std::int64_t count = flat.numel() / (shape.key_columns() + shape.value_columns());
  keys = flat.narrow(0, 0, count * shape.key_columns()).view({-1, tokens, kv_heads, shape.heads.head_dim});
  values = flat.narrow(0, count * shape.key_columns(), count * shape.value_columns()).view({-1, tokens, kv_heads, shape.value_dim});
}

void put_gradient(const KeyBlock& block, const BlockGradient& gradient) {
  const bool is_whole = gradient.rows.count == block.keys.size(1);
  for (const auto& [side, part] : {std::pair(block.keys, gradient.keys), std::pair(block.values, gradient.values)}) {
    if (!is_whole) side.zero_();
    side.narrow(1, gradient.rows.begin, gradient.rows.count).copy_(part);
  }
}

void add_gradient(const KeyBlock& block, const BlockGradient& gradient) {
  const KeyBlock seen = block.rows(gradient.rows);
  seen.keys.add_(gradient.keys);
  seen.values.add_(gradient.values);
}

// The columns of queries, keys and values, each by sample, token and head.
HeadOperands QueryShare::cut(const at::Tensor& joint) const {
  const std::int64_t tokens = shape_->heads.sequence, kv_heads = shape_->heads.kv_heads, head_dim = shape_->heads.head_dim;
  const std::int64_t query = shape_->query_columns(), key = shape_->key_columns();
  return {.queries = joint.narrow(1, 0, query).view({-1, tokens, shape_->heads.heads, head_dim}),
          .keys = joint.narrow(1, query, key).view({-1, tokens, kv_heads, head_dim}),
          .values = joint.narrow(1, query + key, shape_->value_columns()).view({-1, tokens, kv_heads, shape_->value_dim})};
}

at::Tensor QueryShare::take(const at::Tensor& joint) {
  apply_rotary(joint, shape_->heads, shape_->rotary, Turn::Forth);
  const HeadOperands parts = cut(joint);
  queries_ = parts.queries.contiguous();
  at::Tensor flat = at::empty({joint.size(0) * (shape_->key_columns() + shape_->value_columns())}, joint.options());
  const KeyBlock own(flat, *shape_);
  own.keys.copy_(parts.keys);
  own.values.copy_(parts.values);
  if (shape_->heads.value_factor != 1) own.values.mul_(shape_->heads.value_factor);
  return flat;
}

BlockPart QueryShare::part_of(std::int64_t source) const {
  const std::int64_t tokens = shape_->heads.sequence, half = tokens / 2;
  const RowRange all{.begin = 0, .count = tokens}, samples{.begin = 0, .count = queries_.size(0)};
  if (!shape_->scores.is_causal) return {.samples = samples, .queries = all, .keys = all, .mask = BlockMask::None};
  if (source == shape_->rank) return {.samples = samples, .queries = all, .keys = all, .mask = BlockMask::Causal};
  if (!shape_->is_mirrored) return {.samples = samples, .queries = all, .keys = all, .mask = BlockMask::None};
  if (source < shape_->rank) return {.samples = samples, .queries = all, .keys = {.begin = 0, .count = half}, .mask = BlockMask::None};
  return {.samples = samples, .queries = {.begin = half, .count = half}, .keys = all, .mask = BlockMask::None};
}

std::vector<BlockPart> QueryShare::parts_of(std::int64_t source) const {
  if (documents_.none()) return {part_of(source)};
  return document_parts(*shape_, source, documents_);
}

HeadOperands QueryShare::operands(const at::Tensor& block, const BlockPart& part) const {
  const KeyBlock all(block, *shape_);
  return {.queries = rows_in(queries_, part.samples, part.queries),
          .keys = rows_in(all.keys, part.samples, part.keys),
          .values = rows_in(all.values, part.samples, part.keys)};
}

BlockScores QueryShare::rows(const BlockScores& scores, const BlockPart& part) {
  return {.output = rows_in(scores.output, part.samples, part.queries),
          .log_sum_exp = rows_in(scores.log_sum_exp, part.samples, part.queries)};
}

BlockPositions QueryShare::positions(const BlockPart& part, std::int64_t source) const {
  const auto of = [&](std::int64_t rank, RowRange rows) {
    return positions_of(*shape_, rank).narrow(0, rows.begin, rows.count).to(queries_.device());
  };
  return {.queries = of(shape_->rank, part.queries), .keys = of(source, part.keys)};
}

BlockScores QueryShare::attend_part(const at::Tensor& block, const BlockPart& part, std::int64_t source) const {
  if (shape_->are_scored()) return attend_scored_block(operands(block, part), shape_->scores, positions(part, source));
  return attend_block(operands(block, part), part.mask, {shape_->scores.scale});
}

// What any block joins as it is; or the sinks, which stand in front of all of them.
BlockScores QueryShare::nothing_attended() const {
  const std::int64_t samples = queries_.size(0), tokens = queries_.size(1), heads = queries_.size(2);
  const at::TensorOptions options = queries_.options().dtype(at::toOpMathType(queries_.scalar_type()));
  const std::array<std::int64_t, 3> sizes{samples, tokens, heads};
  return {.output = at::zeros({samples, tokens, heads, shape_->value_dim}, options),
          .log_sum_exp = shape_->scores.sinks.value.defined() ? sink_scores(shape_->scores, sizes, options)
                                                              : at::full(sizes, -std::numeric_limits<double>::infinity(), options)};
}

void QueryShare::attend(const at::Tensor& block, std::int64_t source) {
  if (begins_with_nothing() && !scores_.output.defined()) scores_ = nothing_attended();
  for (const BlockPart& part : parts_of(source)) {
    BlockScores scores = attend_part(block, part, source);
    if (!scores_.output.defined()) {
      scores_ = {.output = scores.output.to(at::toOpMathType(queries_.scalar_type())), .log_sum_exp = std::move(scores.log_sum_exp)};
      return;
    }
    const BlockScores into = rows(scores_, part);
    merge_scores(into, scores);
  }
}

at::Tensor QueryShare::output() {
  scores_.output = scores_.output.to(queries_.scalar_type());
  return scores_.output.view({queries_.size(0) * queries_.size(1), -1});
}

void QueryShare::begin_backward(const at::Tensor& output_gradient) {
  output_gradient_ = output_gradient.view(scores_.output.sizes());
  add_sink_gradient(shape_->scores, {.scores = scores_, .output_gradient = output_gradient_});
}

HeadOperands QueryShare::part_gradients(const at::Tensor& block, const BlockPart& part, std::int64_t source) const {
  const MergedScores merged{.scores = rows(scores_, part), .output_gradient = rows_in(output_gradient_, part.samples, part.queries)};
  if (shape_->are_scored()) return scored_block_gradients(operands(block, part), merged, shape_->scores, positions(part, source));
  return block_gradients(operands(block, part), merged, part.mask, {shape_->scores.scale});
}

BlockGradient QueryShare::gradient_of_documents(const at::Tensor& block, std::int64_t source) {
  if (!query_gradient_.defined()) query_gradient_ = zeros_as(queries_);
  const RowRange keys = part_of(source).keys;
  const KeyBlock seen = KeyBlock(block, *shape_).rows(keys);
  BlockGradient sum{.rows = keys, .keys = zeros_as(seen.keys), .values = zeros_as(seen.values)};
  for (const BlockPart& part : parts_of(source)) {
    const HeadOperands gradients = part_gradients(block, part, source);
    const RowRange among{.begin = part.keys.begin - keys.begin, .count = part.keys.count};
    rows_in(query_gradient_, part.samples, part.queries).add_(gradients.queries);
    rows_in(sum.keys, part.samples, among).add_(gradients.keys);
    rows_in(sum.values, part.samples, among).add_(gradients.values);
  }
  return sum;
}

BlockGradient QueryShare::block_gradient(const at::Tensor& block, std::int64_t source) {
  if (!documents_.none()) return gradient_of_documents(block, source);
  const BlockPart part = part_of(source);
  HeadOperands gradients = part_gradients(block, part, source);
  if (query_gradient_.defined())
    rows_in(query_gradient_, part.samples, part.queries).add_(gradients.queries);
  else
    query_gradient_ = std::move(gradients.queries);
  return {.rows = part.keys, .keys = std::move(gradients.keys), .values = std::move(gradients.values)};
}

at::Tensor QueryShare::joint_gradient(const at::Tensor& own) {
  scores_ = {};
  output_gradient_.reset();
  queries_.reset();
  const std::int64_t columns = shape_->query_columns() + shape_->key_columns() + shape_->value_columns();
  at::Tensor joint = at::empty({query_gradient_.size(0) * query_gradient_.size(1), columns}, own.options());
  const HeadOperands parts = cut(joint);
  const KeyBlock block(own, *shape_);
  parts.queries.copy_(std::exchange(query_gradient_, {}));
  parts.keys.copy_(block.keys);
  parts.values.copy_(block.values);
  if (shape_->heads.value_factor != 1) parts.values.mul_(shape_->heads.value_factor);
  apply_rotary(joint, shape_->heads, shape_->rotary, Turn::Back);
  return joint;
}

}  // namespace executor
