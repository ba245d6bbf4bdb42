#include "planner/memory_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "sim/engine/simulate.h"
#include "tests/planner/every_plan.h"
#include "tests/sim/cost/random_plans.h"

namespace planner {
namespace {

MemoryBound bound_of(const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
  std::vector<std::vector<sim::Bucket>> buckets;
  for (sim::StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) buckets.push_back(make_buckets(model, plan, stage));
  return memory_bound(model, plan, activation_memory(model, plan), stage_weights(model, plan, buckets), stage_orders(plan));
}

TEST(MemoryBound, IsNeverAboveTheSimulatedPeakAndNearIt) {
  double nearest = 0, sum = 0;
  std::int64_t plans = 0;
  on_every_small_plan([&](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    const sim::Bytes peak = simulate(model, plan).peak_memory, bound = bound_of(model, plan).peak;
    EXPECT_LE(bound.value(), peak.value());
    sum += bound / peak;
    nearest = std::max(nearest, bound / peak);
    ++plans;
  });
  EXPECT_GT(sum / static_cast<double>(plans), 0.95);
  EXPECT_EQ(nearest, 1.0);
}

TEST(MemoryBound, IsNeverAboveTheSimulatedPeakOfFrozenModules) {
  std::int32_t drawn = 0;
  double sum = 0;
  on_every_plan(frozen_requests(), [&](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    sim::ParallelPlan ahead = plan;
    ahead.prefetch = drawn++ % (sim::kMostPrefetched + 1);
    const sim::Bytes peak = simulate(model, ahead).peak_memory, bound = bound_of(model, ahead).peak;
    EXPECT_LE(bound.value(), peak.value()) << ahead.prefetch;
    sum += bound / peak;
  });
  EXPECT_GT(sum / drawn, 0.9);
}

// Blocks of one kind that differ in what is made again, in parts of any cut; microbatches that do.
TEST(MemoryBound, IsNeverAboveTheSimulatedPeakWhereSomeBlocksAreMadeAgain) {
  const std::vector<sim::SoftwareStack> programs{{}, sim::load_software("torchtitan"), sim::load_software("megatron-core-2025")};
  std::size_t drawn = 0;
  double sum = 0;
  on_every_small_plan([&](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    if (plan.recompute != sim::Recompute::Full || plan.offload_activations) return;
    for (const std::string_view scope : {"every 2", "first 1", "every 2 but_last", "but_last", "together 2", "together 3 but_last"}) {
      std::vector<sim::Violation> wrong;
      sim::ParallelPlan some = plan;
      some.recompute_scope = sim::parse_recompute_scope(scope, wrong);
      if (!violations(some).empty()) continue;
      some.cluster.software = programs[drawn++ % programs.size()];
      const sim::Bytes peak = simulate(model, some).peak_memory, bound = bound_of(model, some).peak;
      EXPECT_LE(bound.value(), peak.value()) << scope << ' ' << some.cluster.software.name;
      sum += bound / peak;
    }
  });
  EXPECT_GT(sum / static_cast<double>(drawn), 0.95);
}

// Fewer heads of keys and values than tensor ranks: what such ranks make of the columns of all heads is gathered, beside other gathers of a block.
TEST(MemoryBound, IsNeverAboveTheSimulatedPeakWhereRanksShareHeads) {
  sim::testing::PlanGenerator generator(7);
  std::int32_t plans = 0;
  for (int drawn = 0; drawn < 3000; ++drawn) {
    const sim::ParallelPlan plan = generator.next(drawn % 2 == 0 ? sim::DeviceKind::Gpu : sim::DeviceKind::Cpu);
    if (plan.model.kv_heads >= plan.mesh.tensor || plan.zero_stage != 1 || has_empty_part(plan)) continue;
    const sim::ModelGraph model = make_model_graph(plan);
    EXPECT_LE(bound_of(model, plan).peak.value(), simulate(model, plan).peak_memory.value()) << sim::testing::describe(plan);
    ++plans;
  }
  EXPECT_GT(plans, 50);
}

// Whoever runs: what each program keeps is in the bound as in the simulation.
TEST(MemoryBound, IsNeverAboveTheSimulatedPeakOfAnyProgram) {
  const std::vector<sim::SoftwareStack> programs = all_sorts_of_programs();
  std::size_t at = 0;
  double sum = 0;
  on_every_small_plan([&](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    sim::ParallelPlan by_program = plan;
    by_program.cluster.software = programs[at++ % programs.size()];
    const sim::Bytes peak = simulate(model, by_program).peak_memory, bound = bound_of(model, by_program).peak;
    EXPECT_LE(bound.value(), peak.value()) << by_program.cluster.software.name;
    sum += bound / peak;
  });
  EXPECT_GT(sum / static_cast<double>(at), 0.95);
}

// With words of whole steps, too, and what waits on the host.
TEST(MemoryBound, IsNeverAboveTheSimulatedPeakOfRandomPlansOfPrograms) {
  const std::vector<sim::SoftwareStack> programs = all_sorts_of_programs();
  sim::testing::PlanGenerator generator(3);
  std::int32_t plans = 0, sending = 0;
  for (int drawn = 0; drawn < 3000; ++drawn) {
    const sim::ParallelPlan plan = generator.next_of_programs(drawn % 4 > 0 ? sim::DeviceKind::Gpu : sim::DeviceKind::Cpu, programs);
    if (has_empty_part(plan)) continue;
    const sim::ModelGraph model = make_model_graph(plan);
    EXPECT_LE(bound_of(model, plan).peak.value(), simulate(model, plan).peak_memory.value())
        << sim::testing::describe(plan) << " by " << plan.cluster.software.name;
    ++plans;
    sending += plan.offload_modules.none() ? 0 : 1;
  }
  EXPECT_GT(plans, 2000);
  EXPECT_GT(sending, 100);
}

// The words that both are about are drawn seldom: units that come as codes, and weights' gradients in turn with exchanges in an order that has halves apart.
TEST(MemoryBound, IsNeverAboveTheSimulatedPeakOfCodedGathersAndOfHalvesInTurn) {
  const std::vector<sim::SoftwareStack> programs = all_sorts_of_programs();
  std::vector<sim::Violation> wrong;
  const sim::PrecisionPolicy coded = sim::parse_precision_policy("bf16 gathers=int8", wrong);
  ASSERT_TRUE(wrong.empty());
  sim::testing::PlanGenerator generator(6);
  std::int32_t gathering = 0, in_turn = 0;
  for (int drawn = 0; drawn < 6000; ++drawn) {
    sim::ParallelPlan plan = generator.next_of_programs(sim::DeviceKind::Gpu, programs);
    const bool gathers = plan.zero_stage == 3, pairs = plan.placement() == sim::ChunkPlacement::V && plan.mesh.expert > 1;
    if (gathers) plan.workload.precision = coded;
    if (pairs) plan.schedule = "dualpipev", plan.recompute = sim::Recompute::None, plan.expert_overlap = plan.delay_wgrad = true;
    if (!(gathers || pairs) || has_empty_part(plan) || !violations(plan).empty()) continue;
    const sim::ModelGraph model = make_model_graph(plan);
    EXPECT_LE(bound_of(model, plan).peak.value(), simulate(model, plan).peak_memory.value())
        << sim::testing::describe(plan) << " by " << plan.cluster.software.name;
    gathering += gathers ? 1 : 0;
    in_turn += pairs ? 1 : 0;
  }
  EXPECT_GT(gathering, 300);
  EXPECT_GT(in_turn, 5);
}

// Of torch's stages the first part's backwards run as one, those behind it keep what autograd saved until the weights' half.
TEST(MemoryBound, KnowsWhatWaitsForTheWeightsHalf) {
  const sim::SoftwareStack program = sim::load_software("torchtitan");
  double sum = 0, least = 1;
  std::int32_t plans = 0;
  on_every_small_plan([&](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    if (!plan.splits_backward() || plan.zero_stage > 1) return;
    sim::ParallelPlan by_program = plan;
    by_program.cluster.software = program;
    const sim::Bytes peak = simulate(model, by_program).peak_memory, bound = bound_of(model, by_program).peak;
    EXPECT_LE(bound.value(), peak.value()) << plan.schedule;
    sum += bound / peak;
    least = std::min(least, bound / peak);
    ++plans;
  });
  ASSERT_GT(plans, 100);
  EXPECT_GT(sum / plans, 0.985);
  EXPECT_GT(least, 0.75);
}

// Gradients of all microbatches are added up whole before FSDP 2 reduces them; with a backward of their own, weights' gradients wait, too.
TEST(MemoryBound, KnowsWhatIsAddedUpBeforeItIsReduced) {
  struct Mean {
    double sum = 0;
    std::int32_t plans = 0;
  } whole, split;
  const sim::SoftwareStack program = sim::load_software("torchtitan");
  on_every_small_plan([&](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    const bool has_host = plan.offload_parameters || plan.offload_optimizer;
    const bool adds_up = plan.zero_stage == 3 && plan.mesh.shards() > 1 && !has_host && plan.accumulation == sim::Accumulation::ReduceLast;
    if (!adds_up || plan.num_microbatches() < 4 || (plan.mesh.pipeline > 1 && !plan.splits_backward())) return;
    sim::ParallelPlan by_program = plan;
    by_program.cluster.software = program;
    const sim::Bytes peak = simulate(model, by_program).peak_memory, bound = bound_of(model, by_program).peak;
    EXPECT_LE(bound.value(), peak.value());
    Mean& mean = plan.splits_backward() ? split : whole;
    mean.sum += bound / peak;
    ++mean.plans;
  });
  EXPECT_GT(whole.sum / whole.plans, 0.85);
  EXPECT_GT(split.sum / split.plans, 0.91);
}

// Of units of any size, gathered ahead or kept, small parameters may stay whole: they are resident, and no part of what is gathered.
TEST(MemoryBound, IsNeverAboveTheSimulatedPeakOfUnitsAsTheyAreOrOfSmallParametersThatStayWhole) {
  sim::testing::PlanGenerator generator(11);
  std::array<double, 2> sums{};  // [is any whole]
  std::array<std::int32_t, 2> plans{};
  for (int drawn = 0; drawn < 4000; ++drawn) {
    const sim::ParallelPlan plan = generator.next(drawn % 2 == 0 ? sim::DeviceKind::Gpu : sim::DeviceKind::Cpu);
    if (plan.zero_stage != 3 || has_empty_part(plan)) continue;
    const sim::ModelGraph model = make_model_graph(plan);
    const sim::Bytes peak = simulate(model, plan).peak_memory, bound = bound_of(model, plan).peak;
    const bool is_any_whole = plan.persistence_threshold > 0;
    EXPECT_LE(bound.value(), peak.value()) << sim::testing::describe(plan) << " whole up to " << plan.persistence_threshold;
    sums[is_any_whole] += bound / peak;
    ++plans[is_any_whole];
  }
  ASSERT_GT(std::min(plans[false], plans[true]), 200);
  EXPECT_GT(sums[false] / plans[false], 0.94);
  EXPECT_GT(sums[true] / plans[true], 0.97);
}

}  // namespace
}  // namespace planner
