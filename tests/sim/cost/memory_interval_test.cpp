#include "sim/cost/memory_interval.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/clock/behavior.h"
#include "sim/cost/memory_beside.h"
#include "sim/cost/memory_counter.h"
#include "sim/cost/memory_novelty.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

constexpr Bytes kGib{std::int64_t{1} << 30};
constexpr MemoryBreakdown kPeak{kGib * 8, kGib * 2, kGib * 16, kGib * 10};

TEST(MemoryInterval, OfOurWorkerOnCoresIsNarrow) {
  const MemoryInterval interval = memory_interval(testing::tiny_plan({.data = 2}), kPeak);
  EXPECT_EQ(interval.beside, Bytes(0));
  EXPECT_EQ(interval.high(Bytes(10'000)), Bytes(10'200));
  EXPECT_EQ(interval.low(Bytes(10'200)), Bytes(10'000));
}

TEST(MemoryInterval, OnGpusReachesOverWhatIsEstimatedBeside) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.cluster.hardware = testing::small_gpu();
  const MemoryBeside beside = memory_beside(plan, kPeak);
  const MemoryInterval own = memory_interval(plan, kPeak);
  EXPECT_EQ(own.beside, beside.pool + beside.nccl);
  EXPECT_GT(own.beside, Bytes(0));
  plan.cluster.software.name = "megatron-core";
  const MemoryInterval foreign = memory_interval(plan, kPeak);
  EXPECT_GT(foreign.half_width, own.half_width);
  EXPECT_EQ(foreign.beside, Bytes(0));
  EXPECT_EQ(foreign.held, counted(MemoryCounter::Reserved, plan, kPeak, beside.pool) - total(kPeak));
  EXPECT_GE(foreign.held, beside.pool);
  EXPECT_EQ(foreign.low(kGib * 40), scaled(kGib * 40 + foreign.held, 1 / (1 + foreign.half_width)));
}

ParallelPlan gpu_plan(const char* software) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.cluster.hardware = testing::small_gpu();
  plan.cluster.software.name = software;
  return plan;
}

double half_width(const ParallelPlan& plan) { return memory_interval(plan, kPeak).half_width; }

TEST(MemoryInterval, IsWiderForProgramsOfWhichNoRunStatesItsMemory) {
  const double known = half_width(gpu_plan("megatron-core")), unknown = half_width(gpu_plan("a program of one's own"));
  EXPECT_DOUBLE_EQ(known, common_behavior().memory_interval);
  EXPECT_DOUBLE_EQ(unknown, std::hypot(known, memory_novelty().unknown_program));
  EXPECT_GT(half_width(gpu_plan("nanotron")), known);
  EXPECT_LT(half_width(gpu_plan("nanotron")), unknown);
  EXPECT_NE(memory_interval(gpu_plan("nanotron"), kPeak).basis, memory_interval(gpu_plan("a program of one's own"), kPeak).basis);
}

TEST(MemoryInterval, WhatIsNewInAPlanMakesItWider) {
  for (const char* software : {"megatron-core", "meshwright"}) {
    ParallelPlan plan = gpu_plan(software);
    const double usual = half_width(plan);
    const bool is_ours = software == std::string("meshwright");
    plan.slices = 2;
    EXPECT_DOUBLE_EQ(half_width(plan), is_ours ? usual : std::hypot(usual, memory_novelty().slices));
    plan.slices = 1;
    plan.offload_activations = true;
    EXPECT_DOUBLE_EQ(half_width(plan), is_ours ? usual : std::hypot(usual, memory_novelty().host_activations));
  }
}

// Two products of each block, all rows of the tensor group.
TEST(MemoryInterval, ReachesUpByReductionsThatTheAllocatorHolds) {
  ParallelPlan plan = gpu_plan("nanotron");
  plan.mesh = {.data = 1, .pipeline = 1, .tensor = 2};
  plan.sequence_parallel = true;
  const Bytes stream = plan.bytes(Numbers::Activations) * (plan.shard_shape().tokens() * plan.model.hidden);
  EXPECT_EQ(held_reductions(plan), stream * (2 * plan.model.layers));
  EXPECT_EQ(memory_interval(plan, kPeak).beside, held_reductions(plan));
  plan.cluster.software.name = "megatron-core";
  EXPECT_EQ(held_reductions(plan), Bytes(0));
  plan.cluster.software.name = "nanotron";
  plan.sequence_parallel = false;
  EXPECT_EQ(held_reductions(plan), Bytes(0)) << "sums in place";
}

TEST(MemoryInterval, OutOfMemoryHasAChance) {
  const MemoryInterval interval{.half_width = 0.06, .held = {}, .beside = {}, .basis = ""};
  EXPECT_NEAR(interval.chance_above(kGib * 50, kGib * 50), 0.5, 1e-9);
  EXPECT_NEAR(interval.chance_above(kGib * 50, interval.high(kGib * 50)), 0.1, 1e-4);
  EXPECT_NEAR(interval.chance_above(kGib * 50, interval.low(kGib * 50)), 0.9, 1e-4);
  EXPECT_LT(interval.chance_above(kGib * 50, kGib * 80), 1e-9);
  const MemoryInterval more{.half_width = 0.06, .held = {}, .beside = kGib * 2, .basis = ""};
  EXPECT_GT(more.chance_above(kGib * 50, kGib * 53), interval.chance_above(kGib * 50, kGib * 53));
  const MemoryInterval held{.half_width = 0.06, .held = kGib * 2, .beside = {}, .basis = ""};
  EXPECT_DOUBLE_EQ(held.chance_above(kGib * 50, kGib * 52), interval.chance_above(kGib * 52, kGib * 52)) << "as if tensors had it";
}

// Beside them there may be more: then the chance is higher still.
TEST(MemoryInterval, AboveWhatMayBeOccupiedTheChanceIsHigher) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  for (const char* software : {"", "megatron-core"}) {
    plan.cluster.software.name = software;
    const MemoryInterval interval = memory_interval(plan, kPeak);
    for (const double risk : {0.01, 0.05, 0.4}) {
      const Bytes most = most_occupied(plan.cluster, {.limit = kGib * 80, .chance = risk});
      EXPECT_LT(most, kGib * 80);
      EXPECT_GT(interval.chance_above(most + Bytes(1), kGib * 80), risk);
      if (interval.beside + interval.held == Bytes(0)) {
        EXPECT_LE(interval.chance_above(most, kGib * 80), risk);
      }
    }
    EXPECT_EQ(most_occupied(plan.cluster, {.limit = kGib, .chance = 1}), kGib);
  }
}

}  // namespace
}  // namespace sim
