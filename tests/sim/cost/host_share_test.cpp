#include "sim/cost/host_share.h"

#include <gtest/gtest.h>

#include "sim/clock/behavior.h"
#include "sim/cost/prediction_interval.h"
#include "tests/sim/cost/a100_plan.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

ParallelPlan plan_of_experts(double host_seconds) {
  ParallelPlan plan = testing::tiny_plan();
  plan.cluster.hardware = load_hardware_profile("h100-80gb-sxm");
  plan.cluster.software = load_software("plain");
  plan.cluster.software.host_per_experts = Seconds(host_seconds);
  plan.workload.precision = Precision::Bf16;
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 64};
  return plan;
}

TEST(HostShare, OfDroplessExpertsAlone) {
  ParallelPlan plan = plan_of_experts(1);
  EXPECT_GT(host_share(plan), 1);
  EXPECT_GT(host_doubt(plan).slower, 0);
  plan.model.experts->dispatch = ExpertDispatch::Padded;
  EXPECT_EQ(host_doubt(plan).slower, 0) << "nothing drains";
  plan.model.experts.reset();
  EXPECT_EQ(host_doubt(plan).slower, 0) << "plain is no program of the record";
}

ParallelPlan plan_without_modules(double host_seconds) {
  ParallelPlan plan = plan_of_experts(host_seconds);
  plan.cluster.software.host_per_module = plan.cluster.software.host_per_kernel = Seconds(0);
  return plan;
}

TEST(HostShare, IsTheHostsTimeOverTheDevices) {
  const double once = host_share(plan_without_modules(1e-6));
  EXPECT_GT(once, 0);
  EXPECT_NEAR(host_share(plan_without_modules(2e-6)), 2 * once, 1e-3 * once);
}

TEST(HostShare, ASlowHostIsFeltWhereTheDeviceDoesNotHideIt) {
  const ParallelPlan bound = plan_without_modules(1), hidden = plan_without_modules(0);
  const PredictionInterval interval = prediction_interval(bound);
  EXPECT_EQ(interval.half_width, prediction_interval(hidden).half_width);
  EXPECT_NEAR(interval.slower, common_behavior().hosts_apart - 1, 1e-9);
  EXPECT_EQ(prediction_interval(hidden).slower, 0);
  EXPECT_GT(interval.high(Seconds(1)), Seconds(1.9));
  EXPECT_EQ(interval.low(Seconds(1)), prediction_interval(hidden).low(Seconds(1)));
}

// Short samples leave a device to its host, and nobody read what modules of these programs cost theirs.
TEST(HostShare, AnUnreadHostMayBeThreeTimesAsSlow) {
  EXPECT_TRUE(is_unread(load_software("lit-gpt")));
  EXPECT_FALSE(is_unread(load_software("nanotron"))) << "read off its runs";
  EXPECT_FALSE(is_unread(load_software("accelerate"))) << "measured on a card";
  EXPECT_FALSE(is_unread(load_software("megatron-core"))) << "fitted";
  const PredictionInterval unread = prediction_interval(testing::a100_plan("lit-gpt")),
                           fitted = prediction_interval(testing::a100_plan("fsdp1"));
  EXPECT_NEAR(unread.slower, common_behavior().unread_hosts_apart - 1, 1e-9);
  EXPECT_GT(unread.late, 0);
  EXPECT_TRUE(fitted.is_even());
}

TEST(HostShare, ModulesOfAdaptersMayBeFaster) {
  ParallelPlan plan = testing::a100_plan("accelerate");
  EXPECT_EQ(prediction_interval(plan).faster, 0);
  plan.model.adapters = Adapters{};
  const PredictionInterval interval = prediction_interval(plan);
  EXPECT_GT(interval.faster, 0);
  EXPECT_EQ(interval.slower, 0);
  EXPECT_LT(interval.low(Seconds(1)), Seconds(1 - interval.half_width));
}

TEST(HostShare, WhatCrossesLinksIsTheDevices) {
  ParallelPlan plan = plan_without_modules(1e-6);
  const double alone = host_share(plan);
  plan.mesh.expert = plan.mesh.data = 2;
  plan.workload.global_batch *= 2;
  plan.cluster.devices = 2;
  EXPECT_LT(host_share(plan), alone);
}

}  // namespace
}  // namespace sim
