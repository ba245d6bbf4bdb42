// Units in full precision, all of them and some.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/engine/simulate.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

PrecisionPolicy with_full_ends(BlockRanges blocks) {
  return PrecisionPolicy(Precision::Bf16).with_full(EndUnit::Embedding).with_full(EndUnit::Head).with_full(std::move(blocks));
}

SimulationResult simulated(ParallelPlan plan, const PrecisionPolicy& precision) {
  plan.workload.precision = precision;
  EXPECT_TRUE(violations(plan).empty());
  return simulate(make_model_graph(plan), plan);
}

std::vector<ParallelPlan> plans() {
  std::vector<ParallelPlan> all;
  for (const DeviceMesh mesh : {DeviceMesh{.data = 4}, DeviceMesh{.data = 2, .pipeline = 2}, DeviceMesh{.data = 2, .tensor = 2},
                                DeviceMesh{.data = 2, .context = 2}, DeviceMesh{.pipeline = 6}})
    for (const std::int32_t zero : {0, 2, 3})
      for (const Recompute recompute : {Recompute::None, Recompute::Full}) {
        ParallelPlan plan = testing::tiny_plan(mesh);
        plan.model = testing::tiny_llama();
        plan.cut = even_cut(plan.model.layers, plan.pipeline_shape());
        plan.cluster.hardware.peak.fill(FlopsPerSecond(25e9));
        plan.zero_stage = mesh.data > 1 ? zero : 0;
        plan.recompute = recompute;
        plan.sequence_parallel = mesh.tensor > 1;
        all.push_back(plan);
      }
  return all;
}

// What is kept, computed, gathered, summed and sent is as in fp32: nothing is cast.
TEST(FullUnits, AllOfThemAreAPlanInFp32) {
  for (const ParallelPlan& plan : plans()) {
    const SimulationResult full = simulated(plan, with_full_ends({{0, 3}})), wide = simulated(plan, Precision::Fp32);
    EXPECT_EQ(full.step_time, wide.step_time) << plan.mesh.ranks();
    EXPECT_EQ(full.peak_memory, wide.peak_memory) << plan.mesh.ranks();
  }
}

// Each block in full precision costs time, and those that stand apart cost more casts. States take as much: such weights are their own masters.
TEST(FullUnits, EachBlockCosts) {
  const auto of_blocks = [](BlockRanges blocks) { return PrecisionPolicy(Precision::Bf16).with_full(std::move(blocks)); };
  for (const ParallelPlan& plan : plans()) {
    if (plan.mesh.pipeline > 1) continue;
    const SimulationResult none = simulated(plan, Precision::Bf16), apart = simulated(plan, of_blocks({{0, 0}, {2, 2}})),
                           beside = simulated(plan, of_blocks({{1, 2}}));
    EXPECT_LT(none.step_time, beside.step_time);
    EXPECT_LT(beside.step_time, apart.step_time);
  }
}

const PrecisionPolicy kScaled = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Tensorwise, false);

// Nothing is scaled then: neither rounded, nor kept rounded, nor agreed upon.
TEST(UnscaledBlocks, AllOfThemAreAPlanWithoutScales) {
  for (const ParallelPlan& plan : plans())
    for (const bool on_gpu : {false, true}) {
      ParallelPlan each = plan;
      if (on_gpu) each.cluster = load_cluster("h100-80gb-sxm", DeviceCount{plan.mesh.ranks()});
      const SimulationResult unscaled = simulated(each, kScaled.with_unscaled({{0, 3}})), half = simulated(each, Precision::Bf16);
      EXPECT_EQ(unscaled.step_time, half.step_time) << plan.mesh.ranks();
      EXPECT_EQ(unscaled.peak_memory, half.peak_memory) << plan.mesh.ranks();
    }
}

// Large products, which gain by 8 bit.
TEST(UnscaledBlocks, EachOfThemCosts) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.model = testing::tiny_llama();
  plan.model.hidden = 4096, plan.model.ffn = 14336, plan.model.heads = 32, plan.model.kv_heads = 8, plan.model.head_dim = 128;
  plan.model.max_positions = plan.workload.sequence = 4096;
  plan.cluster = load_cluster("h100-80gb-sxm", DeviceCount{2});
  const SimTime all = simulated(plan, Precision::Bf16).step_time, two = simulated(plan, kScaled.with_unscaled({{0, 0}, {3, 3}})).step_time,
                none = simulated(plan, kScaled).step_time;
  EXPECT_LT(none, two);
  EXPECT_LT(two, all);
  EXPECT_NEAR(static_cast<double>((two - none).count()) / static_cast<double>((all - none).count()), 0.5, 0.01) << "half of the blocks";
}

}  // namespace
}  // namespace sim
