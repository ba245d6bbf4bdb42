#include "planner/searched_orders.h"

#include <optional>
#include <utility>

#include "planner/changed_ranks.h"
#include "sim/engine/searched_plan.h"

namespace planner {
namespace {

constexpr int kMostTried = 3;

bool may_be_tried(const SearchRequest& request, const sim::ParallelPlan& plan) {
  return plan.mesh.pipeline > 1 && plan.splits_backward() && !request.fixed.contains("schedule") && sim::why_not_searched(plan).empty();
}

std::optional<RankedPlan> in_searched_order(const SearchRequest& request, const RankedPlan& ranked) {
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple}, request.workload.precision);
  sim::ParallelPlan plan = ranked.plan;
  plan.predictions.reset();
  std::optional<sim::SearchedPlan> searched = sim::with_searched_order(model, plan, ranked.result);
  if (!searched) return std::nullopt;
  std::optional<RankedPlan> better = changed_rank(request, ranked, searched->plan, std::move(searched->result));
  if (better) better->order_gain = 1 - better->measure / ranked.measure;
  return better;
}

}  // namespace

void search_orders(const SearchRequest& request, SearchResult& result, const std::atomic<bool>* cancel) {
  change_ranks(request, result, {kMostTried, may_be_tried, in_searched_order}, cancel);
}

}  // namespace planner
