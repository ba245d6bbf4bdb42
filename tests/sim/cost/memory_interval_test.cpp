#include "sim/cost/memory_interval.h"

#include <gtest/gtest.h>

#include "sim/cost/memory_beside.h"
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
  EXPECT_EQ(foreign.beside, beside.pool);  // its libraries are off what can be used
}

TEST(MemoryInterval, OutOfMemoryHasAChance) {
  const MemoryInterval interval{.half_width = 0.06, .beside = {}, .basis = ""};
  EXPECT_NEAR(interval.chance_above(kGib * 50, kGib * 50), 0.5, 1e-9);
  EXPECT_NEAR(interval.chance_above(kGib * 50, interval.high(kGib * 50)), 0.1, 1e-4);
  EXPECT_NEAR(interval.chance_above(kGib * 50, interval.low(kGib * 50)), 0.9, 1e-4);
  EXPECT_LT(interval.chance_above(kGib * 50, kGib * 80), 1e-9);
  const MemoryInterval more{.half_width = 0.06, .beside = kGib * 2, .basis = ""};
  EXPECT_GT(more.chance_above(kGib * 50, kGib * 53), interval.chance_above(kGib * 50, kGib * 53));
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
      if (interval.beside == Bytes(0)) {
        EXPECT_LE(interval.chance_above(most, kGib * 80), risk);
      }
    }
    EXPECT_EQ(most_occupied(plan.cluster, {.limit = kGib, .chance = 1}), kGib);
  }
}

}  // namespace
}  // namespace sim
