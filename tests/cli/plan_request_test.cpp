#include "cli/plan_request.h"

#include <gmock/gmock.h>

#include "sim/units/input_error.h"
#include "sim/units/unit_text.h"
#include "tests/sim/plan/plans.h"

namespace cli {
namespace {

PlanOptions plan_options() {
  PlanOptions options;
  options.model = "profiles/models/tiny-gpt2.json";
  options.cluster = "h100-80gb-sxm";
  options.devices = 8;
  options.global_batch = 16;
  options.sequence = 128;
  return options;
}

TEST(PlanRequest, PrecisionFollowsTheDevice) {
  EXPECT_EQ(search_request(plan_options()).workload.precision.compute(), sim::Precision::Bf16);
  PlanOptions chosen = plan_options();
  chosen.precision = "fp32";
  EXPECT_EQ(search_request(chosen).workload.precision.compute(), sim::Precision::Fp32);
}

TEST(PlanRequest, WiderGradientsNeedSixteenBits) {
  PlanOptions chosen = plan_options();
  chosen.fp32_gradients = true;
  EXPECT_EQ(sim::to_text(search_request(chosen).workload.precision), "bf16 gradients=fp32");
  chosen.fp32_gradients = false;
  chosen.precision = "bf16 gradients=fp32 wire=bf16";
  EXPECT_EQ(sim::to_text(search_request(chosen).workload.precision), chosen.precision);
  chosen.fp32_gradients = true;
  chosen.precision = "fp32";
  EXPECT_THROW(search_request(chosen), sim::InputError);
}

TEST(PlanRequest, MemoryLimitHasAUnit) {
  PlanOptions limited = plan_options();
  limited.memory_limit = "2 GiB";
  EXPECT_EQ(search_request(limited).memory_limit, sim::Bytes(std::int64_t{2} << 30));
}

// Of a normal distribution no chance is nothing: none is one that is printed as nothing, else no plan would compete.
TEST(PlanRequest, NoRiskIsOneThatIsPrintedAsNone) {
  PlanOptions careful = plan_options();
  careful.risk = "0";
  const double risk = search_request(careful).risk;
  EXPECT_GT(risk, 0);
  EXPECT_EQ(sim::percent(risk), "0.0 %");
}

TEST(PlanRequest, NamesEveryWrongValueAtOnce) {
  PlanOptions wrong = plan_options();
  wrong.memory_limit = "80";
  wrong.precision = "fp8";
  wrong.optimizer = "lion";
  try {
    search_request(wrong);
    FAIL();
  } catch (const sim::InputError& error) {
    EXPECT_EQ(error.violations().size(), 3u);
    EXPECT_THAT(error.what(), testing::HasSubstr("80 GiB"));
    EXPECT_THAT(error.what(), testing::HasSubstr("fp8:delayed"));
    EXPECT_THAT(error.what(), testing::HasSubstr("adamw, sgd"));
  }
}

TEST(PlanRequest, FurtherTokensMayBePredictedApartFromTheHead) {
  PlanOptions apart = plan_options();
  apart.model = "profiles/models/deepseek-v3.json";
  apart.mtp_apart = true;
  EXPECT_THAT([&] { search_request(apart); }, testing::ThrowsMessage<sim::InputError>(testing::HasSubstr("--mtp-apart")));
  apart.mtp_layers = 1;
  EXPECT_TRUE(search_request(apart).model.predicts_apart());
  apart.model = "profiles/models/tiny-gpt2.json";
  EXPECT_THAT([&] { search_request(apart); }, testing::ThrowsMessage<sim::InputError>(testing::HasSubstr("on three stages")));
}

TEST(PlanRequest, ABudgetIsNoLessThanNoTime) {
  PlanOptions options = plan_options();
  for (const char* budget : {"-1s", "soon"}) {
    options.budget = budget;
    EXPECT_THROW(search_request(options), sim::InputError) << budget;
  }
  options.budget = "0s";
  EXPECT_NO_THROW(search_request(options));
}

TEST(PlanRequest, WhatNoLayoutMendsIsRefused) {
  PlanOptions longer = plan_options();
  longer.sequence = 4096;
  EXPECT_THROW(search_request(longer), sim::InputError);
}

TEST(PlanRequest, APlanForAnotherProgramIsOneThatItPerforms) {
  PlanOptions chosen = plan_options();
  EXPECT_FALSE(search_request(chosen).why_not);
  chosen.program = "accelerate";
  sim::ParallelPlan plan = sim::testing::interleaved_plan({.data = 1, .pipeline = 2, .tensor = 1}, 2);
  const std::vector<sim::Violation> refused = search_request(chosen).why_not(plan);
  EXPECT_THAT(sim::InputError("", refused).what(), testing::HasSubstr("Accelerate trains without a pipeline"));
}

// DeepSpeed has gradients in a type of their own from its first stage on.
TEST(PlanRequest, TypesThatSomeStageSaysAreTaken) {
  PlanOptions chosen = plan_options();
  chosen.program = "deepspeed";
  chosen.precision = "bf16 gradients=fp32";
  EXPECT_NO_THROW(search_request(chosen));
  chosen.precision = "bf16 head=fp32";
  EXPECT_THROW(search_request(chosen), sim::InputError);
}

TEST(PlanRequest, TrainingStandsInThePlan) {
  PlanOptions chosen = plan_options();
  chosen.learning_rate = 1e-2;
  chosen.seed = 7;
  chosen.checkpoint_interval = 5;
  const sim::TrainingSettings training = search_request(chosen).training;
  EXPECT_EQ(training.learning_rate, 1e-2);
  EXPECT_EQ(training.minimum_learning_rate, 1e-3);
  EXPECT_EQ(training.seed, 7u);
  EXPECT_EQ(training.checkpoint_interval, 5);
}

}  // namespace
}  // namespace cli
