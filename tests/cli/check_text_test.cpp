#include "cli/check_text.h"

#include <gmock/gmock.h>

#include "tests/sim/plan/plans.h"

namespace cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Subject subject_of(const sim::ParallelPlan& plan) {
  Subject subject;
  subject.path = "it.sh", subject.plan = plan;
  return subject;
}

TEST(CheckText, LinesToChangeAreTheProgramsOwn) {
  sim::ParallelPlan before = sim::testing::tiny_plan({.data = 4}), after = before;
  after.mesh = {.data = 2, .tensor = 2};
  after.sequence_parallel = true;
  Subject subject = subject_of(before);
  EXPECT_THAT(changed_lines(subject, after), ElementsAre("data 4 -> 2", "tensor 1 -> 2", "sequence_parallel false -> true"));
  subject.program = &sim::kMegatron;
  subject.is_recipe = true;
  subject.said = {{"tensor-model-parallel-size", {"tensor-model-parallel-size", "1"}}};
  EXPECT_THAT(changed_lines(subject, after), testing::Contains("--tensor-model-parallel-size 1 -> 2"));
  EXPECT_THAT(changed_lines(subject, after), testing::Contains("add --sequence-parallel"));
  subject.plan = after;
  EXPECT_THAT(changed_lines(subject, before), testing::Not(testing::Contains("remove --sequence-parallel"))) << "the file has no such line";
  subject.said["sequence-parallel"] = {"sequence-parallel", "true"};
  EXPECT_THAT(changed_lines(subject, before), testing::Contains("remove --sequence-parallel"));
}

TEST(CheckText, WhatAFileLeavesToTheCodeIsToldAsTheCodes) {
  sim::ParallelPlan before = sim::testing::tiny_plan({.data = 4}), after = before;
  after.microbatch_size = 2;
  Subject subject = subject_of(before);
  subject.program = &sim::kAccelerate;
  subject.is_recipe = true;
  EXPECT_THAT(changed_lines(subject, after), ElementsAre("microbatch 1 -> 2, in the program's code"));
  after.recompute = sim::Recompute::Selective;
  EXPECT_THAT(changed_lines(subject, after), testing::Contains("recompute none -> selective, in the program's code"));
  after.attention = sim::AttentionWord::EfficientMasked;
  EXPECT_THAT(changed_lines(subject, after),
              testing::Contains(testing::MatchesRegex("attention .* -> efficient_masked, in the program's code")));
}

TEST(CheckText, AScheduleComesWithTheChunksThatALineSays) {
  sim::ParallelPlan before = sim::testing::tiny_plan({.pipeline = 2}), after = before;
  after.schedule = "interleaved", after.chunks = 2;
  after.cut = sim::even_cut(after.model.layers, after.pipeline_shape());
  Subject subject = subject_of(before);
  subject.program = &sim::kMegatron;
  subject.is_recipe = true;
  const std::vector<std::string> lines = changed_lines(subject, after);
  EXPECT_FALSE(lines.empty());
  EXPECT_THAT(lines, testing::Each(testing::Not(testing::HasSubstr("in the program's code"))));
}

// Of two settings that change together none is left out, whoever says it.
TEST(CheckText, WhatADeepSpeedFileSaysIsToldAsItsOwn) {
  sim::ParallelPlan before = sim::testing::tiny_plan({.data = 4});
  before.zero_stage = 2, before.offload_optimizer = true, before.recompute = sim::Recompute::Full;
  sim::ParallelPlan after = before;
  after.offload_optimizer = false, after.recompute = sim::Recompute::None;
  Subject subject = subject_of(before);
  subject.program = &sim::kTrainer;
  subject.is_recipe = true;
  subject.said = {{"gradient_checkpointing", {"gradient_checkpointing", "true"}}};
  EXPECT_THAT(changed_lines(subject, after),
              ElementsAre("gradient_checkpointing true -> false", "offload_optimizer true -> false, in the program's code"));
  subject.said["file.zero_optimization.offload_optimizer.device"] = {"zero_optimization.offload_optimizer.device", "cpu"};
  EXPECT_THAT(changed_lines(subject, after), testing::Contains("offload_optimizer true -> false, in the DeepSpeed file beside it"));
}

TEST(CheckText, WhatHasNoUseInEitherPlanIsNotTold) {
  sim::ParallelPlan before = sim::testing::tiny_plan({.data = 4}), after = before;
  before.zero_stage = 1, before.reshard_after_forward = false, after.zero_stage = 2;
  const auto differences = [&] {
    const sim::Bytes limit = sim::usable_memory(before.cluster);
    return screen_text(difference_report(checked(subject_of(before), limit), checked(subject_of(after), limit)), Console(Form::Json));
  };
  EXPECT_THAT(changed_lines(subject_of(before), after), ElementsAre("zero 1 -> 2"));
  EXPECT_THAT(differences(), testing::Not(HasSubstr("gather again")));
  after.zero_stage = 3;
  EXPECT_THAT(changed_lines(subject_of(before), after), ElementsAre("zero 1 -> 3", "reshard false -> true"));
  EXPECT_THAT(differences(), testing::ContainsRegex("gather again +false +true"));
}

TEST(CheckText, DifferencesHaveCauses) {
  sim::ParallelPlan plan = sim::testing::tiny_plan({.data = 2});
  const sim::Bytes limit = sim::usable_memory(plan.cluster);
  const Checked before = checked(subject_of(plan), limit);
  plan.recompute = sim::Recompute::Full;
  const std::string text = screen_text(difference_report(before, checked(subject_of(plan), limit)), Console(Form::Json));
  EXPECT_THAT(text, HasSubstr("none"));
  EXPECT_THAT(text, testing::ContainsRegex("recompute +none +full"));
  EXPECT_THAT(text, testing::ContainsRegex("computing again +- +[0-9.]+ [mun]?s +\\+"));
  EXPECT_THAT(text, testing::ContainsRegex("activations .* -"));
}

// A family's name alone says nothing of a size; what is trained of a network is a setting of its own.
TEST(CheckText, NetworksThatDifferAreNamedByTheirSize) {
  sim::ParallelPlan before = sim::testing::tiny_plan({.data = 2}), now = before;
  const auto differences = [&] {
    const sim::Bytes limit = sim::usable_memory(before.cluster);
    return screen_text(difference_report(checked(subject_of(before), limit), checked(subject_of(now), limit)), Console(Form::Json));
  };
  now.model.layers *= 2;
  EXPECT_THAT(differences(), testing::ContainsRegex("model +gpt2 \\([0-9.]+ [KM]\\) +gpt2 \\([0-9.]+ [KM]\\)"));
  now = before;
  now.model.norm_epsilon *= 10;
  EXPECT_THAT(differences(), testing::ContainsRegex("norm_eps of the model +1e-05 +0.0001"));
  now = before;
  now.model.adapters = sim::Adapters{}.on(sim::AdapterTarget::Output);
  EXPECT_THAT(differences(), testing::Not(HasSubstr("model ")));
}

TEST(CheckText, StepsOfOtherSizesAreComparedByTheToken) {
  sim::ParallelPlan before = sim::testing::tiny_plan({.data = 2}), now = before;
  const sim::Bytes limit = sim::usable_memory(before.cluster);
  now.workload.global_batch *= 4;
  const std::string text =
      screen_text(difference_report(checked(subject_of(before), limit), checked(subject_of(now), limit)), Console(Form::Json));
  EXPECT_THAT(text, testing::ContainsRegex("tokens/s: [0-9,]+ before, [0-9,]+ now"));
  EXPECT_THAT(text, HasSubstr("the second is faster a token with a chance of"));
  EXPECT_GT(chance_faster(checked(subject_of(now), limit), checked(subject_of(before), limit)), 0.5)
      << "its step is longer, a token is not";
  const std::string same =
      screen_text(difference_report(checked(subject_of(now), limit), checked(subject_of(now), limit)), Console(Form::Json));
  EXPECT_THAT(same, testing::Not(testing::ContainsRegex("[+-]0(\\.0)? (ns|B|%)")));
}

TEST(CheckText, WhatAFileDoesNotSayIsToldOfBoth) {
  Subject one = subject_of(sim::testing::tiny_plan({.data = 2}));
  one.told = {{"packing", "is off", ""}};
  const Checked both = checked(one, sim::usable_memory(one.plan.cluster));
  const Report report = difference_report(both, both);
  EXPECT_EQ(std::ranges::count(report.sections, "Not said by it.sh", &Section::heading), 2);
}

// An optimizer's step on the host is no communication: the share beside a cause is of that cause.
TEST(CheckText, WorkOfTheHostStandsBesideItsCause) {
  sim::ParallelPlan plan = sim::testing::tiny_plan({.data = 2});
  plan.zero_stage = 1, plan.offload_optimizer = true;
  const sim::Bytes limit = sim::usable_memory(plan.cluster);
  CheckResult check;
  check.now = checked(subject_of(plan), limit);
  check.request = planner::request_like(plan);
  const std::string text = screen_text(check_report(check), Console(Form::Json));
  EXPECT_THAT(text, testing::ContainsRegex("waiting for the host +[0-9.]+ % .*step\\.host_update"));
  EXPECT_THAT(text, testing::Not(testing::ContainsRegex("exposed communication [^\n]*step\\.host_update")));
}

// The workload of a recipe is what its own words say.
TEST(CheckText, ARecipeIsNotToldThatItCannotSayItsWorkload) {
  CheckResult check;
  Subject subject = subject_of(sim::testing::tiny_plan({.data = 2}));
  subject.unsayable = {{"/workload/optimizer", "is not written", "plan with another"}};
  const auto text_of = [&] {
    check.now = checked(subject, sim::usable_memory(subject.plan.cluster));
    check.request = planner::request_like(subject.plan);
    return screen_text(check_report(check), Console(Form::Json));
  };
  EXPECT_THAT(text_of(), HasSubstr("is not written"));
  subject.is_recipe = true;
  EXPECT_THAT(text_of(), testing::Not(HasSubstr("is not written")));
}

// The others are asked for; and the best plan's lines are not written twice.
TEST(CheckText, OfTwoSettingsTheBestIsShown) {
  sim::ParallelPlan plan = sim::testing::tiny_plan({.data = 4});
  CheckResult check;
  check.now = checked(subject_of(plan), sim::usable_memory(plan.cluster));
  check.request = planner::request_like(plan);
  check.fits = true, check.measure = 4;
  for (const std::int32_t tensor : {2, 4}) {
    planner::Improvement& two = check.improvements.two.emplace_back();
    two.plan = plan, two.plan.mesh = {.data = 4 / tensor, .tensor = tensor}, two.measure = tensor;
  }
  EXPECT_THAT(screen_text(check_report(check), Console(Form::Json)), HasSubstr("data 4 -> 2"));
  EXPECT_THAT(screen_text(check_report(check), Console(Form::Json)), testing::Not(HasSubstr("data 4 -> 1")));
  EXPECT_THAT(screen_text(check_report(check), Console(Form::Json)), HasSubstr("1 change more: --why changes"));
  check.all_changes = true;
  EXPECT_THAT(screen_text(check_report(check), Console(Form::Json)), HasSubstr("data 4 -> 1"));
}

// As many changes as there is room for.
TEST(CheckText, IsOneScreen) {
  sim::ParallelPlan plan = sim::testing::tiny_plan({.data = 4});
  CheckResult check;
  check.now = checked(subject_of(plan), sim::usable_memory(plan.cluster));
  check.request = planner::request_like(plan);
  check.fits = true, check.measure = 4;
  for (int change = 1; change <= 12; ++change) {
    planner::Improvement& one = check.improvements.one.emplace_back();
    one.plan = plan, one.plan.microbatch_size = 1 + change, one.plan.zero_stage = 1, one.plan.recompute = sim::Recompute::Full;
  }
  EXPECT_LE(num_lines(check_report(check)), kScreenLines);
  EXPECT_THAT(screen_text(check_report(check), Console(Form::Json)), testing::ContainsRegex("[0-9]+ changes more: --why changes"));
  check.all_changes = true;
  EXPECT_GT(num_lines(check_report(check)), kScreenLines);
}

}  // namespace
}  // namespace cli
