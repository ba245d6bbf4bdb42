#include "planner/replay.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "planner/sketch.h"
#include "sim/engine/simulate.h"
#include "tests/planner/every_plan.h"
#include "tests/sim/cost/random_plans.h"

namespace planner {
namespace {

using Change = void (*)(LayerPrice&);

sim::SimTime replay_of(
    const sim::ModelGraph& model, const sim::ParallelPlan& plan, Change change = [](LayerPrice&) {}) {
  const sim::TaskGraph devices = devices_of(model, plan);
  const Pricer pricer(model, plan, devices);
  auto layers = pricer.layers();
  for (StageLayerPrices& stage : layers)
    for (const sim::LayerIndex first : model.firsts) change(stage[model.kind(first)]);
  const auto transfers = pricer.transfers();
  const auto steps = pricer.steps();
  return replay(model, plan, {layers, transfers, steps}, stage_orders(plan));
}

TEST(Replay, IsNeverAboveTheSimulation) {
  on_every_small_plan([](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    EXPECT_LE(replay_of(model, plan).count(), simulate(model, plan).step_time.count());
  });
}

TEST(Replay, IsNeverAboveTheSimulationOfASlowHost) {
  on_every_plan(paced_requests(), [](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    EXPECT_LE(replay_of(model, plan).count(), simulate(model, plan).step_time.count());
  });
}

// Of any words that the rules allow: encoded weights, small parameters that stay whole, two buckets where blocks have experts.
TEST(Replay, IsNeverAboveTheSimulationOfRandomPlans) {
  std::int32_t plans = 0, encoded = 0;
  for (const std::uint64_t seed : {29, 33, 38, 44, 52, 73}) {
    sim::testing::PlanGenerator generator(seed);
    for (int drawn = 0; drawn < 3000; ++drawn) {
      const sim::ParallelPlan plan = generator.next(drawn % 2 == 0 ? sim::DeviceKind::Gpu : sim::DeviceKind::Cpu);
      if (plan.zero_stage != 3 || has_empty_part(plan)) continue;
      const sim::ModelGraph model = make_model_graph(plan);
      EXPECT_LE(replay_of(model, plan).count(), simulate(model, plan).step_time.count())
          << sim::testing::describe(plan) << " whole up to " << plan.persistence_threshold;
      ++plans;
      encoded += plan.workload.precision.weight_codec() ? 1 : 0;
    }
  }
  EXPECT_GT(plans, 2000);
  EXPECT_GT(encoded, 300);
}

// Of programs that people run; steps may cross, their norm, too: then the busiest stage is the bound.
TEST(Replay, IsNeverAboveTheSimulationOfRandomPlansOfPrograms) {
  const std::vector<sim::SoftwareStack> programs = all_sorts_of_programs();
  sim::testing::PlanGenerator generator(1);
  std::int32_t crossing = 0, delayed = 0, plans = 0;
  for (int drawn = 0; drawn < 3000; ++drawn) {
    const sim::ParallelPlan plan = generator.next_of_programs(drawn % 4 > 0 ? sim::DeviceKind::Gpu : sim::DeviceKind::Cpu, programs);
    if (has_empty_part(plan)) continue;
    const sim::ModelGraph model = make_model_graph(plan);
    const std::vector<StageLayerPrices> layers = Pricer(model, plan, devices_without_buckets(plan)).layers();
    const sim::SimTime bound = plan.crosses_norm() ? busiest_time(model, plan, layers) : replay_of(model, plan);
    EXPECT_LE(bound.count(), simulate(model, plan).step_time.count())
        << sim::testing::describe(plan) << " by " << plan.cluster.software.name;
    ++plans;
    crossing += plan.post_validation == sim::PostValidation::None ? 0 : 1;
    delayed += plan.delay_head_wgrad > 0 ? 1 : 0;
  }
  EXPECT_GT(plans, 2000);
  EXPECT_GT(std::min(crossing, delayed), 100);
}

// Whatever is frozen, and however many units are gathered ahead.
TEST(Replay, IsNeverAboveTheSimulationOfFrozenModules) {
  std::int32_t drawn = 0;
  on_every_plan(frozen_requests(), [&](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    sim::ParallelPlan ahead = plan;
    ahead.prefetch = drawn++ % (sim::kMostPrefetched + 1);
    EXPECT_LE(replay_of(model, ahead).count(), simulate(model, ahead).step_time.count()) << ahead.prefetch;
  });
  EXPECT_GT(drawn, 100);
}

// A host that is taken for a little slower than it is makes bounds that are none, and they are found.
TEST(Replay, IsAboveTheSimulationOfAFasterHost) {
  const Change slower = [](LayerPrice& price) {
    price.forward.issue += sim::SimTime(1'000'000), price.backward.issue += sim::SimTime(1'000'000);
  };
  std::int64_t above = 0, bounds = 0;
  on_every_plan(paced_requests(), [&](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    above += replay_of(model, plan, slower) > simulate(model, plan).step_time ? 1 : 0;
    bounds += 1;
  });
  EXPECT_GT(above * 10, bounds);
}

// Links so wide that nobody waits for another: what remains is order and prices, and they are the same.
TEST(Replay, IsTheSimulationWhereNothingSharesALink) {
  std::vector<SearchRequest> requests = small_requests();
  for (const SearchRequest& request : paced_requests()) requests.push_back(request);
  for (SearchRequest request : requests) {
    if (request.cluster.hardware.kind == sim::DeviceKind::Cpu) request.cluster.hardware.cores_per_node = 0;
    request.cluster.hardware.intra_node.bandwidth = sim::BytesPerSecond(1e30);
    request.cluster.hardware.inter_node.bandwidth = sim::BytesPerSecond(1e30);
    const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
    for (const PlanCandidate& candidate : enumerate(request).candidates) {
      SCOPED_TRACE(to_text(candidate));
      const sim::ParallelPlan plan = make_plan(request, candidate);
      if (plan.offload_activations || plan.expert_overlap || plan.mesh.cuts_experts_apart())
        continue;  // copies of inputs, and exchanges beside another microbatch, are not replayed
      if (plan.splits_backward() && plan.mesh.cuts_experts_apart()) continue;  // the last sums of experts' gradients are replayed too early
      if (plan.splits_backward() && plan.model.experts && plan.cluster.software.host_per_experts.count() > 0)
        continue;  // what a stage receives is not held up by its host here, as it may be issued before the host has waited
      EXPECT_EQ(replay_of(model, plan).count(), simulate(model, plan).step_time.count());
    }
  }
}

}  // namespace
}  // namespace planner
