#include "executor/model/attention.h"

#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace executor {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Heads of one sample, next to each other.
struct Place {
  std::int64_t sample, head, heads;
};

// So many at once that their scores take 64 MiB at most. A CPU takes one: its caches hold no more, and the peak that the plan predicts holds one.
std::int64_t heads_at_once(const at::Tensor& queries) {
  constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;
  if (queries.is_cpu()) return 1;
  const std::int64_t scores = queries.size(2) * queries.size(2) * static_cast<std::int64_t>(queries.element_size());
  return std::clamp<std::int64_t>(kMostBytes / scores, 1, queries.size(1));
}

// Head by head. Of one head as a single product: a CPU's batched ones take other ways, with other bits and memory.
at::Tensor product(const at::Tensor& left, const at::Tensor& right) {
  return left.size(0) == 1 ? at::mm(left.select(0, 0), right.select(0, 0)).unsqueeze(0) : at::bmm(left, right);
}

class DroppedAttention {
 public:
  DroppedAttention(const HeadOperands& operands, const AttentionMasks& masks, const Dropout& dropout)
      : operands_(operands),
        masks_(masks),
        dropout_(dropout),
        sequence_(operands.queries.size(2)),
        at_once_(heads_at_once(operands.queries)),
        scale_(1.0 / std::sqrt(static_cast<double>(operands.queries.size(3)))),
        future_(at::full({sequence_, sequence_}, -std::numeric_limits<double>::infinity(), operands.queries.options()).triu_(1)) {}

  template <class Each>
  void for_each_head(const Each& each) const {
    for (std::int64_t sample = 0; sample < operands_.queries.size(0); ++sample)
      for (std::int64_t head = 0, all = operands_.queries.size(1); head < all; head += at_once_)
        each(Place{sample, head, std::min(at_once_, all - head)});
  }
  static at::Tensor at(const at::Tensor& heads, Place place) { return heads.select(0, place.sample).narrow(0, place.head, place.heads); }

  at::Tensor probabilities(Place place) const {
    const at::Tensor scores = product(at(operands_.queries, place), at(operands_.keys, place).transpose(1, 2)).mul_(scale_).add_(future_);
    return at::softmax(scores, 2);
  }
  at::Tensor dropped(const at::Tensor& probabilities, Place place) const {
    at::Tensor result = probabilities.clone();
    apply_dropout(result, mask(place));
    return result;
  }
  HeadOperands gradients(const at::Tensor& output_gradient, const at::Tensor& kept) const;

 private:
  Dropout mask(Place place) const {
    const std::int64_t head = place.sample * masks_.heads + masks_.first_head + place.head;
    Dropout result = dropout_;
    result.first_element += static_cast<std::uint64_t>(head * sequence_ * sequence_);
    return result;
  }

  const HeadOperands& operands_;
  const AttentionMasks& masks_;
  const Dropout& dropout_;
  std::int64_t sequence_, at_once_;
  double scale_;
  at::Tensor future_;  // -infinity where a key lies behind its query
};

HeadOperands DroppedAttention::gradients(const at::Tensor& output_gradient, const at::Tensor& kept) const {
  const auto empty = [](const at::Tensor& like) { return at::empty(like.sizes(), like.options()); };
  const HeadOperands result{empty(operands_.queries), empty(operands_.keys), empty(operands_.values)};
  for_each_head([&](Place place) {
    const at::Tensor probability = kept.defined() ? at(kept, place) : probabilities(place), out = at(output_gradient, place);
    at(result.values, place).copy_(product(dropped(probability, place).transpose(1, 2), out));
    at::Tensor slope = product(out, at(operands_.values, place).transpose(1, 2));
    apply_dropout(slope, mask(place));
    slope.sub_(slope.mul(probability).sum(2, /*keepdim=*/true)).mul_(probability).mul_(scale_);
    at(result.queries, place).copy_(product(slope, at(operands_.keys, place)));
    at(result.keys, place).copy_(product(slope.transpose(1, 2), at(operands_.queries, place)));
  });
  return result;
}

struct DroppedAttentionFunction : torch::autograd::Function<DroppedAttentionFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                            const AttentionMasks& masks, const Dropout& dropout) {
    const HeadOperands operands{queries.detach(), keys.detach(), values.detach()};
    const DroppedAttention attention(operands, masks, dropout);
    const std::int64_t samples = queries.size(0), heads = queries.size(1), sequence = queries.size(2), width = values.size(3);
    const at::Tensor output = at::empty({samples, sequence, heads, width}, queries.options());
    at::Tensor kept;
    if (masks.keeps_scores) kept = at::empty({samples, heads, sequence, sequence}, queries.options());
    attention.for_each_head([&](Place place) {
      const at::Tensor probability = attention.probabilities(place);
      DroppedAttention::at(output.transpose(1, 2), place)
          .copy_(product(attention.dropped(probability, place), DroppedAttention::at(operands.values, place)));
      if (kept.defined()) DroppedAttention::at(kept, place).copy_(probability);
    });
    context->save_for_backward({queries, keys, values});
    context->saved_data["probabilities"] = kept;
    context->saved_data["heads"] = std::vector<std::int64_t>{masks.heads, masks.first_head};
    context->saved_data["dropout"] =
        std::vector<std::int64_t>{static_cast<std::int64_t>(dropout.key.value), static_cast<std::int64_t>(dropout.first_element)};
    context->saved_data["probability"] = dropout.probability;
    context->saved_data["key_there"] = dropout.key_there;
    return output.view({samples * sequence, heads * width});
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const HeadOperands operands{saved[0], saved[1], saved[2]};
    const auto heads = context->saved_data["heads"].toIntVector(), named = context->saved_data["dropout"].toIntVector();
    const AttentionMasks masks{.heads = heads[0], .first_head = heads[1]};
    const Dropout dropout{.probability = context->saved_data["probability"].toDouble(),
                          .key = {static_cast<std::uint64_t>(named[0])},
                          .first_element = static_cast<std::uint64_t>(named[1]),
                          .key_there = context->saved_data["key_there"].toTensor()};
    const auto& values = operands.values;
    const at::Tensor out = gradients.front().view({values.size(0), values.size(2), values.size(1), values.size(3)}).transpose(1, 2);
    const HeadOperands result = DroppedAttention(operands, masks, dropout).gradients(out, context->saved_data["probabilities"].toTensor());
    return {result.queries, result.keys, result.values, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor causal_attention(const HeadOperands& operands, const AttentionMasks& masks, const Dropout& dropout) {
  const auto& [queries, keys, values] = operands;
  const std::int64_t times = queries.size(1) / keys.size(1);
  if (dropout.probability > 0 && times > 1)
    return DroppedAttentionFunction::apply(queries, keys.repeat_interleave(times, 1), values.repeat_interleave(times, 1), masks, dropout);
  if (dropout.probability > 0) return DroppedAttentionFunction::apply(queries, keys, values, masks, dropout);
  const at::Tensor mixed = at::scaled_dot_product_attention(queries, keys, values, /*attn_mask=*/{}, /*dropout_p=*/0.0, /*is_causal=*/true,
                                                            /*scale=*/{}, /*enable_gqa=*/times > 1);
  return mixed.transpose(1, 2).reshape({queries.size(0) * queries.size(2), queries.size(1) * queries.size(3)});
}

}  // namespace executor
