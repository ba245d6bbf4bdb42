#include "cli/training_run.h"

#include <gmock/gmock.h>

#include <cmath>

#include "sim/units/input_error.h"
#include "tests/sim/plan/plans.h"

namespace cli {
namespace {

using testing::HasSubstr;

TEST(TrainingRun, StragglersAreSimulatedOnEachStage) {
  const sim::ParallelPlan plan = sim::testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 1});
  const sim::ModelGraph model = sim::make_model_graph(plan);
  TrainingOptions options;
  options.steps = 10;
  options.stragglers_per_day = 1;
  const sim::Seconds usual = sim::to_seconds(sim::simulate(model, plan).step_time);
  const sim::Training training = training_of(options, model, plan, usual);
  ASSERT_EQ(training.step.straggling.size(), 2u);
  for (const sim::Seconds slow : training.step.straggling) EXPECT_GT(slow, usual);
  EXPECT_EQ(training.devices, 4);
  EXPECT_EQ(training.reliability.checkpoint_interval, 0);  // nothing fails: nothing need be saved
}

TEST(TrainingRun, TakesTheIntervalThatLosesLeastAndSaysWhereTheTimeGoes) {
  const sim::ParallelPlan plan = sim::testing::tiny_plan();
  TrainingOptions options;
  options.steps = 1000;
  options.mean_time_between_failures = "2 h";
  const sim::Training training = training_of(options, sim::make_model_graph(plan), plan, sim::Seconds(10));
  EXPECT_EQ(training.reliability.checkpoint_interval, sim::best_interval(training));
  EXPECT_THAT(goodput_text(training, sim::train(training)),
              testing::AllOf(HasSubstr("time to train"), HasSubstr("every 64 steps"), HasSubstr("restarting")));
}

TEST(TrainingRun, NamesEveryTextThatIsNoTime) {
  const sim::ParallelPlan plan = sim::testing::tiny_plan();
  TrainingOptions options;
  options.mean_time_between_failures = "5";
  options.restart_time = "-3 s";
  try {
    training_of(options, sim::make_model_graph(plan), plan, sim::Seconds(1));
    FAIL() << "nothing was refused";
  } catch (const sim::InputError& error) {
    EXPECT_EQ(error.violations().size(), 2u);
  }
}

TEST(TrainingRun, RefusesWhatIsNoNumberAndWhatCouldNotBeDrawn) {
  const sim::ParallelPlan plan = sim::testing::tiny_plan();
  const auto refused = [&](const auto& change) {
    TrainingOptions options;
    options.steps = 1000;
    change(options);
    EXPECT_THROW(training_of(options, sim::make_model_graph(plan), plan, sim::Seconds(1)), sim::InputError);
  };
  refused([](TrainingOptions& options) { options.stragglers_per_day = NAN; });
  refused([](TrainingOptions& options) { options.straggler_factor = NAN; });
  refused([](TrainingOptions& options) { options.mean_time_between_failures = "1e-9 s"; });
  refused([](TrainingOptions& options) { options.steps = sim::kMostSteps, options.mean_time_between_failures = "5.8 y"; });
}

}  // namespace
}  // namespace cli
