#include "gui/core/compared_steps.h"

#include <gmock/gmock.h>

#include "tests/cli/simulated_run.h"

namespace gui {
namespace {

ComparedSteps comparedRun(double factor, const std::string& name) {
  const std::vector<ComparedSide> sides =
      sidesOf(loadRun(cli::test::write_simulated_run(cli::test::simulated_plan(), name, {.factor = factor})));
  return {sides[0], sides[1]};
}

TEST(ComparedSteps, EveryTaskHasItsPartnerAndTheSlowOnesAreColored) {
  const ComparedSteps steps = comparedRun(3, "gui_steps");
  EXPECT_TRUE(steps.pairing.only_left.empty());
  EXPECT_TRUE(steps.pairing.only_right.empty());
  ASSERT_NE(steps.wholeRun(), nullptr);
  const SharedCore core = differences(steps);
  for (const SliceRow& row : core->rows())
    for (std::size_t at = 0; at < row.size(); ++at) {
      const bool slowed = steps.right.timeline().spans[row.spanOf(at)].key.phase == sim::Phase::Forward && row.stream == "compute";
      EXPECT_EQ(row.slices->kind[at] == WorkKind::MoreThanDouble, slowed);
    }
}

TEST(ComparedSteps, OverlaidRowsStandInTurnsAndKeepEverySlice) {
  const ComparedSteps steps = comparedRun(1.5, "gui_overlaid");
  const SharedCore core = overlaid(steps);
  EXPECT_EQ(core->numSlices(), steps.left.core()->numSlices() + steps.right.core()->numSlices());
  EXPECT_EQ(core->rows()[0].stream.front(), 'A');
  EXPECT_EQ(core->rows()[1].stream.front(), 'B');
  const auto first_right = static_cast<std::uint32_t>(steps.left.timeline().spans.size());
  EXPECT_TRUE(core->find(0).has_value());
  EXPECT_TRUE(core->find(first_right).has_value());
}

TEST(ComparedSteps, TheLagIsHowMuchLaterATaskEnds) {
  const ComparedSteps steps = comparedRun(2, "gui_lag");
  const std::vector<CounterRow> found = lags(steps);
  ASSERT_EQ(found.size(), 2u);
  double longest = 0;
  for (const sim::Span& span : steps.left.timeline().spans)
    if (span.key.phase == sim::Phase::Forward) longest = std::max(longest, static_cast<double>((span.end - span.start).count()));
  EXPECT_NEAR(found[0].counter->most, longest, 0.01 * longest);  // the slow-down stretches each forward task where it stands
}

TEST(ComparedSteps, APlanAgainstAnother) {
  sim::ParallelPlan other = cli::test::simulated_plan();
  other.recompute = sim::Recompute::Full;
  const ComparedSteps steps(simulatedSide(simulatePlan(cli::test::simulated_plan())), simulatedSide(simulatePlan(other)));
  EXPECT_EQ(steps.wholeRun(), nullptr);
  EXPECT_FALSE(steps.pairing.pairs.empty());
  EXPECT_FALSE(steps.pairing.only_right.empty());  // what is recomputed
}

}  // namespace
}  // namespace gui
