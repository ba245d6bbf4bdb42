#include "planner/searched_orders.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "planner/evaluator.h"
#include "planner/outlook.h"
#include "planner/ranked_plan.h"
#include "planner/ranking.h"
#include "sim/engine/out_of_memory.h"
#include "sim/engine/searched_plan.h"

namespace planner {
namespace {

constexpr int kMostTried = 3;
constexpr double kWorthAnOrder = 0.999;  // of the measure: a written order for less is not worth its file

// The search that the plan is of: on its number of devices.
SearchRequest request_of(const SearchRequest& request, const sim::ParallelPlan& plan) {
  SearchRequest one = request;
  one.cluster.devices = plan.cluster.devices;
  if (one.whole.most_spares > 0) one.whole.reliability.spares = spares_beside(request, plan.cluster.devices);
  return one;
}

bool may_be_tried(const SearchRequest& request, const sim::ParallelPlan& plan) {
  return plan.mesh.pipeline > 1 && plan.splits_backward() && !request.fixed.contains("schedule") && sim::why_not_searched(plan).empty();
}

std::optional<RankedPlan> in_searched_order(const SearchRequest& request, const RankedPlan& ranked) {
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple}, request.workload.precision);
  RankedPlan better = ranked;
  better.plan.predictions.reset();
  std::optional<sim::SearchedPlan> searched = sim::with_searched_order(model, better.plan, ranked.result);
  if (!searched || !sim::violations(searched->plan).empty()) return std::nullopt;
  if (request.why_not && !request.why_not(searched->plan).empty()) return std::nullopt;
  better.plan = std::move(searched->plan);
  better.result = std::move(searched->result);
  better.out_of_memory_chance = sim::out_of_memory_chance(better.plan, better.result, memory_limit(request));
  const Ranking ranking(request);
  better.measure = ranking.measure(ranking.of_step(step_time_of(better.result)));
  if (better.out_of_memory_chance > request.risk || better.measure > kWorthAnOrder * ranked.measure) return std::nullopt;
  better.ranked_by = ranked.ranked_by * better.measure / ranked.measure;
  better.order_gain = 1 - better.measure / ranked.measure;
  put_predictions(better.plan, better.result);
  return better;
}

}  // namespace

void search_orders(const SearchRequest& request, SearchResult& result, const std::atomic<bool>* cancel) {
  int tried = 0;
  bool is_better = false;
  const double best = result.ranked.empty() ? 0 : result.ranked.front().ranked_by;
  for (RankedPlan& ranked : result.ranked) {
    if (tried == kMostTried || (cancel != nullptr && cancel->load(std::memory_order_relaxed))) break;
    const SearchRequest one = request_of(request, ranked.plan);
    if (!may_be_tried(one, ranked.plan)) continue;
    ++tried;
    std::optional<RankedPlan> better = in_searched_order(one, ranked);
    if (!better) continue;
    ranked = *std::move(better);
    is_better = true;
  }
  if (!is_better) return;
  std::stable_sort(result.ranked.begin(), result.ranked.end(),
                   [](const RankedPlan& a, const RankedPlan& b) { return a.ranked_by < b.ranked_by; });
  compare_to_first(result.ranked, request.objective);
  if (result.gap) result.gap = std::max(0.0, (1 + *result.gap) * result.ranked.front().ranked_by / best - 1);
}

}  // namespace planner
