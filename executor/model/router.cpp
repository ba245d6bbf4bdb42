#include "executor/model/router.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros_like.h>

namespace executor {
namespace {

constexpr double kTiny = 1e-20;  // scores of sigmoids may all be 0

// Round and round: as many rows for each expert as there can be.
at::Tensor even_choice(const at::Tensor& scores, std::int64_t topk) {
  const at::Tensor numbers = at::arange(scores.size(0) * topk, scores.options().dtype(at::kLong));
  return numbers.remainder(scores.size(1)).view({scores.size(0), topk});
}

at::Tensor sum_of_chosen(const at::Tensor& chosen) { return chosen.sum(1, /*keepdim=*/true).add_(kTiny); }

}  // namespace

Routing route(const at::Tensor& logits, const sim::ExpertForm& form) {
  const at::Tensor wide = logits.to(logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
  Routing routing;
  routing.scores = form.score == sim::RouterScore::Sigmoid ? at::sigmoid(wide) : at::softmax(wide, 1);
  routing.experts = form.forced_balance ? even_choice(routing.scores, form.topk) : std::get<1>(at::topk(routing.scores, form.topk, 1));
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
    const at::Tensor counts = at::bincount(routing.experts.flatten(), {}, scores.size(1)).to(scores.scalar_type());
    slope.add_(counts, gradient.balance * static_cast<double>(scores.size(1)) / (tokens * tokens));
  }
  if (form.score == sim::RouterScore::Sigmoid) return slope.mul_(scores).mul_(scores.neg().add_(1));
  return slope.sub_((slope * scores).sum(1, true)).mul_(scores);
}

}  // namespace executor
