#include "sim/calibration/learn.h"

#include <gmock/gmock.h>

#include <cmath>

#include "sim/cost/prediction_interval.h"
#include "sim/engine/simulate.h"
#include "tests/sim/calibration/made_plans.h"

namespace sim {
namespace {

double simulated(const ParallelPlan& plan) { return to_seconds(simulate(make_model_graph(plan), plan, Detail::Summary).step_time).count(); }

// "Measured" by the engine with other software.
Evidence made(const ParallelPlan& plan, const SoftwareStack& truth) {
  ParallelPlan real = plan;
  real.cluster.software = truth;
  return {.name = "run", .plan = plan, .step = Seconds(simulated(real)), .memory = {}};
}

double error_of(const ParallelPlan& plan, const SoftwareStack& now, const SoftwareStack& truth) {
  ParallelPlan predicted = plan, real = plan;
  predicted.cluster.software = now;
  real.cluster.software = truth;
  return std::abs(std::log(simulated(predicted) / simulated(real)));
}

TEST(Learn, OneRunBringsItsLikesNearer) {
  SoftwareStack truth = row_plan(2).cluster.software;
  truth.pace = 1.15;
  const Learned learned = learn({made(row_plan(2), truth)});
  EXPECT_LT(error_of(row_plan(4), learned.cluster.software, truth), 0.6 * error_of(row_plan(4), row_plan(4).cluster.software, truth));
  EXPECT_LT(learned.interval, learned.interval_before);
  EXPECT_THAT(learned.cluster.software.source, ::testing::HasSubstr("learned from run ("));
}

TEST(Learn, SeveralLayoutsFindTheNetwork) {
  SoftwareStack truth = row_plan(2).cluster.software;
  truth.network_share *= 0.6;
  const std::vector<std::int64_t> tensors{1, 2, 4, 8};
  std::vector<Evidence> evidence;
  for (const std::int64_t tensor : tensors) evidence.push_back(made(row_plan(2, tensor), truth));
  const Learned learned = learn(evidence);
  for (const std::int64_t tensor : tensors) EXPECT_LT(error_of(row_plan(4, tensor), learned.cluster.software, truth), 0.05) << tensor;
}

TEST(Learn, TheIntervalIsNarrowerForFormsThatWereSeenAlone) {
  const ParallelPlan plan = row_plan(2);
  Learned learned = learn({made(plan, plan.cluster.software), made(row_plan(4), plan.cluster.software)});
  ParallelPlan like = row_plan(1), other = row_plan(2, 2);
  const double before = prediction_interval(other).half_width;
  like.cluster = other.cluster = learned.cluster;
  EXPECT_LT(prediction_interval(like).half_width, before);
  EXPECT_EQ(prediction_interval(other).half_width, before) << "tensor ranks were not among the evidence";
}

TEST(Learn, WhatNothingDependsOnIsNotIdentifiable) {
  const ParallelPlan plan = row_plan(4);
  for (const LearnedConstant& one : learn({made(plan, plan.cluster.software)}).constants)
    EXPECT_TRUE(one.name != "pipeline_sync" || known_text(one.known) == "not identifiable");
}

TEST(Learn, MemoryThatIsMissingIsHeldBesideTensors) {
  Evidence evidence = made(row_plan(2), row_plan(2).cluster.software);
  evidence.memory = Bytes(std::int64_t{70} << 30);
  const Learned learned = learn({evidence});
  EXPECT_GT(learned.cluster.software.context_gib, row_plan(2).cluster.software.context_gib);
  EXPECT_LT(usable_memory(learned.cluster), usable_memory(row_plan(2).cluster));
}

TEST(Learn, DevicesWithoutDescribedKernelsHaveAPace) {
  ParallelPlan plan = row_plan(2);
  plan.cluster.hardware.kernels.reset();
  const Learned learned = learn({{.name = "run", .plan = plan, .step = Seconds(1.3 * simulated(plan)), .memory = {}}});
  EXPECT_GT(learned.cluster.software.pace, 1.05);
  const double before = simulated(plan);
  plan.cluster = learned.cluster;
  EXPECT_GT(simulated(plan), 1.15 * before);
  EXPECT_NEAR(simulated(plan), learned.steps.front().after.count(), 1e-6);
}

TEST(Learn, WhatLikesMissTogetherIsInTheProfile) {
  const ParallelPlan plan = row_plan(2);
  const Learned learned = learn({{.name = "run", .plan = plan, .step = Seconds(1.15 * simulated(plan)), .memory = {}}});
  const SoftwareStack read = software_stack_from_json(to_json(learned.cluster.software), "learned");
  EXPECT_EQ(read.learned_runs, learned.cluster.software.learned_runs);
  ParallelPlan again = plan;
  again.cluster.software = read;
  EXPECT_NEAR(simulated(again) / learned.steps.front().after.count(), 1, 1e-3);
}

TEST(Learn, ProgramsAreNotMixed) {
  Evidence one = made(row_plan(2), row_plan(2).cluster.software), other = one;
  other.plan.cluster.software.name = "another";
  EXPECT_THROW(learn({one, other}), InputError);
  one.step.reset();
  EXPECT_THROW(learn({one}), InputError);
}

TEST(Learn, NoDeviceHoldsMoreThanItHas) {
  Evidence one = made(row_plan(2), row_plan(2).cluster.software);
  one.memory = 2 * one.plan.cluster.hardware.memory;
  try {
    learn({one});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("took 160 GiB, and a100-80gb-sxm has 80.0 GiB"));
  }
}

TEST(Learn, AnonymousProfilesHoldNoNames) {
  Cluster cluster = row_plan(2).cluster;
  cluster.hardware.name = "acme-box";
  cluster.hardware.traces = {"/home/acme/trace.json"};
  cluster.hardware.source = cluster.software.source = cluster.software.name = "acme";
  cluster.hardware.kernels->source = "acme";
  const std::string text = to_json(anonymous(cluster)).dump();
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("acme")));
  EXPECT_NO_THROW(cluster_from_json(Json::parse(text), "anonymous"));
}

}  // namespace
}  // namespace sim
