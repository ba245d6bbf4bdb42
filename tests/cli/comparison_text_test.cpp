#include "cli/comparison_text.h"

#include <gmock/gmock.h>

namespace cli {
namespace {

using testing::HasSubstr;
using testing::Not;

sim::Comparison comparison() {
  sim::Comparison comparison;
  comparison.step = {.name = "step", .samples = 9, .simulated = sim::Seconds(0.011), .measured = sim::Seconds(0.010)};
  comparison.kinds = {{.name = "forward.mlp", .samples = 36, .simulated = sim::Seconds(0.004), .measured = sim::Seconds(0.005)}};
  comparison.memory_simulated = sim::Bytes(1024);
  comparison.memory_measured = sim::Bytes(1000);
  comparison.memory_composition[0] = sim::Bytes(1024);
  comparison.ledger_equal = true;
  comparison.noise = 0.021;
  return comparison;
}

std::string text(const sim::Comparison& comparison) { return comparison_text(comparison, Console(Form::Json)); }

TEST(ComparisonText, EveryErrorHasTheNoiseFloorBesideIt) {
  EXPECT_THAT(text(comparison()), testing::ContainsRegex("step +9 .*\\+10\\.0 % +2\\.1 %"));
  EXPECT_THAT(text(comparison()), testing::ContainsRegex("forward\\.mlp +36 .*-20\\.0 % +2\\.1 %"));
}

TEST(ComparisonText, MemoryHasItsErrorAndComposition) {
  EXPECT_THAT(text(comparison()), testing::ContainsRegex("peak memory .*\\+2\\.4 %"));
  EXPECT_THAT(text(comparison()), HasSubstr("parameters"));
  EXPECT_THAT(text(comparison()), Not(HasSubstr("gathered_units")));
}

TEST(ComparisonText, SaysWhatDoesNotMatch) {
  EXPECT_THAT(text(comparison()), HasSubstr("ledger: equal"));
  sim::Comparison broken = comparison();
  broken.ledger_equal = false;
  broken.ledger_difference = "rank 1, step 2: entry 3";
  broken.only_measured = {"rank 1: s0.c0.m0.l0.forward.embedding.none.0"};
  EXPECT_THAT(text(broken), HasSubstr("DIFFERENT: rank 1, step 2: entry 3"));
  EXPECT_THAT(text(broken), HasSubstr("1 task only measured"));
}

TEST(ComparisonText, LoadsOfExpertsAreAWordOfThePlan) {
  sim::Comparison known = comparison();
  sim::ParallelPlan plan;
  plan.model.experts = sim::ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 16};
  plan.workload.expert_loads = {.kind = sim::LoadKind::Spread, .spread = 0.2};
  EXPECT_EQ(experts_text(known, plan), "") << "nobody counted";
  known.expert_spread = 0.428;
  EXPECT_THAT(experts_text(known, plan),
              AllOf(HasSubstr("spread 0.43 "), HasSubstr("0.2 in the plan"), HasSubstr("--expert-loads \"spread 0.43\"")));
}

}  // namespace
}  // namespace cli
