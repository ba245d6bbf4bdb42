#include "executor/model/router.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <limits>

namespace executor {
namespace {

constexpr double kTiny = 1e-20;  // scores of sigmoids may all be 0

// Round and round: as many rows for each expert as there can be.
at::Tensor even_choice(const at::Tensor& scores, std::int64_t topk) {
  const at::Tensor numbers = at::arange(scores.size(0) * topk, scores.options().dtype(at::kLong));
  return numbers.remainder(scores.size(1)).view({scores.size(0), topk});
}

at::Tensor sum_of_chosen(const at::Tensor& chosen) { return chosen.sum(1, /*keepdim=*/true).add_(kTiny); }

// -infinity for experts of all groups but the best.
at::Tensor in_best_groups(const at::Tensor& scores, const sim::ExpertForm& form) {
  const at::Tensor grouped = scores.unflatten(1, {form.groups, -1});
  const std::int64_t tellers = form.score == sim::RouterScore::Sigmoid ? std::min<std::int64_t>(2, grouped.size(2)) : 1;
  const at::Tensor best = std::get<1>(at::topk(std::get<0>(at::topk(grouped, tellers, 2)).sum(2), form.group_topk, 1));
  const at::Tensor is_out = at::ones({scores.size(0), form.groups}, scores.options().dtype(at::kBool)).scatter_(1, best, 0);
  return grouped.masked_fill(is_out.unsqueeze(2), -std::numeric_limits<double>::infinity()).flatten(1);
}

// As many as chose each, in the type of the scores. (bincount asks the device for the largest number first, and waits.)
at::Tensor rows_of_experts(const at::Tensor& experts, const at::Tensor& scores) {
  const at::Tensor chosen = experts.flatten();
  return at::zeros({scores.size(1)}, scores.options()).scatter_add_(0, chosen, at::ones({chosen.numel()}, scores.options()));
}

at::Tensor best_choice(const at::Tensor& scores, const sim::ExpertForm& form, const at::Tensor& correction) {
  at::Tensor judged = correction.defined() ? scores + correction.detach().to(scores.scalar_type()) : scores;
  if (form.groups > 1) judged = in_best_groups(judged, form);
  return std::get<1>(at::topk(judged, form.topk, 1));
}

}  // namespace

Routing route(const at::Tensor& logits, const sim::ExpertForm& form, const at::Tensor& correction) {
  const at::Tensor wide = logits.to(logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
  Routing routing;
  routing.scores = form.score == sim::RouterScore::Sigmoid ? at::sigmoid(wide) : at::softmax(wide, 1);
  routing.experts = form.forced_balance ? even_choice(routing.scores, form.topk) : best_choice(routing.scores, form, correction);
  routing.weights = routing.scores.gather(1, routing.experts);
  if (form.renormalised) routing.weights = routing.weights.div(sum_of_chosen(routing.weights));
  if (form.scaling != 1) routing.weights.mul_(form.scaling);
  return routing;
}

at::Tensor route_backward(const Routing& routing, const RoutingGradient& gradient, const sim::ExpertForm& form) {
  const at::Tensor& scores = routing.scores;
  at::Tensor chosen = gradient.weights.mul(form.scaling);
  if (form.renormalised) {
    const at::Tensor share = routing.weights.div(form.scaling);
    chosen = chosen.sub((chosen * share).sum(1, true)).div_(sum_of_chosen(scores.gather(1, routing.experts)));
  }
  at::Tensor slope = at::zeros_like(scores).scatter_(1, routing.experts, chosen);
  if (gradient.balance != 0) {
    const double tokens = static_cast<double>(scores.size(0));
    const at::Tensor counts = rows_of_experts(routing.experts, scores);
    slope.add_(counts, gradient.balance * static_cast<double>(scores.size(1)) / (tokens * tokens));
  }
  if (form.score == sim::RouterScore::Sigmoid) return slope.mul_(scores).mul_(scores.neg().add_(1));
  return slope.sub_((slope * scores).sum(1, true)).mul_(scores);
}

}  // namespace executor
