#include "gui/core/answers.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

Answer answerTo(std::string_view begins, const SharedPlan& plan) {
  const std::atomic<bool> cancelled{false};
  std::atomic<double> share{0};
  for (const Question& question : allQuestions())
    if (question.text.find(begins) != std::string_view::npos) return question.answer(*plan, {cancelled, share});
  ADD_FAILURE() << begins;
  return {};
}

TEST(Answers, EveryQuestionHasOneWithAllItsArguments) {
  const SharedPlan plan = test::exampleSimulation();
  const std::atomic<bool> cancelled{false};
  std::atomic<double> share{0};
  std::set<std::string_view> texts;
  for (const Question& question : allQuestions()) {
    EXPECT_TRUE(texts.insert(question.text).second);
    const Answer answer = question.answer(*plan, {cancelled, share});
    EXPECT_FALSE(answer.sentence.empty()) << question.text;
    EXPECT_EQ(answer.sentence.find("%" + std::to_string(answer.arguments.size() + 1)), std::string_view::npos) << answer.sentence;
    EXPECT_TRUE(!answer.variants.empty() || !answer.parts.empty() || question.text.find("unsharded") != std::string_view::npos)
        << question.text;
  }
  EXPECT_GE(texts.size(), 13u);
}

TEST(Answers, ThePlanAsItIsIsAmongTheVariantsWithItsOwnFigures) {
  const SharedPlan plan = test::exampleSimulation();
  for (const char* question : {"the microbatch", "recomputation", "ZeRO stage", "precision", "data ranks", "global batch", "schedule"}) {
    int seen = 0;
    for (const Variant& variant : answerTo(question, plan).variants) {
      if (!variant.is_now) continue;
      ++seen;
      EXPECT_EQ(variant.step_time, plan->result.step_time) << question;
      EXPECT_EQ(variant.peak_memory, plan->result.peak_memory) << question;
    }
    EXPECT_EQ(seen, 1) << question;
  }
}

TEST(Answers, TheOptimizerOnTheHostIsSimulated) {
  const Answer answer = answerTo("optimizer lay on the host", test::exampleSimulation());
  ASSERT_EQ(answer.variants.size(), 3u);
  EXPECT_TRUE(answer.variants[0].is_now);
  EXPECT_LT(answer.variants[1].peak_memory, answer.variants[0].peak_memory);
  EXPECT_GT(answer.variants[1].step_time, answer.variants[0].step_time);
  EXPECT_GT(answer.variants[1].host_memory, sim::Bytes(0));
  EXPECT_GT(answer.variants[2].host_memory, answer.variants[1].host_memory);
}

TEST(Answers, PartsOfThePeakAreThePeak) {
  const SharedPlan plan = test::exampleSimulation();
  sim::Bytes sum{};
  for (const Part& part : answerTo("made of", plan).parts) sum += part.size;
  EXPECT_EQ(sum, plan->result.peak_memory);
}

TEST(Answers, LargerUnitsHoldMoreAndAreGatheredLessOften) {
  const Answer answer = answerTo("wrapping", test::exampleSimulation());
  ASSERT_GE(answer.variants.size(), 4u);
  for (std::size_t at = 2; at < answer.variants.size(); ++at) {
    const Variant &smaller = answer.variants[at - 2], &larger = answer.variants[at];
    EXPECT_EQ(larger.plan.layers_per_unit, 2 * smaller.plan.layers_per_unit);
    EXPECT_EQ(larger.plan.prefetch, smaller.plan.prefetch);
    EXPECT_GE(larger.peak_memory, smaller.peak_memory) << larger.name;
    if (larger.plan.prefetch > 0) continue;
    EXPECT_LE(larger.step_time, smaller.step_time) << larger.name;
  }
}

TEST(Answers, TheLongestSequenceIsTheLastThatFits) {
  sim::ParallelPlan small = test::examplePlan();
  const sim::Bytes peak = simulatePlan(small)->result.peak_memory;
  for (small.cluster.hardware.memory = peak; sim::usable_memory(small.cluster) < peak;)
    small.cluster.hardware.memory += peak - sim::usable_memory(small.cluster);
  const SharedPlan plan = simulatePlan(small);
  const Answer answer = answerTo("long may", plan);
  const std::int64_t longest = std::stoll(answer.arguments[0]);
  EXPECT_GE(longest, 64);
  for (const Variant& variant : answer.variants) EXPECT_EQ(variant.fits, variant.plan.workload.sequence <= longest) << variant.name;
}

TEST(Answers, AreCancelled) {
  const std::atomic<bool> cancelled{true};
  std::atomic<double> share{0};
  for (const Question& question : allQuestions())
    for (const Variant& variant : question.answer(*test::exampleSimulation(), {cancelled, share}).variants)
      EXPECT_TRUE(variant.step_time == sim::SimTime(0) || variant.is_now || question.text.find("sequence") != std::string_view::npos);
}

}  // namespace
}  // namespace gui
