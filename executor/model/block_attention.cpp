#include "executor/model/block_attention.h"

#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/_scaled_dot_product_flash_attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/full.h>
#include <ATen/ops/logaddexp.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/kernels/gpu_operators.h"

namespace executor {

double ScoreWidth::scale(const HeadOperands& operands) const {
  return 1.0 / std::sqrt(value > 0 ? value : static_cast<double>(operands.queries.size(3)));
}

namespace {

at::Tensor heads_first(const at::Tensor& tokens_first) { return tokens_first.transpose(1, 2); }

// Operands as [samples, heads, tokens, head_dim], every head with keys of its own.
struct ComposedAttention {
  ComposedAttention(const HeadOperands& operands, BlockMask mask, ScoreWidth width)
      : queries(heads_first(operands.queries)),
        times(operands.queries.size(2) / operands.keys.size(2)),
        keys(repeated(operands.keys)),
        values(repeated(operands.values)),
        scale(width.scale(operands)),
        is_causal(mask == BlockMask::Causal) {}

  at::Tensor repeated(const at::Tensor& block) const {
    const at::Tensor heads = heads_first(block);
    if (times == 1) return heads;
    return heads.unsqueeze(2).expand({-1, -1, times, -1, -1}).reshape({heads.size(0), -1, heads.size(2), heads.size(3)});
  }
  at::Tensor summed(const at::Tensor& gradient) const {  // of repeated heads, tokens first
    return heads_first(times == 1 ? gradient : gradient.view({gradient.size(0), -1, times, gradient.size(2), gradient.size(3)}).sum(2));
  }
  at::Tensor scores() const {
    at::Tensor all = at::matmul(queries, keys.transpose(2, 3)).to(at::toOpMathType(queries.scalar_type())).mul_(scale);
    if (is_causal) all.add_(at::full({all.size(2), all.size(3)}, -std::numeric_limits<double>::infinity(), all.options()).triu_(1));
    return all;
  }

  at::Tensor queries;
  std::int64_t times;
  at::Tensor keys, values;
  double scale;
  bool is_causal;
};

BlockScores attend_composed(const HeadOperands& operands, BlockMask mask, ScoreWidth width) {
  const ComposedAttention attention(operands, mask, width);
  at::Tensor scores = attention.scores();
  const at::Tensor log_sum_exp = at::logsumexp(scores, 3);
  const at::Tensor probabilities = scores.sub_(log_sum_exp.unsqueeze(3)).exp_().to(attention.queries.scalar_type());
  return {.output = heads_first(at::matmul(probabilities, attention.values)).contiguous(),
          .log_sum_exp = log_sum_exp.transpose(1, 2).contiguous()};
}

HeadOperands gradients_composed(const HeadOperands& operands, const MergedScores& merged, BlockMask mask, ScoreWidth width) {
  const ComposedAttention attention(operands, mask, width);
  const at::Tensor output_gradient = heads_first(merged.output_gradient);
  const at::Tensor probabilities = attention.scores().sub_(heads_first(merged.scores.log_sum_exp).unsqueeze(3)).exp_();
  const auto type = attention.queries.scalar_type();
  const at::Tensor mean =
      heads_first(merged.output_gradient.mul(merged.scores.output).sum(3, /*keepdim=*/true, probabilities.scalar_type()));
  const at::Tensor slope = at::matmul(output_gradient, attention.values.transpose(2, 3)).to(probabilities.scalar_type());
  const at::Tensor score_gradient = slope.sub(mean).mul_(probabilities).mul_(attention.scale).to(type);
  return {.queries = heads_first(at::matmul(score_gradient, attention.keys)),
          .keys = attention.summed(at::matmul(score_gradient.transpose(2, 3), attention.queries)),
          .values = attention.summed(at::matmul(probabilities.to(type).transpose(2, 3), output_gradient))};
}

// The last dimension with zeros behind it.
at::Tensor widened(const at::Tensor& tensor, std::int64_t width) {
  return tensor.size(3) == width ? tensor : at::constant_pad_nd(tensor, {0, width - tensor.size(3)});
}

struct FusedOperands {
  FusedOperands(const HeadOperands& operands, std::int64_t multiple, ScoreWidth of_scores)
      : width(width_of(operands, multiple)),
        queries(heads_first(widened(operands.queries, width))),
        keys(heads_first(widened(operands.keys, width))),
        values(heads_first(widened(operands.values, width))),
        scale(of_scores.scale(operands)) {}
  static std::int64_t width_of(const HeadOperands& operands, std::int64_t multiple) {
    return (std::max(operands.queries.size(3), operands.values.size(3)) + multiple - 1) / multiple * multiple;
  }
  // Gradients as heads: with tokens first, and as wide as the operands.
  static HeadOperands cut_to(const HeadOperands& operands, const HeadOperands& heads) {
    const std::int64_t key = operands.queries.size(3), value = operands.values.size(3);
    return {.queries = heads_first(heads.queries).narrow(3, 0, key),
            .keys = heads_first(heads.keys).narrow(3, 0, key),
            .values = heads_first(heads.values).narrow(3, 0, value)};
  }
  std::int64_t width;
  at::Tensor queries, keys, values;
  double scale;
};

// A GPU's kernel takes widths of whole 16 bytes; it knows of grouped heads, too.
constexpr std::int64_t kAnyWidth = 1, kWidthOfFlash = 8;

bool has_flash(const HeadOperands& operands) {
  return attends_by_blocks(card_of(operands.queries.device()),
                           {.type = operands.queries.scalar_type(), .width = FusedOperands::width_of(operands, kWidthOfFlash)});
}

BlockScores attend_by_flash(const HeadOperands& operands, BlockMask mask, ScoreWidth width) {
  const FusedOperands fused(operands, kWidthOfFlash, width);
  const auto found = at::_scaled_dot_product_flash_attention(fused.queries, fused.keys, fused.values, /*dropout_p=*/0.0,
                                                             mask == BlockMask::Causal, /*return_debug_mask=*/false, fused.scale);
  return {.output = heads_first(std::get<0>(found)).narrow(3, 0, operands.values.size(3)).contiguous(),
          .log_sum_exp = std::get<1>(found).transpose(1, 2)};
}

// Its backward reads the log-sum-exp as it lies: by head. Without dropout no random state is read.
HeadOperands gradients_by_flash(const HeadOperands& operands, const MergedScores& merged, BlockMask mask, ScoreWidth width) {
  const FusedOperands fused(operands, kWidthOfFlash, width);
  const auto type = operands.queries.scalar_type();
  const at::Tensor no_state = at::empty({}, operands.queries.options().dtype(at::kLong));
  const auto [queries, keys, values] = at::_scaled_dot_product_flash_attention_backward(
      heads_first(widened(merged.output_gradient, fused.width)), fused.queries, fused.keys, fused.values,
      heads_first(widened(merged.scores.output.to(type), fused.width)), heads_first(merged.scores.log_sum_exp).contiguous(),
      /*cum_seq_q=*/{}, /*cum_seq_k=*/{}, fused.queries.size(2), fused.keys.size(2), /*dropout_p=*/0.0, mask == BlockMask::Causal, no_state,
      no_state, fused.scale);
  return FusedOperands::cut_to(operands, {queries, keys, values});
}

}  // namespace

BlockScores attend_block(const HeadOperands& operands, BlockMask mask, ScoreWidth width) {
  if (!operands.queries.is_cpu())
    return has_flash(operands) ? attend_by_flash(operands, mask, width) : attend_composed(operands, mask, width);
  const FusedOperands fused(operands, kAnyWidth, width);
  const auto [output, log_sum_exp] = at::_scaled_dot_product_flash_attention_for_cpu(
      fused.queries, fused.keys, fused.values, /*dropout_p=*/0.0, mask == BlockMask::Causal, /*attn_mask=*/{}, fused.scale);
  return {.output = heads_first(output).narrow(3, 0, operands.values.size(3)).contiguous(), .log_sum_exp = log_sum_exp.transpose(1, 2)};
}

HeadOperands block_gradients(const HeadOperands& operands, const MergedScores& merged, BlockMask mask, ScoreWidth width) {
  if (!operands.queries.is_cpu())
    return has_flash(operands) ? gradients_by_flash(operands, merged, mask, width) : gradients_composed(operands, merged, mask, width);
  const FusedOperands fused(operands, kAnyWidth, width);
  const auto [queries, keys, values] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      heads_first(widened(merged.output_gradient, fused.width)), fused.queries, fused.keys, fused.values,
      heads_first(widened(merged.scores.output, fused.width)), heads_first(merged.scores.log_sum_exp), /*dropout_p=*/0.0,
      mask == BlockMask::Causal, /*attn_mask=*/{}, fused.scale);
  return FusedOperands::cut_to(operands, {queries, keys, values});
}

void merge_scores(const BlockScores& into, const BlockScores& block) {
  const at::Tensor sum = at::logaddexp(into.log_sum_exp, block.log_sum_exp);
  const auto share = [&](const at::Tensor& part) { return (part - sum).exp_().unsqueeze(3); };
  into.output.mul_(share(into.log_sum_exp)).addcmul_(block.output.to(into.output.scalar_type()), share(block.log_sum_exp));
  into.log_sum_exp.copy_(sum);
}

}  // namespace executor
