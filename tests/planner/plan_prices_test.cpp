#include "planner/plan_prices.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

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

TEST(PlanPrices, CopiesShareTheirPricesUntilOneIsChanged) {
  StageLayerPrices one(3);
  const StageLayerPrices other = one;
  EXPECT_TRUE(one.shares(other));
  one[kBlock].computing = sim::SimTime(5);
  EXPECT_FALSE(one.shares(other));
  EXPECT_EQ(other[kBlock].computing, sim::SimTime{});
  EXPECT_EQ(std::as_const(one)[kBlock].computing, sim::SimTime(5));
}

// Whatever is computed again: with the prices of the plan that does not it is priced as by itself.
void expect_the_same_beside_bare_prices(const SearchRequest& request, std::int64_t& priced) {
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  for (const PlanCandidate& candidate : enumerate(request).candidates) {
    if (candidate.recompute == sim::Recompute::None) continue;
    const sim::ParallelPlan plan = make_plan(request, candidate);
    PlanCandidate without = candidate;
    without.recompute = sim::Recompute::None, without.scope = {};
    const sim::ParallelPlan bare = make_plan(request, without);
    const sim::TaskGraph devices = devices_without_buckets(plan);
    const Pricer pricer(model, plan, devices);
    const StageLayerPrices own = pricer.layers(sim::StageIndex(0)),
                           beside = pricer.layers(sim::StageIndex(0), Pricer(model, bare, devices).layers(sim::StageIndex(0)));
    for (const sim::LayerIndex first : model.firsts) EXPECT_EQ(own[model.kind(first)], beside[model.kind(first)]) << to_text(candidate);
    ++priced;
  }
}

TEST(PlanPrices, WhatIsComputedAgainComesOnTop) {
  std::int64_t priced = 0;
  for (const SearchRequest& request : small_requests()) expect_the_same_beside_bare_prices(request, priced);
  for (const SearchRequest& request : paced_requests()) expect_the_same_beside_bare_prices(request, priced);
  std::mt19937 random(29);
  for (int round = 0; round < 12; ++round) expect_the_same_beside_bare_prices(random_request(random), priced);
  EXPECT_GT(priced, 1000);
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
