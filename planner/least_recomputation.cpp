#include "planner/least_recomputation.h"

#include <algorithm>
#include <optional>

#include "planner/changed_ranks.h"
#include "planner/evaluator.h"
#include "sim/engine/simulate.h"
#include "sim/units/at.h"

namespace planner {
namespace {

using Numbers = std::vector<std::int32_t>;  // of blocks, by stage

// Of the part of each stage that has most of them.
Numbers all_blocks(const sim::ParallelPlan& plan) {
  Numbers most;
  for (sim::StageIndex stage(0); stage.value() < plan.mesh.pipeline; ++stage) {
    most.push_back(0);
    for (sim::ChunkIndex chunk(0); chunk.value() < plan.chunks; ++chunk) {
      const sim::LayerRange part = plan.layers(stage, chunk);
      const std::int32_t first = std::max(part.begin.value(), 1), end = std::min(part.end.value(), plan.head().value());
      most.back() = std::max(most.back(), end - first);
    }
  }
  return most;
}

sim::ParallelPlan with_numbers(sim::ParallelPlan plan, const Numbers& blocks) {
  const bool are_equal = std::ranges::all_of(blocks, [&](std::int32_t one) { return one == blocks.front(); });
  plan.recompute_scope = {};
  if (are_equal && blocks.front() == 0)
    plan.recompute = sim::Recompute::None;
  else if (are_equal)
    plan.recompute_scope.first = blocks.front();
  else
    plan.recompute_scope.by_stage = blocks;
  return plan;
}

// By stage, whether all of its devices have room.
std::vector<bool> which_fit(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const sim::Risk& risk) {
  std::vector<bool> fit(sim::count_of(plan.mesh.pipeline), true);
  for (const sim::DeviceResult& device : sim::simulate(model, plan).devices) {
    const double chance = sim::memory_interval(plan, device.at_peak).chance_above(device.peak_memory, risk.limit);
    if (device.peak_memory > risk.limit || chance > risk.chance) fit[device.stage.position()] = false;
  }
  return fit;
}

// What waits on a stage depends a little on its neighbours' pace, so that what fits alone may not fit together.
void let_all_fit(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const sim::Risk& risk, const Numbers& all, Numbers& blocks) {
  for (bool changes = true; changes;) {
    const std::vector<bool> fit = which_fit(model, with_numbers(plan, blocks), risk);
    changes = false;
    for (std::size_t stage = 0; stage < all.size(); ++stage)
      if (!fit[stage] && blocks[stage] < all[stage]) ++blocks[stage], changes = true;
  }
}

}  // namespace

// A stage's memory follows from its own blocks and its order: all stages are halved at once.
std::vector<sim::ParallelPlan> with_least_recomputed(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const sim::Risk& risk) {
  const Numbers all = all_blocks(plan);
  Numbers least(all.size(), 0), enough = all;
  while (least != enough) {
    Numbers tried;
    for (std::size_t stage = 0; stage < all.size(); ++stage) tried.push_back((least[stage] + enough[stage]) / 2);
    const std::vector<bool> fit = which_fit(model, with_numbers(plan, tried), risk);
    for (std::size_t stage = 0; stage < all.size(); ++stage) {
      if (least[stage] == enough[stage]) continue;
      if (fit[stage])
        enough[stage] = tried[stage];
      else
        least[stage] = tried[stage] + 1;
    }
  }
  let_all_fit(model, plan, risk, all, enough);
  if (enough == all) return {};
  const std::int32_t most = std::ranges::max(enough);
  std::vector<sim::ParallelPlan> plans{with_numbers(plan, enough)};
  const bool is_shared = std::ranges::any_of(enough, [&](std::int32_t one) { return one != most; });
  if (is_shared && most < std::ranges::max(all)) plans.push_back(with_numbers(plan, Numbers(all.size(), most)));
  return plans;
}

namespace {

constexpr int kMostLessened = 5;

// Where less is made again than feed-forwards, there is little to save.
bool computes_much_again(const SearchRequest& request, const sim::ParallelPlan& plan) {
  const bool is_full = plan.recompute == sim::Recompute::Full && plan.recompute_scope == sim::RecomputeScope{};
  const bool is_mostly = plan.recomputed_modules().meets(sim::Module::Mlp | sim::Module::Moe);
  return plan.mesh.pipeline > 1 && (is_full || (is_mostly && !request.fixed.contains("recompute"))) &&
         !request.fixed.contains("recompute_scope");
}

std::optional<RankedPlan> with_less(const SearchRequest& request, const RankedPlan& ranked) {
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple}, request.workload.precision);
  sim::ParallelPlan plan = ranked.plan;
  plan.predictions.reset();
  plan.recompute = sim::Recompute::Full;
  plan.recompute_scope = {};
  if (!sim::violations(plan).empty()) return std::nullopt;
  for (const sim::ParallelPlan& least : with_least_recomputed(model, plan, {.limit = memory_limit(request), .chance = request.risk})) {
    if (least.recompute != sim::Recompute::Full) continue;
    if (std::optional<RankedPlan> better = changed_rank(request, ranked, least, sim::simulate(model, least))) return better;
  }
  return std::nullopt;
}

}  // namespace

void recompute_least(const SearchRequest& request, SearchResult& result, const std::atomic<bool>* cancel) {
  change_ranks(request, result, {kMostLessened, computes_much_again, with_less}, cancel);
}

}  // namespace planner
