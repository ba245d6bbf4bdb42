#include "planner/bucket_price.h"

#include <gtest/gtest.h>

#include "tests/planner/every_plan.h"
#include "tests/sim/cost/random_plans.h"

namespace planner {
namespace {

// Of four data ranks in stage 3, the first bucket of the only stage.
BucketPrice price(void (*put)(sim::ParallelPlan&)) {
  const SearchRequest request = small_request({.devices = 4});
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  sim::ParallelPlan plan = make_plan(request, {.mesh = {.data = 4}, .zero_stage = 3, .accumulation = sim::Accumulation::ReduceEach});
  put(plan);
  const sim::TaskGraph devices = devices_of(model, plan);
  return bucket_price(Pricer(model, plan, devices), plan, {devices.buckets().front(), sim::StageIndex(0), sim::BucketIndex(0)});
}

TEST(BucketPrice, WeightsOnTheHostComeByShardsAndGradientsLeave) {
  const BucketPrice on_device = price([](sim::ParallelPlan&) {});
  const BucketPrice optimizer = price([](sim::ParallelPlan& plan) { plan.offload_optimizer = true; });
  const BucketPrice weights = price([](sim::ParallelPlan& plan) { plan.offload_optimizer = plan.offload_parameters = true; });
  EXPECT_EQ(on_device.to_host.count() + on_device.to_device.count() + on_device.bring.count(), 0);
  EXPECT_GT(optimizer.to_device.count(), 0);
  EXPECT_EQ(optimizer.bring.count(), 0);
  EXPECT_EQ(weights.to_device.count(), 0);
  EXPECT_GT(weights.bring.count(), 0);
  EXPECT_GT(weights.bring_sums.count(), 0);
  EXPECT_EQ(weights.to_host, optimizer.to_host);
  EXPECT_EQ(weights.forward_gather.time, on_device.forward_gather.time);  // behind what came from the host
}

TEST(BucketPrice, OneRankGathersNothingAndBringsAll) {
  const BucketPrice of_four = price([](sim::ParallelPlan& plan) { plan.offload_optimizer = plan.offload_parameters = true; });
  const BucketPrice of_one = price([](sim::ParallelPlan& plan) {
    plan.mesh.data = 1;
    plan.offload_optimizer = plan.offload_parameters = true;
  });
  EXPECT_EQ(of_one.forward_gather.time.count() + of_one.reduce.time.count(), 0);
  EXPECT_GT(of_one.bring, of_four.bring);
}

TEST(BucketPrice, WhatTheDeviceStepsIsNotTheHosts) {
  const BucketPrice all = price([](sim::ParallelPlan& plan) { plan.offload_optimizer = true; });
  const BucketPrice some = price([](sim::ParallelPlan& plan) {
    plan.offload_optimizer = true;
    plan.offload_share = 0.5;
  });
  EXPECT_EQ(all.device_update.time.count(), 0);
  EXPECT_GT(some.device_update.time.count(), 0);
  EXPECT_LT(some.update.time, all.update.time);
  EXPECT_LT(some.to_host, all.to_host);
  EXPECT_LT(some.to_device, all.to_device);
}

// What a bucket takes is looked up among equal ones of stages that lie alike: it is what it takes by itself, whatever the plan.
TEST(BucketPrice, IsThatOfEqualBucketsOfStagesThatLieAlike) {
  const std::vector<sim::SoftwareStack> programs = all_sorts_of_programs();
  sim::testing::PlanGenerator generator(11);
  std::int64_t buckets = 0, alike = 0;
  for (int drawn = 0; drawn < 1500; ++drawn) {
    const sim::ParallelPlan plan = generator.next_of_programs(drawn % 4 > 0 ? sim::DeviceKind::Gpu : sim::DeviceKind::Cpu, programs);
    const sim::ModelGraph model = make_model_graph(plan);
    const sim::TaskGraph devices = devices_of(model, plan);
    const Pricer pricer(model, plan, devices);
    const std::vector<StageStepPrices> steps = pricer.steps();
    for (sim::StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) {
      const std::vector<sim::Bucket>& own = devices.buckets()[stage.position()];
      for (std::size_t at = 0; at < own.size(); ++at) {
        const sim::BucketIndex index(static_cast<std::int32_t>(at));
        EXPECT_EQ(steps[stage.position()].buckets[at], bucket_price(pricer, plan, {own, stage, index})) << sim::testing::describe(plan);
        alike += take_the_same(model, own[at], devices.buckets().front().front()) ? 1 : 0;
        ++buckets;
      }
    }
  }
  EXPECT_GT(alike, 1000);
  EXPECT_LT(alike, buckets / 2);
}

}  // namespace
}  // namespace planner
