#include "executor/model/token_order.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <numeric>

#include "executor/model/sent_to.h"
#include "sim/units/at.h"

namespace executor {
namespace {

using Numbers = std::vector<std::int64_t>;

// Which choices each expert takes, in ascending order.
std::vector<Numbers> taken_by_experts(const Routing& routing, const sim::ExpertForm& form) {
  const at::Tensor experts = routing.experts.cpu().contiguous();
  std::vector<Numbers> taken(sim::count_of(form.experts));
  const auto* expert = experts.const_data_ptr<std::int64_t>();
  for (std::int64_t choice = 0; choice < experts.numel(); ++choice) sim::at(taken, expert[choice]).push_back(choice);
  if (!form.is_limited()) return taken;
  const at::Tensor weights = routing.weights.to(at::kCPU, at::kDouble).contiguous();
  const auto* weight = weights.const_data_ptr<double>();
  const auto capacity = sim::count_of(sim::expert_capacity(form, {experts.size(0)}));
  for (Numbers& choices : taken) {
    if (choices.size() <= capacity) continue;
    std::stable_sort(choices.begin(), choices.end(), [&](std::int64_t a, std::int64_t b) { return weight[a] > weight[b]; });
    choices.resize(capacity);
    std::sort(choices.begin(), choices.end());
  }
  return taken;
}

at::Tensor as_index(const Numbers& numbers, const at::Tensor& like) {
  at::Tensor host = at::empty({static_cast<std::int64_t>(numbers.size())}, at::kLong);
  std::ranges::copy(numbers, host.data_ptr<std::int64_t>());
  return sent_to(host, like.device());
}

bool pads(const sim::ExpertForm& form) { return form.is_limited() && form.dispatch == sim::ExpertDispatch::Padded; }

// What is ordered by expert, and where each one's expert begins.
struct ByExpert {
  at::Tensor experts, choices, begins;
};
ByExpert by_expert(const at::Tensor& experts) {
  const auto [sorted, choices] = at::sort(experts, /*stable=*/true, /*dim=*/0, /*descending=*/false);
  return {sorted, choices, at::searchsorted(sorted, sorted)};
}

// Which choices stay where an expert takes so many rows: those that want it most, of equals the first.
at::Tensor within_capacity(const Routing& routing, std::int64_t capacity) {
  const at::Tensor wishes = std::get<1>(at::sort(routing.weights.flatten(), /*stable=*/true, /*dim=*/0, /*descending=*/true));
  const ByExpert order = by_expert(routing.experts.flatten().index_select(0, wishes));
  const at::Tensor before = at::arange(wishes.numel(), wishes.options()).sub_(order.begins);
  return at::zeros(wishes.sizes(), wishes.options()).scatter_(0, wishes.index_select(0, order.choices), before.lt(capacity).to(at::kLong));
}

// To the rows of each expert's capacity, by the choices that come before it and stay.
void pad(TokenOrder& order, const ByExpert& all, const Routing& routing, const sim::ExpertForm& form) {
  const std::int64_t capacity = sim::expert_capacity(form, {routing.experts.size(0)});
  const at::Tensor kept = within_capacity(routing, capacity), stays = kept.index_select(0, all.choices),
                   before = stays.cumsum(0).sub_(stays);
  const at::Tensor places = all.experts.mul(capacity).add_(before).sub_(before.index_select(0, all.begins)), is_kept = stays.to(at::kBool);
  order.counts.assign(sim::count_of(form.experts), capacity);
  order.has_spare_row = true;
  order.places = at::where(is_kept, places, form.experts * capacity);
  order.rows = at::empty_like(places).scatter_(0, all.choices, at::where(is_kept, places, 0)).view(routing.experts.sizes());
  order.kept = kept.view(routing.experts.sizes()).to(routing.weights.scalar_type());
  order.ends = at::arange(1, form.experts + 1, places.options().dtype(at::kInt)).mul_(capacity);
}

}  // namespace

std::int64_t TokenOrder::num_rows() const { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); }

TokenOrder order_tokens(const Routing& routing, const sim::ExpertForm& form) {
  const std::int64_t topk = form.topk, choices = routing.experts.numel(), tokens = routing.experts.size(0);
  const bool is_padded = pads(form);
  const std::int64_t capacity = is_padded ? sim::expert_capacity(form, {tokens}) : 0;
  TokenOrder order;
  Numbers kept, owners, places, rows(sim::count_of(choices), -1);
  std::int64_t first = 0;
  for (const Numbers& taken : taken_by_experts(routing, form)) {
    for (std::size_t at = 0; at < taken.size(); ++at) {
      kept.push_back(taken[at]);
      owners.push_back(taken[at] / topk);
      places.push_back(first + static_cast<std::int64_t>(at));
      sim::at(rows, taken[at]) = places.back();
    }
    order.counts.push_back(is_padded ? capacity : static_cast<std::int64_t>(taken.size()));
    first += order.counts.back();
  }
  order.tokens = as_index(owners, routing.experts);
  order.choices = as_index(kept, routing.experts);
  if (is_padded) order.places = as_index(places, routing.experts);
  at::Tensor place = as_index(rows, routing.experts).view({tokens, topk});
  if (static_cast<std::int64_t>(kept.size()) < choices) order.kept = place.ge(0).to(routing.weights.scalar_type());
  order.rows = place.clamp_min_(0);
  return order;
}

bool is_order_of_a_device(const sim::ExpertForm& form) { return !form.is_limited() || pads(form); }

TokenOrder order_tokens_there(const Routing& routing, const sim::ExpertForm& form) {
  const ByExpert all = by_expert(routing.experts.flatten());
  const at::Tensor& choices = all.choices;
  TokenOrder order;
  order.choices = choices;
  order.tokens = choices.div(form.topk, "floor");
  if (pads(form)) {
    pad(order, all, routing, form);
    return order;
  }
  order.rows = at::empty_like(choices).scatter_(0, choices, at::arange(choices.numel(), choices.options())).view(routing.experts.sizes());
  order.ends = at::searchsorted(all.experts, at::arange(form.experts, choices.options()), /*out_int32=*/true, /*right=*/true);
  return order;
}

namespace {

// [choices kept, n] -> [rows, n]; the rest is 0.
at::Tensor placed(const at::Tensor& rows, const TokenOrder& order) {
  const std::int64_t all = order.num_rows();
  const at::Tensor places =
      at::zeros({order.has_spare_row ? all + 1 : all, rows.size(1)}, rows.options()).index_copy_(0, order.places, rows);
  return places.narrow(0, 0, all);
}

}  // namespace

at::Tensor to_rows(const at::Tensor& stream, const TokenOrder& order) {
  const at::Tensor rows = stream.index_select(0, order.tokens);
  return order.places.defined() ? placed(rows, order) : rows;
}

// Gathered place by place: no two sums of a token meet, so the order of the sum is one everywhere.
at::Tensor from_rows(const at::Tensor& rows, const TokenOrder& order, const at::Tensor& weights) {
  at::Tensor sum = at::zeros({order.rows.size(0), rows.size(1)}, rows.options());
  at::Tensor factors = weights;
  if (order.kept.defined()) factors = factors.defined() ? factors * order.kept : order.kept;
  for (std::int64_t place = 0; place < order.rows.size(1); ++place) {
    const at::Tensor mine = rows.index_select(0, order.rows.select(1, place));
    if (factors.defined())
      sum.addcmul_(mine, factors.select(1, place).to(rows.scalar_type()).unsqueeze(1));
    else
      sum.add_(mine);
  }
  return sum;
}

SumGradient from_rows_backward(const at::Tensor& gradient, at::Tensor rows, const TokenOrder& order, const at::Tensor& weights) {
  SumGradient result{.rows = to_rows(gradient, order), .weights = at::zeros(weights.sizes(), weights.options())};
  const at::Tensor sums = rows.mul_(result.rows).sum(1, false, weights.scalar_type()),
                   slopes = order.has_spare_row ? at::constant_pad_nd(sums, {0, 1}) : sums;
  at::Tensor flat = result.weights.view(-1);
  flat.index_copy_(0, order.choices, order.places.defined() ? slopes.index_select(0, order.places) : slopes);
  const at::Tensor factor = weights.reshape(-1).index_select(0, order.choices).to(rows.scalar_type()).unsqueeze(1);
  if (order.places.defined())
    result.rows.mul_(placed(factor, order));
  else
    result.rows.mul_(factor);
  return result;
}

}  // namespace executor
