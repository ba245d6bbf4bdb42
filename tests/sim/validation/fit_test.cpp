#include <gmock/gmock.h>

#include <cmath>

#include "sim/calibration/step_plane.h"
#include "sim/validation/fit.h"
#include "tests/sim/validation/rows.h"

namespace sim {
namespace {

constexpr const char* kStack = "megatron-core";

double predicted(const ParallelPlan& plan, const Device& part, const SoftwareStack& stack) {
  return PlannedStep(plan).time(stack, part.kernels).count();
}

// Runs "measured" by the engine itself, with a stack that reaches less of the products.
MeasuredRuns made_runs(double matrix_share) {
  MeasuredRuns made{{}, {}};
  made.profiles.parts.emplace("a100-80gb-sxm", load_device("a100-80gb-sxm"));
  const SoftwareCatalog catalog = load_software_catalog();
  for (const char* name : {"plain", kStack}) made.profiles.stacks.emplace(name, catalog.named(name));
  SoftwareStack truth = catalog.named(kStack);
  truth.matrix_share = matrix_share;
  for (const std::int64_t micro_batch : {1, 2, 4, 8}) {
    DescribedRow row = describe(patched(valid_row(), {{"plan", {{"micro_batch", micro_batch}}}}));
    const double time = predicted(row.plan, made.profiles.parts.at(row.part), truth);
    made.runs.push_back({"r" + std::to_string(micro_batch),
                         row,
                         {.source = micro_batch < 4 ? "small" : "large",
                          .sweep = {},
                          .time = time,
                          .memory_gib = {},
                          .memory_kind = {},
                          .out_of_memory = {},
                          .headline = true}});
  }
  return made;
}

double mean_error(const MeasuredRuns& measured, const FittedProfiles& profiles) {
  double sum = 0;
  for (const MeasuredRun& run : measured.runs)
    sum += std::abs(std::log(predicted(run.row.plan, profiles.parts.at(run.row.part), profiles.stacks.at(run.stack())) / *run.target.time));
  return sum / static_cast<double>(measured.runs.size());
}

TEST(Fit, FindsWhatTheRunsWereMadeWith) {
  const MeasuredRuns made = made_runs(0.8);
  const FittedProfiles fitted = fit(made.runs, made.profiles);
  EXPECT_GT(mean_error(made, made.profiles), 0.04);
  EXPECT_LT(mean_error(made, fitted), 0.015);
  EXPECT_LT(fitted.stacks.at(kStack).matrix_share * fitted.parts.at("a100-80gb-sxm").kernels.matrix_share,
            0.95 * made.profiles.stacks.at(kStack).matrix_share * made.profiles.parts.at("a100-80gb-sxm").kernels.matrix_share);
  EXPECT_THAT(fitted.sources.at(kStack), testing::UnorderedElementsAre("large", "small"));
  EXPECT_EQ(fitted.stacks.at(kStack).fitted_parts, "a100-80gb-sxm");
}

TEST(Fit, AProgramWithoutRowsTakesThoseOfItsNearestYear) {
  MeasuredRuns made = made_runs(0.8);
  SoftwareStack older = made.profiles.stacks.at(kStack), stranger = older;
  older.name = "older";
  older.from_year -= 2;
  stranger.frameworks = {"another"};
  made.profiles.stacks.emplace("older", older);
  made.profiles.stacks.emplace("stranger", stranger);
  const FittedProfiles fitted = fit(made.runs, made.profiles);
  EXPECT_EQ(fitted.stacks.at("older").matrix_share, fitted.stacks.at(kStack).matrix_share);
  EXPECT_EQ(fitted.stacks.at("older").fitted_parts, "a100-80gb-sxm");
  EXPECT_EQ(fitted.stacks.at("stranger").matrix_share, fitted.stacks.at("plain").matrix_share);
  EXPECT_EQ(fitted.stacks.at("stranger").fitted_parts, "");
}

TEST(Fit, SameRowsSameConstants) {
  const MeasuredRuns made = made_runs(0.9);
  EXPECT_EQ(fit(made.runs, made.profiles).stacks.at(kStack).matrix_share, fit(made.runs, made.profiles).stacks.at(kStack).matrix_share);
}

TEST(Fit, LeavingOutPredictsEverySource) {
  const MeasuredRuns made = made_runs(0.8);
  std::vector<std::int64_t> heard;
  const ValidationRows rows = leave_out_each(made, [&](SourcesLeftOut sources) { heard.push_back(sources.all - sources.done); });
  ASSERT_FALSE(heard.empty());
  EXPECT_EQ(heard.back(), 1);  // the last one is told before its fit
  EXPECT_EQ(rows.predictions.size(), made.runs.size());
  for (std::size_t at = 0; at < rows.predictions.size(); ++at)
    EXPECT_NEAR(rows.predictions[at].estimate.time.count() / *rows.targets[at].time, 1, 0.06);
}

}  // namespace
}  // namespace sim
