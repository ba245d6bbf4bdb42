// On a device with streams (--device checked, --device cuda:0): the bugs that only streams can have are seen where the device checks order.
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "sim/sharding/sharding.h"
#include "tests/executor/checked_device/checked_device.h"
#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

class Streams : public testing::Test {
 protected:
  void SetUp() override {
    if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
    if (device().is_cpu()) GTEST_SKIP() << "a CPU has no streams: --device checked";
  }
  const sim::ParallelPlan sharded_ = with_zero(tiny_plan(tiny_gpt2(), {.data = 2}), 3);
};

TEST_F(Streams, EveryZeroStageIsBitwiseThatOfTheOthers) {
  const TrainingResult ddp = train({.plan = with_zero(sharded_, 0), .steps = 3});
  for (const std::int32_t stage : {1, 2, 3})
    EXPECT_EQ(bitwise_difference(train({.plan = with_zero(sharded_, stage), .steps = 3}), ddp), "") << "zero" << stage;
}

TEST_F(Streams, EachMicrobatchsReductionIsBehindTheLast) {
  sim::ParallelPlan plan = with_zero(sharded_, 2);
  const auto agree = [&] {
    const sim::ParallelPlan fp64 = with_precision(plan, sim::Precision::Fp64);
    return difference(train({.plan = fp64, .steps = 3}), train({.plan = on_one_rank(fp64), .steps = 3, .ranks = Ranks::Alone}), {1e-10});
  };
  plan.accumulation = sim::Accumulation::ReduceEach;
  EXPECT_EQ(agree(), "");
  plan.zero_stage = 0;
  EXPECT_EQ(agree(), "");
}

// Beside the shards: the gathered weights of one unit, its gradients and those that the last reduction may still read; the next unit's weights.
TEST_F(Streams, EachUnitAheadTakesOneMore) {
  if (!device().is_privateuseone()) GTEST_SKIP() << "counted by the checked device";
  const auto peak = [&](std::int32_t units) {
    sim::ParallelPlan plan = sharded_;
    plan.prefetch = units;
    executor::reset_checked_peak();
    train({.plan = plan, .steps = 2});
    return executor::checked_peak_bytes();
  };
  std::int64_t unit = 0;
  for (const sim::Bucket& bucket : sim::make_buckets(sim::make_model_graph(sharded_), sharded_, sim::StageIndex(0)))
    unit = std::max(unit, bucket.elements * std::int64_t{sizeof(float)});
  for (std::int32_t units = 1; units <= sim::kMostPrefetched; ++units) EXPECT_LE(peak(units), peak(0) + units * unit) << units;
}

}  // namespace
}  // namespace parity
