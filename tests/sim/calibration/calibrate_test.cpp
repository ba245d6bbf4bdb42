#include "sim/calibration/calibrate.h"

#include <gmock/gmock.h>

#include "sim/units/input_error.h"
#include "tests/sim/calibration/simulated_runs.h"

namespace sim {
namespace {

using testing::run_of;
using testing::slowed;
using testing::tiny_plan;

double factor(const HardwareProfile& profile, const std::string& kind) {
  for (const Correction& correction : profile.corrections)
    if (correction.kind == kind) return correction.factor;
  ADD_FAILURE() << "no correction of " << kind;
  return 0;
}

TEST(Calibrate, FindsTheFactorsOfASlowerMachine) {
  for (const DeviceMesh mesh : {DeviceMesh{}, DeviceMesh{.data = 2}, DeviceMesh{.tensor = 2}, DeviceMesh{.pipeline = 2}}) {
    const ParallelPlan plan = tiny_plan(mesh);
    const std::vector<Correction> truth{{"forward.mlp", 2.0, 0},
                                        {"backward.attention", 0.5, 0},
                                        {"step.update", 3.0, 0},
                                        {"gradients.all_reduce.data", 1.75, 0},
                                        {"forward.all_reduce.tensor", 4.0, 0},
                                        {"forward.receive.pipeline", 5.0, 0}};
    const HardwareProfile calibrated = calibrate(plan.cluster.hardware, {run_of(slowed(plan, truth))});
    for (const Correction& found : calibrated.corrections) {
      const auto known = std::find_if(truth.begin(), truth.end(), [&](const Correction& each) { return each.kind == found.kind; });
      EXPECT_NEAR(found.factor, known == truth.end() ? 1.0 : known->factor, 1e-3) << found.kind;
      EXPECT_GT(found.samples, 0);
    }
    EXPECT_NEAR(factor(calibrated, "forward.mlp"), 2.0, 1e-6);
    EXPECT_NEAR(mesh.data > 1 ? factor(calibrated, "gradients.all_reduce.data") : 1.75, 1.75, 1e-6);
    EXPECT_NEAR(mesh.tensor > 1 ? factor(calibrated, "forward.all_reduce.tensor") : 4.0, 4.0, 1e-6);
    EXPECT_NEAR(mesh.pipeline > 1 ? factor(calibrated, "forward.receive.pipeline") : 5.0, 5.0, 1e-3);
  }
}

TEST(Calibrate, PricesThenMeetMeasurements) {
  const ParallelPlan plan = tiny_plan({.data = 2});
  const ParallelPlan truth = slowed(plan, {{"forward.mlp", 2.5, 0}, {"step.norm_part", 0.25, 0}});
  ParallelPlan calibrated = plan;
  calibrated.cluster.hardware = calibrate(plan.cluster.hardware, {run_of(truth)});
  const auto step = [](const ParallelPlan& priced) { return to_seconds(simulate(make_model_graph(priced), priced).step_time).count(); };
  EXPECT_GT(std::abs(step(plan) - step(truth)), 0.01 * step(truth));
  EXPECT_NEAR(step(calibrated), step(truth), 1e-6 * step(truth));
}

TEST(Calibrate, ARunOnCpusSaysNothingOfAGpu) {
  const ParallelPlan plan = tiny_plan();
  HardwareProfile gpu = plan.cluster.hardware;
  gpu.kind = DeviceKind::Gpu;
  EXPECT_THAT([&] { calibrate(gpu, {run_of(plan)}); }, ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("is for a cpu")));
}

TEST(Calibrate, TheSameTracesGiveTheSameProfile) {
  const ParallelPlan plan = tiny_plan({.pipeline = 2});
  const CalibrationRun run = run_of(slowed(plan, {{"forward.mlp", 1.7, 0}}));
  const HardwareProfile once = calibrate(plan.cluster.hardware, {run}), twice = calibrate(once, {run});
  ASSERT_EQ(once.corrections.size(), twice.corrections.size());
  for (std::size_t at = 0; at < once.corrections.size(); ++at) {
    EXPECT_EQ(once.corrections[at].kind, twice.corrections[at].kind);
    EXPECT_EQ(once.corrections[at].factor, twice.corrections[at].factor);
    EXPECT_EQ(once.corrections[at].samples, twice.corrections[at].samples);
  }
  EXPECT_EQ(once.traces, (std::vector<std::string>{"run/trace.0.json", "run/trace.1.json"}));
  EXPECT_EQ(twice.traces, once.traces);
}

TEST(Calibrate, KindsThatDidNotRunKeepTheirCorrection) {
  ParallelPlan plan = tiny_plan();
  plan.cluster.hardware.corrections = {{"forward.all_reduce.tensor", 1.5, 9}, {"forward.mlp", 9.0, 9}};
  plan.cluster.hardware.traces = {"older/trace.0.json"};
  const HardwareProfile calibrated = calibrate(plan.cluster.hardware, {run_of(slowed(plan, {}))});
  EXPECT_EQ(factor(calibrated, "forward.all_reduce.tensor"), 1.5);
  EXPECT_NEAR(factor(calibrated, "forward.mlp"), 1.0, 1e-6);
  EXPECT_THAT(calibrated.traces, ::testing::ElementsAre("older/trace.0.json", "run/trace.0.json"));
}

TEST(Calibrate, SeveralRunsGoTogether) {
  const ParallelPlan solo = tiny_plan(), pair = tiny_plan({.data = 2});
  const HardwareProfile calibrated =
      calibrate(solo.cluster.hardware, {run_of(slowed(solo, {{"forward.mlp", 2.0, 0}}), "a"),
                                        run_of(slowed(pair, {{"gradients.all_reduce.data", 3.0, 0}, {"forward.mlp", 2.0, 0}}), "b")});
  EXPECT_NEAR(factor(calibrated, "forward.mlp"), 2.0, 1e-6);
  EXPECT_NEAR(factor(calibrated, "gradients.all_reduce.data"), 3.0, 1e-6);
  EXPECT_THAT(calibrated.traces, ::testing::ElementsAre("a/trace.0.json", "b/trace.0.json", "b/trace.1.json"));
}

TEST(Calibrate, TracesOfAnotherPlanAreRefused) {
  const ParallelPlan plan = tiny_plan();
  CalibrationRun run = run_of(plan);
  run.traces[0].steps[1].spans[0].key.layer = LayerIndex(99);
  EXPECT_THROW(calibrate(plan.cluster.hardware, {run}), InputError);
  run = run_of(plan);
  run.traces[0].rank = Rank(1);
  EXPECT_THROW(calibrate(plan.cluster.hardware, {run}), InputError);
  run.traces.clear();
  EXPECT_THROW(calibrate(plan.cluster.hardware, {run}), InputError);
}

}  // namespace
}  // namespace sim
