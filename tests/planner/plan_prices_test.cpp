#include "planner/plan_prices.h"

#include <gtest/gtest.h>

#include "sim/cost/task_prices.h"
#include "tests/planner/every_plan.h"

namespace planner {
namespace {

struct Priced {
  sim::ModelGraph model;
  sim::ParallelPlan plan;
  sim::TaskGraph devices;
  Pricer pricer;

  Priced(const SearchRequest& request, const PlanCandidate& candidate)
      : model(sim::make_model_graph(request.model, {request.vocabulary_multiple})),
        plan(make_plan(request, candidate)),
        devices(devices_of(model, plan)),
        pricer(model, plan, devices) {}
};

TEST(PlanPrices, ALayerIsTheSumOfItsTasks) {
  const Priced priced(small_request({.devices = 4}), {.mesh = {.data = 4}});
  sim::TaskPrices tasks(priced.model, priced.plan);
  const auto time = [&](sim::Phase phase, sim::Operation operation) {
    return tasks.layer_task({sim::LayerIndex(1), phase, operation}).duration;
  };
  const StageLayerPrices prices = priced.pricer.layers().front();
  EXPECT_EQ(prices[kBlock].forward.time,
            time(sim::Phase::Forward, sim::Operation::Attention) + time(sim::Phase::Forward, sim::Operation::Mlp));
  EXPECT_EQ(prices[kBlock].backward.time,
            time(sim::Phase::Backward, sim::Operation::Attention) + time(sim::Phase::Backward, sim::Operation::Mlp));
  EXPECT_EQ(prices[kBlock].recompute, PacedTime{});
}

TEST(PlanPrices, RecomputationRunsTheBlockAgain) {
  const Priced priced(small_request({.devices = 4}), {.mesh = {.data = 4}, .recompute = sim::Recompute::Full});
  const StageLayerPrices prices = priced.pricer.layers().front();
  EXPECT_EQ(prices[kBlock].recompute, prices[kBlock].forward);
  EXPECT_EQ(prices[kHead].recompute, PacedTime{});
}

TEST(PlanPrices, OneRankCommunicatesNothing) {
  const Priced priced(small_request({.devices = 1}), {});
  EXPECT_EQ(priced.pricer.transfers().front().down.forward_receive.count(), 0);
  const StageStepPrices step = priced.pricer.steps().front();
  EXPECT_EQ(step.world_sum.count(), 0);
  for (const BucketPrice& bucket : step.buckets) EXPECT_EQ(bucket.reduce.time.count(), 0);
}

// Eight data groups leave one node through one uplink: each gets an eighth.
TEST(PlanPrices, EqualRanksOnANodeSlowEachOther) {
  SearchRequest request = small_request({.devices = 16, .devices_per_node = 8});
  request.model.heads = request.model.kv_heads = 8;
  request.model.head_dim = 32;
  request.cluster.hardware.inter_node.latency = sim::Seconds(0);
  const PlanCandidate candidate{.mesh = {.data = 2, .pipeline = 1, .tensor = 8}};
  const Priced priced(request, candidate);
  sim::TaskPrices alone(priced.model, priced.plan);
  const sim::Bucket& bucket = priced.devices.buckets().front().front();
  const sim::TaskKey key{.phase = sim::Phase::Gradients, .operation = sim::Operation::AllReduce, .group = sim::MeshAxis::Data};
  const auto price = alone.collective(key, sim::Bytes(2) * bucket.elements, {.ranks = 2, .on_node = 1});
  const double slowed =
      static_cast<double>(priced.pricer.steps().front().buckets.front().reduce.time.count()) / static_cast<double>(price.duration.count());
  EXPECT_NEAR(slowed, 8 * price.uplink, 1e-3);
}

}  // namespace
}  // namespace planner
