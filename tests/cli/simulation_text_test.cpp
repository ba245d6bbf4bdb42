#include "cli/simulation_text.h"

#include <gmock/gmock.h>

#include "sim/units/unit_text.h"
#include "tests/sim/plan/plans.h"

namespace cli {
namespace {

using testing::HasSubstr;

TEST(SimulationText, CompositionIsDescendingWithoutZeros) {
  sim::MemoryBreakdown memory{};
  memory[0] = sim::Bytes(1 << 10);
  memory[3] = sim::Bytes(1 << 20);
  EXPECT_EQ(composition_text(memory),
            "activations " + sim::to_text(sim::Bytes(1 << 20)) + ", parameters " + sim::to_text(sim::Bytes(1 << 10)));
}

TEST(SimulationText, SaysWhetherItFitsAndWhatMfuIs) {
  sim::ParallelPlan plan = sim::testing::tiny_plan();
  plan.cluster.hardware.kind = sim::DeviceKind::Gpu;
  sim::SimulationResult result;
  result.devices = {{.representative = sim::Rank(0), .stage = sim::StageIndex(0), .multiplicity = 4}};
  EXPECT_THAT(simulation_text(plan, result, Console(Form::Json)), HasSubstr(": fits"));
  EXPECT_THAT(simulation_text(plan, result, Console(Form::Json)), HasSubstr("model FLOPs / (step time x ranks x peak"));
  result.fits = false;
  EXPECT_THAT(simulation_text(plan, result, Console(Form::Json)), HasSubstr("DOES NOT FIT"));
  EXPECT_THAT(simulation_text(plan, result, Console(Form::Json)), HasSubstr("estimated, not measured yet"));
  plan.cluster.hardware.kind = sim::DeviceKind::Cpu;
  EXPECT_THAT(simulation_text(plan, result, Console(Form::Json)), testing::Not(HasSubstr("beside the peak")));
}

// 29 % of a step of experts on one stage is the host's, and was called a bubble without another word.
TEST(SimulationText, ABubbleWithoutAPipelineIsSaidToBeNone) {
  sim::ParallelPlan plan = sim::testing::tiny_plan();
  sim::SimulationResult result;
  result.bubble = 0.29;
  result.devices = {{.representative = sim::Rank(0), .stage = sim::StageIndex(0), .multiplicity = 4}};
  const auto text = [&] { return simulation_text(plan, result, Console(Form::Json)); };
  plan.mesh.pipeline = 1;
  EXPECT_THAT(text(), HasSubstr("of no pipeline here"));
  plan.mesh.pipeline = 2;
  EXPECT_THAT(text(), testing::Not(HasSubstr("of no pipeline here")));
}

}  // namespace
}  // namespace cli
