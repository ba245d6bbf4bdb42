#include "executor/training/scale_history.h"

#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

sim::ParallelPlan delayed(std::int32_t history) {
  sim::ParallelPlan plan = tiny_plan();
  plan.workload.precision =
      sim::PrecisionPolicy(sim::Precision::Fp64).with(sim::ScaleRecipe::Delayed, /*gathers_scaled=*/false).with_scale_history(history);
  return plan;
}

float before(const ScaleHistory& history) { return history.of_product(1).before.select(0, 2).item<float>(); }
void see(ScaleHistory& history, float largest) {
  history.of_product(1).seen.select(0, 2).fill_(largest);
  history.end_step();
}

TEST(ScaleHistoryTest, ScalesAreOfTheLargestOfTheLastSteps) {
  const sim::ParallelPlan last = delayed(1), three = delayed(3);
  ScaleHistory one(sim::make_model_graph(last), last), more(sim::make_model_graph(three), three);
  EXPECT_EQ(before(one), 0);
  for (ScaleHistory* each : {&one, &more}) {
    see(*each, 5);
    see(*each, 2);
  }
  EXPECT_EQ(before(one), 2);
  EXPECT_EQ(before(more), 5);
  see(more, 1);
  see(more, 1);
  EXPECT_EQ(before(more), 2);
  see(more, std::numeric_limits<float>::infinity());
  EXPECT_EQ(before(more), 1) << "says nothing";
}

TEST(ScaleHistoryTest, GoesOnFromWhatWasSaved) {
  const sim::ParallelPlan three = delayed(3), two = delayed(2);
  ScaleHistory first(sim::make_model_graph(three), three), again(sim::make_model_graph(three), three),
      shorter(sim::make_model_graph(two), two);
  see(first, 5);
  see(first, 2);
  see(first, 1);
  again.load(first.saved());
  EXPECT_EQ(again.saved(), first.saved());
  EXPECT_EQ(before(again), 5);
  shorter.load(first.saved());
  EXPECT_EQ(before(shorter), 2);
}

TEST(ScaleHistoryTest, OtherRecipesHaveNone) {
  sim::ParallelPlan plan = tiny_plan();
  ScaleHistory none(sim::make_model_graph(plan), plan);
  EXPECT_FALSE(none.is_kept());
  none.end_step();
  EXPECT_TRUE(none.saved().empty());
}

}  // namespace
}  // namespace executor
