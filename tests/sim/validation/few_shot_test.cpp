#include "sim/validation/few_shot.h"

#include <gtest/gtest.h>

#include "sim/calibration/step_plane.h"
#include "tests/sim/calibration/made_plans.h"

namespace sim {
namespace {

// Runs that take 1.3 times as long as predicted.
MeasuredRuns made_runs() {
  MeasuredRuns made{{}, {}};
  made.profiles.parts.emplace("a100-80gb-sxm", load_device("a100-80gb-sxm"));
  made.profiles.stacks.emplace("megatron-core", load_software_catalog().named("megatron-core"));
  for (const std::int64_t micro_batch : {1, 2, 4, 8}) {
    DescribedRow row = describe(patched(valid_row(), {{"plan", {{"micro_batch", micro_batch}}}}));
    const double time =
        PlannedStep(row.plan).time(made.profiles.stacks.begin()->second, made.profiles.parts.begin()->second.kernels).count();
    RowTarget target{
        .source = "slow", .sweep = {}, .time = 1.3 * time, .memory_gib = {}, .memory_kind = {}, .out_of_memory = {}, .headline = true};
    made.runs.push_back({"r" + std::to_string(micro_batch), std::move(row), std::move(target)});
  }
  return made;
}

TEST(FewShot, OneRowOfASourceBringsItsOthersNearer) {
  const MeasuredRuns made = made_runs();
  const ValidationRows rows = few_shot(made, {.given = 1, .draws = 5});
  EXPECT_EQ(rows.predictions.size(), 15u);
  for (std::size_t at = 0; at < rows.predictions.size(); ++at) {
    const double ratio = rows.predictions[at].estimate.time.count() / *rows.targets[at].time;
    EXPECT_GT(ratio, 0.85);  // 0.77 before
    EXPECT_LT(ratio, 1.05);
    EXPECT_LT(rows.predictions[at].estimate.low, rows.predictions[at].estimate.high);
  }
}

TEST(FewShot, TheSameSeedDrawsTheSame) {
  const MeasuredRuns made = made_runs();
  const ValidationRows one = few_shot(made, {.given = 1, .draws = 3}), same = few_shot(made, {.given = 1, .draws = 3});
  for (std::size_t at = 0; at < one.predictions.size(); ++at) {
    EXPECT_EQ(one.predictions[at].id, same.predictions[at].id);
    EXPECT_EQ(one.predictions[at].estimate.time, same.predictions[at].estimate.time);
  }
}

TEST(FewShot, SourcesWithTooFewRowsAreLeftOut) { EXPECT_TRUE(few_shot(made_runs(), {.given = 2}).predictions.empty()); }

}  // namespace
}  // namespace sim
