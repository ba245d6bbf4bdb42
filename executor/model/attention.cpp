#include "executor/model/attention.h"

#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/logaddexp.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "executor/model/block_attention.h"
#include "executor/model/dropped_attention.h"
#include "executor/model/gradient_place.h"
#include "executor/model/saved_tensors.h"

namespace executor {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Heads of one sample, next to each other.
struct Place {
  std::int64_t sample, head, heads;
};

// So many at once that their scores take 64 MiB at most. A CPU takes one: its caches hold no more, and the peak that the plan predicts holds one.
std::int64_t heads_at_once(const at::Tensor& queries, const at::Tensor& keys) {
  constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;
  if (queries.is_cpu()) return 1;
  const std::int64_t scores = queries.size(2) * keys.size(2) * static_cast<std::int64_t>(queries.element_size());
  return std::clamp<std::int64_t>(kMostBytes / scores, 1, queries.size(1));
}

// Head by head. Of one head as a single product: a CPU's batched ones take other ways, with other bits and memory.
at::Tensor product(const at::Tensor& left, const at::Tensor& right) {
  return left.size(0) == 1 ? at::mm(left.select(0, 0), right.select(0, 0)).unsqueeze(0) : at::bmm(left, right);
}

class ScoredAttention {
 public:
  ScoredAttention(const HeadOperands& operands, const ScoreForm& form, const Dropout& dropout)
      : operands_(operands),
        form_(form),
        dropout_(dropout),
        sequence_(operands.queries.size(2)),
        keys_(operands.keys.size(2)),
        at_once_(heads_at_once(operands.queries, operands.keys)),
        scale_(ScoreWidth{form.scale}.scale(operands)),
        out_of_sight_(out_of_sight()) {}

  template <class Each>
  void for_each_head(const Each& each) const {
    for (std::int64_t sample = 0; sample < operands_.queries.size(0); ++sample)
      for (std::int64_t head = 0, all = operands_.queries.size(1); head < all; head += at_once_)
        each(Place{sample, head, std::min(at_once_, all - head)});
  }
  static at::Tensor at(const at::Tensor& heads, Place place) { return heads.select(0, place.sample).narrow(0, place.head, place.heads); }

  at::Tensor probabilities(Place place) const {
    at::Tensor scores = capped(place);
    if (form_.slopes.defined()) scores.add_(of_heads(form_.slopes, place) * at::arange(sequence_, scores.options()));
    if (form_.distances.value.defined()) add_distances(scores, place);
    if (out_of_sight_.defined()) scores.add_(out_of_sight_);
    hide_other_documents(scores, place);
    if (!form_.sinks.value.defined()) return at::softmax(scores, 2);
    const at::Tensor wide = scores.to(at::toOpMathType(scores.scalar_type()));
    const at::Tensor sink = of_heads(own_sinks(form_.sinks.value.detach()), place).to(wide.scalar_type());
    return wide.sub_(at::logaddexp(at::logsumexp(wide, 2, /*keepdim=*/true), sink)).exp_().to(scores.scalar_type());
  }
  at::Tensor dropped(const at::Tensor& probabilities, Place place) const {
    if (dropout_.probability <= 0) return probabilities;
    at::Tensor result = probabilities.clone();
    apply_dropout(result, mask(place));
    return result;
  }
  HeadOperands gradients(const at::Tensor& output_gradient, const at::Tensor& kept) const;

 private:
  at::Tensor own_sinks(const at::Tensor& all) const { return form_.dealt_sinks(all, operands_.queries.size(1)); }
  static at::Tensor of_heads(const at::Tensor& numbers, Place place) { return numbers.narrow(0, place.head, place.heads).view({-1, 1, 1}); }
  void add_distances(const at::Tensor& scores, Place place) const {
    const at::Tensor table = form_.distances.value.detach().narrow(0, place.head, place.heads);
    scores.add_(table.index_select(1, form_.columns.flatten()).view_as(scores));
  }
  void distances_backward(const at::Tensor& slope, Place place) const {
    if (!form_.distances.gradient.defined()) return;
    const at::Tensor table = started(form_.distances.gradient).narrow(0, place.head, place.heads);
    table.index_add_(1, form_.columns.flatten(), slope.flatten(1).to(table.scalar_type()));
  }
  at::Tensor capped(Place place) const {
    return form_.capped(product(at(operands_.queries, place), at(operands_.keys, place).transpose(1, 2)).mul_(scale_));
  }
  // -infinity where a query does not see the key, else 0.
  at::Tensor out_of_sight() const {
    const auto beyond = [&] {
      return at::full({sequence_, sequence_}, -std::numeric_limits<double>::infinity(), operands_.queries.options());
    };
    const bool has_window = !form_.sees_all_behind(sequence_);
    at::Tensor hidden;
    if (form_.is_causal) hidden = beyond().triu_(1);
    if (!form_.is_causal && has_window) hidden = beyond().triu_(form_.reach());
    if (has_window) hidden.add_(beyond().tril_(-form_.reach()));
    return hidden;
  }
  void hide_other_documents(const at::Tensor& scores, Place place) const {
    for (const DocumentRows& rows : form_.documents.all()) {
      if (rows.begin / sequence_ != place.sample) continue;
      const std::int64_t begin = rows.begin % sequence_, end = begin + rows.count;
      const at::Tensor own = scores.narrow(1, begin, rows.count);
      own.narrow(2, 0, begin).fill_(-std::numeric_limits<double>::infinity());
      own.narrow(2, end, sequence_ - end).fill_(-std::numeric_limits<double>::infinity());
    }
  }
  Dropout mask(Place place) const {
    const std::int64_t head = place.sample * form_.heads + form_.first_head + place.head;
    Dropout result = dropout_;
    result.first_element += static_cast<std::uint64_t>(head * sequence_ * keys_);
    return result;
  }

  const HeadOperands& operands_;
  const ScoreForm& form_;
  const Dropout& dropout_;
  std::int64_t sequence_, keys_, at_once_;  // queries and keys of a sample
  double scale_;
  at::Tensor out_of_sight_;
};

HeadOperands ScoredAttention::gradients(const at::Tensor& output_gradient, const at::Tensor& kept) const {
  const auto empty = [](const at::Tensor& like) { return at::empty(like.sizes(), like.options()); };
  const HeadOperands result{empty(operands_.queries), empty(operands_.keys), empty(operands_.values)};
  for_each_head([&](Place place) {
    const at::Tensor probability = kept.defined() ? at(kept, place) : probabilities(place), out = at(output_gradient, place);
    at(result.values, place).copy_(product(dropped(probability, place).transpose(1, 2), out));
    at::Tensor slope = product(out, at(operands_.values, place).transpose(1, 2));
    apply_dropout(slope, mask(place));
    const at::Tensor mean = slope.mul(probability).sum(2, /*keepdim=*/true);
    if (form_.sinks.value.defined())
      if (form_.sinks.gradient.defined())
        own_sinks(started(form_.sinks.gradient))
            .narrow(0, place.head, place.heads)
            .add_(probability.sum(2, true).sub_(1).mul_(mean).sum({1, 2}));
    slope.sub_(mean).mul_(probability);
    distances_backward(slope, place);
    if (form_.cap > 0) form_.through_cap(slope, capped(place));
    slope.mul_(scale_);
    at(result.queries, place).copy_(product(slope, at(operands_.keys, place)));
    at(result.keys, place).copy_(product(slope.transpose(1, 2), at(operands_.queries, place)));
  });
  return result;
}

// What the backward needs beside tensors of the graph.
struct ScoredHeads : torch::CustomClassHolder {
  ScoredHeads(ScoreForm of_scores, const Dropout& of_probabilities, at::Tensor kept)
      : form(std::move(of_scores)), dropout(of_probabilities), probabilities(std::move(kept)) {}
  ScoreForm form;
  Dropout dropout;
  at::Tensor probabilities;  // [samples, heads, queries, keys], or none: they are computed again
};

struct ScoredAttentionFunction : torch::autograd::Function<ScoredAttentionFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                            const ScoreForm& form, const Dropout& dropout) {
    const HeadOperands operands{queries.detach(), keys.detach(), values.detach()};
    const ScoredAttention attention(operands, form, dropout);
    const std::int64_t samples = queries.size(0), heads = queries.size(1), sequence = queries.size(2), width = values.size(3);
    const at::Tensor output = at::empty({samples, sequence, heads, width}, queries.options());
    at::Tensor kept;
    if (form.keeps_scores && dropout.probability > 0) kept = at::empty({samples, heads, sequence, keys.size(2)}, queries.options());
    attention.for_each_head([&](Place place) {
      const at::Tensor probability = attention.probabilities(place);
      ScoredAttention::at(output.transpose(1, 2), place)
          .copy_(product(attention.dropped(probability, place), ScoredAttention::at(operands.values, place)));
      if (kept.defined()) ScoredAttention::at(kept, place).copy_(probability);
    });
    Saving::offer(sim::Module::CoreAttention, {kept});
    context->save_for_backward({queries, keys, values});
    context->saved_data["scores"] = c10::IValue::make_capsule(c10::make_intrusive<ScoredHeads>(form, dropout, std::move(kept)));
    return output.view({samples * sequence, heads * width});
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const HeadOperands operands{saved[0], saved[1], saved[2]};
    const auto scores = c10::static_intrusive_pointer_cast<ScoredHeads>(context->saved_data["scores"].toCapsule());
    const auto& [queries, keys, values] = operands;
    const at::Tensor out = gradients.front().view({queries.size(0), queries.size(2), queries.size(1), values.size(3)}).transpose(1, 2);
    const HeadOperands result = ScoredAttention(operands, scores->form, scores->dropout).gradients(out, scores->probabilities);
    return {result.queries, result.keys, result.values, at::Tensor(), at::Tensor()};
  }
};

at::Tensor fused(const HeadOperands& operands, const FusedForm& form) {
  return at::scaled_dot_product_attention(operands.queries, operands.keys, operands.values, /*attn_mask=*/{}, /*dropout_p=*/0.0,
                                          form.is_causal, form.scale, form.is_grouped);
}

// The kernel keeps its output and sums of exponentials; here both are made again.
struct FusedAgainFunction : torch::autograd::Function<FusedAgainFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                            const FusedForm& form) {
    context->save_for_backward({queries, keys, values});
    context->saved_data["is_causal"] = form.is_causal;
    context->saved_data["is_grouped"] = form.is_grouped;
    context->saved_data["scale"] = form.scale.value_or(0);
    return fused({queries, keys, values}, form);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const double scale = context->saved_data["scale"].toDouble();
    const FusedForm form{.is_causal = context->saved_data["is_causal"].toBool(),
                         .is_grouped = context->saved_data["is_grouped"].toBool(),
                         .scale = scale > 0 ? std::optional(scale) : std::nullopt};
    variable_list operands;
    for (const at::Tensor& saved : context->get_saved_variables()) operands.push_back(saved.detach().requires_grad_());
    at::Tensor mixed;
    {
      const c10::AutoGradMode record(true);
      mixed = fused({operands[0], operands[1], operands[2]}, form);
    }
    variable_list found = torch::autograd::grad({mixed}, operands, {gradients.front()});
    found.emplace_back();
    return found;
  }
};

// A CPU's kernel takes one width: values that are narrower than keys are filled up.
at::Tensor filled_up(const at::Tensor& values, const at::Tensor& queries) {
  const std::int64_t missing = queries.size(3) - values.size(3);
  return queries.is_cpu() && missing > 0 ? at::constant_pad_nd(values, {0, missing}) : values;
}

}  // namespace

void offer_saved(const HeadOperands& operands, std::initializer_list<at::Tensor> outputs) {
  Saving::offer(sim::Module::CoreAttention, {operands.queries, operands.keys, operands.values});
  Saving::offer(sim::Module::AttentionProjection, outputs);
}

at::Tensor attend_heads(const HeadOperands& operands, const ScoreForm& form, const Dropout& dropout) {
  const auto& [queries, keys, values] = operands;
  const std::int64_t times = queries.size(1) / keys.size(1);
  if (dropout.probability > 0 || !form.documents.none() || !form.knows_kernel(queries.size(2))) {
    if (attends_dropped(operands, form, dropout)) return attend_dropped(operands, form, dropout);
    const auto repeated = [&](const at::Tensor& heads) { return times == 1 ? heads : heads.repeat_interleave(times, 1); };
    const HeadOperands all{queries, repeated(keys), repeated(values)};
    const at::Tensor output = ScoredAttentionFunction::apply(all.queries, all.keys, all.values, form, dropout);
    offer_saved(all, {output});
    return output;
  }
  const std::optional<double> scale = form.scale > 0 ? std::optional(1 / std::sqrt(form.scale)) : std::nullopt;
  const HeadOperands filled{queries, keys, filled_up(values, queries)};
  const at::Tensor mixed =
      attend_fused(filled, {.is_causal = form.is_causal, .is_grouped = times > 1, .is_again = form.is_again, .scale = scale});
  const std::int64_t width = values.size(3);
  const at::Tensor rows = mixed.transpose(1, 2), own = mixed.size(3) == width ? rows : rows.narrow(3, 0, width);
  at::Tensor output = own.reshape({queries.size(0) * queries.size(2), queries.size(1) * width});
  offer_saved(filled, {mixed, output});
  return output;
}

at::Tensor attend_fused(const HeadOperands& operands, const FusedForm& form) {
  return form.is_again ? FusedAgainFunction::apply(operands.queries, operands.keys, operands.values, form) : fused(operands, form);
}

// 2^(-8 i / n) of n heads, n a power of two; of other numbers those of the power below, then every second of the power above.
at::Tensor alibi_slopes(std::int64_t heads, HeadRange range, at::TensorOptions options) {
  const auto below = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  const at::Tensor slopes = at::empty({range.count}, at::kDouble);
  for (std::int64_t at = 0; at < range.count; ++at) {
    const std::int64_t head = range.first + at, steps = head < below ? 2 * (head + 1) : 2 * (head - below) + 1;
    slopes.data_ptr<double>()[at] = std::exp2(-4.0 * static_cast<double>(steps) / static_cast<double>(below));
  }
  return slopes.to(options);
}

}  // namespace executor
