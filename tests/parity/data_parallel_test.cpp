// DDP = ZeRO-1 = ZeRO-2 = ZeRO-3, bit for bit, over 10 steps, within one accumulation regime: whatever the buckets, resharding or prefetching.
#include <ATen/ops/equal.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/sharding/sharding.h"
#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

using sim::Accumulation;

struct DataCase {
  std::string name;
  sim::ModelConfig model;
  Accumulation accumulation = Accumulation::ReduceLast;
};

sim::ParallelPlan plan_of(const DataCase& from) {
  sim::ParallelPlan plan = tiny_plan(from.model, {.data = num_ranks()});
  plan.accumulation = from.accumulation;
  return plan;
}

class DataParallel : public testing::TestWithParam<DataCase> {
 protected:
  static void expect_equal(const sim::ParallelPlan& plan, const TrainingResult& expected, const std::string& what) {
    EXPECT_EQ(bitwise_difference(train({.plan = plan}), expected), "") << what;
  }
};

TEST_P(DataParallel, StrategiesAreBitwiseEqual) {
  const sim::ParallelPlan plan = plan_of(GetParam());
  const TrainingResult ddp = train({.plan = plan});
  sim::ParallelPlan small_buckets = plan;
  small_buckets.bucket_size = sim::Bytes(4096);  // most parameters have a bucket of their own
  expect_equal(small_buckets, ddp, "ddp, small buckets");
  expect_equal(with_zero(plan, 1), ddp, "zero1");
  expect_equal(with_zero(small_buckets, 1), ddp, "zero1, small buckets");
  expect_equal(with_zero(plan, 2), ddp, "zero2");
  expect_equal(with_zero(small_buckets, 2), ddp, "zero2, small buckets");
  for (const std::int32_t stage : {0, 1, 2}) {
    sim::ParallelPlan early = with_zero(plan, stage);
    early.first_bucket_size = sim::Bytes(2048);
    EXPECT_GT(sim::make_buckets(sim::make_model_graph(early), early, sim::StageIndex(0)).size(), 1U);
    expect_equal(early, ddp, "a first bucket of its own, zero" + std::to_string(stage));
  }
  for (const bool reshard : {true, false})
    for (std::int32_t prefetch = 0; prefetch <= sim::kMostPrefetched; ++prefetch) {
      sim::ParallelPlan zero3 = with_zero(plan, 3);
      zero3.reshard_after_forward = reshard;
      zero3.prefetch = prefetch;
      expect_equal(zero3, ddp, testing::PrintToString(std::pair(reshard, prefetch)) + " zero3 (reshard, prefetch)");
    }
  for (const bool reshard : {true, false})
    for (const auto when : {sim::ReshardAfterBackward::Each, sim::ReshardAfterBackward::Last}) {
      sim::ParallelPlan zero3 = with_zero(plan, 3);
      zero3.reshard_after_forward = reshard, zero3.reshard_after_backward = when;
      expect_equal(zero3, ddp,
                   std::string(sim::at(sim::kReshardAfterBackwardNames, when)) + (reshard ? " backward, forward" : " backward"));
    }
}

// Stage 1 by the whole sum, of which each keeps its shard.
TEST_P(DataParallel, WholeSumsAreBitwiseEqual) {
  sim::ParallelPlan plan = with_zero(plan_of(GetParam()), 1);
  if (plan.accumulation == Accumulation::ReduceEach) GTEST_SKIP() << "violations() says why";
  plan.gradient_sync = sim::GradientSync::AllReduce;
  ASSERT_TRUE(sim::why_not_runnable(plan).empty());
  expect_equal(plan, train({.plan = with_zero(plan_of(GetParam()), 0)}), "all_reduce");
  if (num_ranks() < 4) return;
  sim::ParallelPlan replicated = plan;
  replicated.mesh.replicas = 2;
  sim::ParallelPlan scattered = replicated;
  scattered.gradient_sync = sim::GradientSync::Scatter;
  expect_equal(replicated, train({.plan = scattered}), "replicas");
}

// New weights that come with the next forward are those that came with the step; buckets are gathered one ahead of what reads them.
TEST_P(DataParallel, WeightsGatheredBesideForwardAreBitwiseEqual) {
  if (num_ranks() == 1) GTEST_SKIP() << "nothing is gathered";
  for (const std::int32_t stage : {1, 2})
    for (const std::int64_t bucket : {4096, 1 << 20}) {
      sim::ParallelPlan plan = with_zero(plan_of(GetParam()), stage);
      plan.bucket_size = sim::Bytes(bucket);
      const TrainingResult behind = train({.plan = plan});
      plan.overlap_weight_gather = true;
      ASSERT_TRUE(sim::why_not_runnable(plan).empty());
      expect_equal(plan, behind, fmt::format("stage {}, buckets of {} B", stage, bucket));
    }
}

// Parts of gradients by priority, across the end of the step: the same sums, and the same steps. Layers are of one part, and of several.
TEST_P(DataParallel, SumsByPriorityAreBitwiseEqual) {
  sim::ParallelPlan plan = plan_of(GetParam());
  if (num_ranks() == 1 || plan.accumulation == Accumulation::ReduceEach) GTEST_SKIP() << "violations() says why";
  plan.training.gradient_clip = 0;
  for (const sim::Precision precision : {plan.workload.precision.compute(), sim::Precision::Fp64}) {
    sim::ParallelPlan parts = with_precision(plan, precision);
    const TrainingResult ddp = train({.plan = parts, .steps = 4});
    parts.partition_size = sim::Bytes(1 << 16);
    for (const std::int64_t credit : {1 << 16, 1 << 18}) {
      parts.credit_size = sim::Bytes(credit);
      ASSERT_TRUE(sim::why_not_runnable(parts).empty());
      const TrainingResult summed = train({.plan = parts, .steps = 4});
      EXPECT_EQ(summed.losses, ddp.losses);
      EXPECT_EQ(bitwise_difference(summed.weights, ddp.weights, "weights"), "") << "credit " << credit;
      EXPECT_EQ(bitwise_difference(summed.moments, ddp.moments, "moments"), "") << "credit " << credit;
    }
  }
}

// Each unit when its own gradients are there: what the ordinary step does without clipping, by DDP's buckets, unit by unit, on shards.
TEST_P(DataParallel, StepsInTheBackwardAreBitwiseEqual) {
  sim::ParallelPlan plan = plan_of(GetParam());
  if (plan.accumulation == Accumulation::ReduceEach) GTEST_SKIP() << "of one microbatch";
  plan.microbatch_size = plan.workload.global_batch / plan.mesh.data;
  plan.training.gradient_clip = 0;
  for (const std::int32_t stage : {0, 3})
    for (const sim::Bytes bucket : {plan.bucket_size, sim::Bytes(4096)}) {
      sim::ParallelPlan inside = with_zero(plan, stage);
      inside.bucket_size = bucket;
      const TrainingResult behind = train({.plan = inside});
      inside.optimizer_in_backward = true;
      ASSERT_TRUE(sim::violations(inside).empty() && sim::why_not_runnable(inside).empty());
      const TrainingResult stepped = train({.plan = inside});
      EXPECT_EQ(stepped.losses, behind.losses);
      EXPECT_EQ(bitwise_difference(stepped.weights, behind.weights, "weights"), "") << "zero" << stage;
      EXPECT_EQ(bitwise_difference(stepped.moments, behind.moments, "moments"), "") << "zero" << stage;
    }
}

// FairScale's OSS beside DDP, and ShardedDDP: whole tensors by owner, broadcast or gathered.
TEST_P(DataParallel, OwnersOfWholeTensorsAreBitwiseEqual) {
  sim::ParallelPlan plan = plan_of(GetParam());
  const TrainingResult ddp = train({.plan = plan});
  for (const sim::WeightSync sync : {sim::WeightSync::AllGather, sim::WeightSync::Broadcast})
    for (const std::int32_t stage : {1, 2}) expect_equal(by_owner(plan, stage, sync), ddp, "owners");
  sim::ParallelPlan small = by_owner(plan, 2, sim::WeightSync::Broadcast);
  small.bucket_size = sim::Bytes(4096);
  ASSERT_TRUE(sim::why_not_runnable(small).empty());
  expect_equal(small, ddp, "small buckets");
  if (plan.accumulation == Accumulation::ReduceEach) return;
  sim::ParallelPlan oss = by_owner(plan, 1, sim::WeightSync::Broadcast);
  oss.gradient_sync = sim::GradientSync::AllReduce;
  expect_equal(oss, ddp, "whole sums");
}

// What crossed in 16 bit is what all go on with: a band around DDP, and on all ranks the same.
TEST_P(DataParallel, WeightsCastOnTheirWayStayInABand) {
  if (num_ranks() == 1) GTEST_SKIP() << "nothing is sent";
  const sim::ParallelPlan plan = plan_of(GetParam());
  const TrainingResult ddp = train({.plan = plan});
  const auto [in_fp16, in_bf16] = std::pair(distance(train({.plan = by_owner(plan, 2, sim::WeightSync::BroadcastFp16)}), ddp),
                                            distance(train({.plan = by_owner(plan, 2, sim::WeightSync::BroadcastBf16)}), ddp));
  EXPECT_GT(in_fp16.weights, 0);
  EXPECT_LT(in_fp16.weights, 0.01);
  EXPECT_LT(in_fp16.loss, 1e-3);
  EXPECT_LT(in_bf16.weights, 0.05);
  EXPECT_LT(in_fp16.weights, in_bf16.weights);
  const TrainingResult one = train({.plan = by_owner(plan, 2, sim::WeightSync::BroadcastFp16), .steps = 1});
  for (const auto& [name, values] : one.weights) EXPECT_TRUE(at::equal(values, values.to(at::kHalf).to(at::kDouble))) << name;
}

TEST_P(DataParallel, FullRecomputationIsBitwiseEqual) {
  sim::ParallelPlan plan = plan_of(GetParam());
  const TrainingResult kept = train({.plan = plan, .steps = 3});
  plan.recompute = sim::Recompute::Full;
  EXPECT_EQ(bitwise_difference(train({.plan = plan, .steps = 3}), kept), "");
  EXPECT_EQ(bitwise_difference(train({.plan = with_zero(plan, 3), .steps = 3}), kept), "");
}

TEST_P(DataParallel, AgreesWithOneRankInFp64) {
  const sim::ParallelPlan plan = with_precision(plan_of(GetParam()), sim::Precision::Fp64);
  const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = 4, .ranks = Ranks::Alone});
  EXPECT_EQ(difference(train({.plan = plan, .steps = 4}), alone, {1e-10}), "");
}

TEST_P(DataParallel, SgdIsBitwiseEqualToo) {
  sim::ParallelPlan plan = plan_of(GetParam());
  plan.workload.optimizer = sim::OptimizerKind::Sgd;
  EXPECT_EQ(bitwise_difference(train({.plan = with_zero(plan, 3), .steps = 3}), train({.plan = plan, .steps = 3})), "");
}

INSTANTIATE_TEST_SUITE_P(Models, DataParallel,
                         testing::Values(DataCase{"gpt2_reduce_last", tiny_gpt2()},
                                         DataCase{"gpt2_reduce_each", tiny_gpt2(), Accumulation::ReduceEach},
                                         DataCase{"llama_reduce_last", tiny_llama()}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace parity
