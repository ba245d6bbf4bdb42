#include "planner/changed_ranks.h"

#include <algorithm>
#include <utility>

#include "planner/evaluator.h"
#include "planner/outlook.h"
#include "planner/ranked_plan.h"
#include "planner/ranking.h"
#include "sim/engine/out_of_memory.h"

namespace planner {
namespace {

constexpr double kWorthAChange = 0.999;  // of the measure: a list or a file for less is not worth it

// The search that the plan is of: on its number of devices.
SearchRequest request_of(const SearchRequest& request, const sim::ParallelPlan& plan) {
  SearchRequest one = request;
  one.cluster.devices = plan.cluster.devices;
  if (one.whole.most_spares > 0) one.whole.reliability.spares = spares_beside(request, plan.cluster.devices);
  return one;
}

}  // namespace

std::optional<RankedPlan> changed_rank(const SearchRequest& request, const RankedPlan& ranked, const sim::ParallelPlan& plan,
                                       sim::SimulationResult result) {
  if (!sim::violations(plan).empty() || (request.why_not && !request.why_not(plan).empty())) return std::nullopt;
  RankedPlan better = ranked;
  better.plan = plan;
  better.result = std::move(result);
  better.out_of_memory_chance = sim::out_of_memory_chance(better.plan, better.result, memory_limit(request));
  const Ranking ranking(request);
  better.measure = ranking.measure(ranking.of_step(step_time_of(better.result)));
  if (better.out_of_memory_chance > request.risk || better.measure > kWorthAChange * ranked.measure) return std::nullopt;
  better.ranked_by = ranked.ranked_by * better.measure / ranked.measure;
  put_predictions(better.plan, better.result);
  return better;
}

void change_ranks(const SearchRequest& request, SearchResult& result, const RankChange& change, const std::atomic<bool>* cancel) {
  int tried = 0;
  bool is_better = false;
  const double best = result.ranked.empty() ? 0 : result.ranked.front().ranked_by;
  for (RankedPlan& ranked : result.ranked) {
    if (tried == change.most_tried || (cancel != nullptr && cancel->load(std::memory_order_relaxed))) break;
    const SearchRequest one = request_of(request, ranked.plan);
    if (!change.may_be_tried(one, ranked.plan)) continue;
    ++tried;
    std::optional<RankedPlan> better = change.better(one, ranked);
    if (!better) continue;
    ranked = *std::move(better);
    is_better = true;
  }
  if (!is_better) return;
  std::stable_sort(result.ranked.begin(), result.ranked.end(),
                   [](const RankedPlan& a, const RankedPlan& b) { return a.ranked_by < b.ranked_by; });
  compare_to_first(result.ranked, request.objective);
  const double measure = result.ranked.front().measure;
  std::erase_if(result.risky, [&](const RankedPlan& risky) { return risky.measure >= measure; });
  for (RankedPlan& risky : result.risky) say_risk(request_of(request, risky.plan), risky, measure);
  if (result.gap) result.gap = std::max(0.0, (1 + *result.gap) * result.ranked.front().ranked_by / best - 1);
}

}  // namespace planner
