#include "executor/model/dropped_attention.h"

#include <ATen/core/ivalue.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/softmax.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "executor/kernels/on_device.h"
#include "executor/model/made_again.h"

namespace executor {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Heads of one sample: which, and where they stand in a part.
struct HeadsOfSample {
  std::int64_t sample, head, heads, at;
};

// [samples, heads, tokens, width] -> [heads of all samples, tokens, width]. Of several samples, or where queries share keys, a copy, because a sample's
// heads stand in its tokens' rows: a product takes a part of it as it is. The backward reads the copy, too: it is kept in place of what it was made of, unless that is made again.
at::Tensor one_behind_another(const at::Tensor& heads, std::int64_t sharers) {
  const at::Tensor all = heads.flatten(0, -3);
  return sharers > 1 ? all.contiguous() : all;
}
HeadOperands one_behind_another(const HeadOperands& all) {
  const std::int64_t sharers = all.queries.size(-3) / all.keys.size(-3);
  return {one_behind_another(all.queries, sharers), one_behind_another(all.keys, sharers), one_behind_another(all.values, sharers)};
}

class PartsOfScores {
 public:
  // operands: as one_behind_another() has them; here: heads of a sample.
  PartsOfScores(const HeadOperands& operands, std::int64_t here, const ScoreForm& form, const Dropout& dropout, ScoresAtOnce at_once)
      : operands_(operands),
        form_(form),
        dropout_(dropout),
        here_(here),
        all_(operands.queries.size(0)),
        sharers_(all_ / operands.keys.size(0)) {
    const std::int64_t queries = operands.queries.size(1), keys = operands.keys.size(1);
    const double width = form.scale > 0 ? form.scale : static_cast<double>(operands.queries.size(2));
    shape_ = {.heads = 0, .queries = queries, .keys = keys, .is_causal = form.is_causal, .scale = 1.0 / std::sqrt(width)};
    const sim::Bytes head(queries * keys * static_cast<std::int64_t>(operands.queries.element_size()));
    of_part_ = sim::heads_of_a_part(head, {.all = all_, .sharers = sharers_}, at_once.most);
  }

  // each(first head, heads): of all samples' heads, one sample behind the other.
  template <class Each>
  void for_each_part(const Each& each) const {
    for (std::int64_t first = 0; first < all_; first += of_part_) each(first, std::min(of_part_, all_ - first));
  }
  at::Tensor empty(std::int64_t heads) const { return at::empty({heads, shape_.queries, shape_.keys}, operands_.queries.options()); }

  // scores[head] = left[head] right[head]^T of a part that begins with head `first`; all as one_behind_another() has them. Queries that share keys are
  // rows of one matrix, and so are their scores: keys are read once a group, and gradients of keys summed in the product.
  void multiply(const at::Tensor& scores, std::int64_t first, const at::Tensor& left, const at::Tensor& right) const {
    at::Tensor out = by_group(scores);
    at::bmm_out(out, by_group(left.narrow(0, first, scores.size(0))), groups_of(right, first, scores).transpose(1, 2));
  }
  // result[head] = scores[head] right[head].
  void apply(const at::Tensor& result, std::int64_t first, const at::Tensor& scores, const at::Tensor& right) const {
    at::Tensor out = by_group(result.narrow(0, first, scores.size(0)));
    at::bmm_out(out, by_group(scores), groups_of(right, first, scores));
  }
  // result[group] = sum of scores[head]^T left[head].
  void apply_back(const at::Tensor& result, std::int64_t first, const at::Tensor& scores, const at::Tensor& left) const {
    at::Tensor out = groups_of(result, first, scores);
    at::bmm_out(out, by_group(scores).transpose(1, 2), by_group(left.narrow(0, first, scores.size(0))));
  }

  // Scores become dropped probabilities, or probabilities where nothing `drops`. kept: where the latter go, too; or no tensor.
  void softmax(const at::Tensor& scores, const at::Tensor& kept, std::int64_t first, bool drops) const {
    if (on_device::has_kernels(scores)) {
      const Dropout none{};
      return on_device::masked_softmax(scores, kept, heads_of(first, scores, drops ? dropout_ : none), dropout_.key_there);
    }
    scores.mul_(shape_.scale);
    if (form_.is_causal)
      scores.add_(at::full({shape_.queries, shape_.keys}, -std::numeric_limits<double>::infinity(), scores.options()).triu_(1));
    scores.copy_(at::softmax(scores, 2));
    if (kept.defined()) kept.copy_(scores);
    if (drops) drop(scores, first);
  }
  // gradient: of dropped probabilities; becomes that of the products of queries and keys. Probabilities become dropped ones.
  void softmax_backward(const at::Tensor& gradient, const at::Tensor& probabilities, std::int64_t first) const {
    if (on_device::has_kernels(gradient))
      return on_device::masked_softmax_backward(gradient, probabilities, heads_of(first, gradient, dropout_), dropout_.key_there);
    drop(gradient, first);
    gradient.sub_(gradient.mul(probabilities).sum(2, /*keepdim=*/true)).mul_(probabilities).mul_(shape_.scale);
    drop(probabilities, first);
  }

 private:
  at::Tensor by_group(const at::Tensor& heads) const {
    return sharers_ == 1 ? heads : heads.view({heads.size(0) / sharers_, sharers_ * heads.size(1), heads.size(2)});
  }
  at::Tensor groups_of(const at::Tensor& keys, std::int64_t first, const at::Tensor& scores) const {
    return keys.narrow(0, first / sharers_, scores.size(0) / sharers_);
  }
  template <class Each>
  void for_each_sample(std::int64_t first, std::int64_t count, const Each& each) const {
    for (std::int64_t at = 0, heads = 0; at < count; at += heads) {
      const std::int64_t head = (first + at) % here_;
      heads = std::min(here_ - head, count - at);
      each(HeadsOfSample{.sample = (first + at) / here_, .head = head, .heads = heads, .at = at});
    }
  }
  void drop(const at::Tensor& part, std::int64_t first) const {
    for_each_sample(first, part.size(0), [&](const HeadsOfSample& heads) {
      Dropout own = dropout_;
      const std::int64_t head = heads.sample * form_.heads + form_.first_head + heads.head;
      own.first_element += static_cast<std::uint64_t>(head * shape_.queries * shape_.keys);
      at::Tensor numbers = part.narrow(0, heads.at, heads.heads);
      apply_dropout(numbers, own);
    });
  }
  on_device::SoftmaxOfHeads heads_of(std::int64_t first, const at::Tensor& part, const Dropout& dropout) const {
    SoftmaxShape shape = shape_;
    shape.heads = part.size(0);
    return {.shape = shape,
            .places = {.first = first, .here = here_, .all = form_.heads, .first_head = form_.first_head},
            .draw = dropout_draw(dropout.probability, {.key = dropout.key.value, .first_element = dropout.first_element})};
  }

  const HeadOperands& operands_;
  const ScoreForm& form_;
  const Dropout& dropout_;
  std::int64_t here_, all_, sharers_, of_part_ = 1;  // heads of queries: of a sample, of all samples, that share keys, of a part
  SoftmaxShape shape_;
};

// What the backward needs beside tensors of the graph.
struct DroppedHeads : torch::CustomClassHolder {
  DroppedHeads(std::int64_t all_samples, ScoreForm of_scores, const Dropout& of_probabilities, ScoresAtOnce of_part)
      : samples(all_samples), form(std::move(of_scores)), dropout(of_probabilities), at_once(of_part) {}
  std::int64_t samples;
  ScoreForm form;
  Dropout dropout;
  ScoresAtOnce at_once;
  at::Tensor kept;  // probabilities [heads of all samples, queries, keys], which the backward writes over; or none: they are computed again
};

struct DroppedAttentionFunction : torch::autograd::Function<DroppedAttentionFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                            const ScoreForm& form, const Dropout& dropout, ScoresAtOnce at_once) {
    const HeadOperands all{queries.detach(), keys.detach(), values.detach()}, operands = one_behind_another(all);
    const std::int64_t samples = queries.size(0), heads = queries.size(1), tokens = queries.size(2), width = values.size(3);
    const PartsOfScores parts(operands, heads, form, dropout, at_once);
    auto saved = c10::make_intrusive<DroppedHeads>(samples, form, dropout, at_once);
    const at::Tensor output = at::empty({samples, tokens, heads, width}, queries.options()), rows = output.transpose(1, 2);
    const bool is_in_place = samples == 1 && keys.size(1) == heads;
    const at::Tensor result = is_in_place ? rows.select(0, 0) : at::empty({samples * heads, tokens, width}, queries.options());
    if (form.keeps_scores) saved->kept = parts.empty(samples * heads);
    parts.for_each_part([&](std::int64_t first, std::int64_t count) {
      const at::Tensor scores = parts.empty(count);
      parts.multiply(scores, first, operands.queries, operands.keys);
      parts.softmax(scores, saved->kept.defined() ? saved->kept.narrow(0, first, count) : at::Tensor(), first, /*drops=*/true);
      parts.apply(result, first, scores, operands.values);
    });
    if (!is_in_place) rows.copy_(result.view(rows.sizes()));
    const HeadOperands& read = Recomputing::makes_again(sim::Module::MlaUpProjection) ? all : operands;
    context->save_for_backward({read.queries, read.keys, read.values});
    context->saved_data["heads"] = c10::IValue::make_capsule(std::move(saved));
    return output.view({samples * tokens, heads * width});
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const HeadOperands operands = one_behind_another({saved[0], saved[1], saved[2]});
    const std::int64_t sharers = operands.queries.size(0) / operands.keys.size(0);
    const auto heads = c10::static_intrusive_pointer_cast<DroppedHeads>(context->saved_data["heads"].toCapsule());
    const std::int64_t samples = heads->samples, here = operands.queries.size(0) / samples, tokens = operands.queries.size(1);
    const at::Tensor above = one_behind_another(gradients.front().view({samples, tokens, here, -1}).transpose(1, 2), sharers);
    const auto empty = [](const at::Tensor& like) { return at::empty(like.sizes(), like.options()); };
    const HeadOperands result{empty(operands.queries), empty(operands.keys), empty(operands.values)};
    const PartsOfScores parts(operands, here, heads->form, heads->dropout, heads->at_once);
    parts.for_each_part([&](std::int64_t first, std::int64_t count) {
      const at::Tensor probabilities = heads->kept.defined() ? heads->kept.narrow(0, first, count) : parts.empty(count);
      if (!heads->kept.defined()) {
        parts.multiply(probabilities, first, operands.queries, operands.keys);
        parts.softmax(probabilities, {}, first, /*drops=*/false);
      }
      const at::Tensor slopes = parts.empty(count);
      parts.multiply(slopes, first, above, operands.values);
      parts.softmax_backward(slopes, probabilities, first);
      parts.apply_back(result.values, first, probabilities, above);
      parts.apply(result.queries, first, slopes, operands.keys);
      parts.apply_back(result.keys, first, slopes, operands.queries);
    });
    const auto by_sample = [&](const at::Tensor& all) { return all.unflatten(0, {samples, -1}); };
    return {by_sample(result.queries), by_sample(result.keys), by_sample(result.values), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

bool attends_dropped(const HeadOperands& operands, const ScoreForm& form, const Dropout& dropout) {
  return !operands.queries.is_cpu() && dropout.probability > 0 && form.documents.none() && form.knows_kernel(operands.queries.size(2)) &&
         operands.keys.size(2) <= kMostKeys;
}

at::Tensor attend_dropped(const HeadOperands& operands, const ScoreForm& form, const Dropout& dropout, ScoresAtOnce at_once) {
  return DroppedAttentionFunction::apply(operands.queries, operands.keys, operands.values, form, dropout, at_once);
}

}  // namespace executor
