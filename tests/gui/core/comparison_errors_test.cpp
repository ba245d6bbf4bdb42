#include "gui/core/comparison_errors.h"

#include <gmock/gmock.h>

#include <numeric>
#include <set>

#include "tests/cli/simulated_run.h"

namespace gui {
namespace {

std::vector<ComparedSide> slowedSides() {
  return sidesOf(loadRun(cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_errors", {.factor = 2})));
}

TEST(ComparisonErrors, ByStepStageKindAndCollective) {
  const std::vector<ComparedSide> sides = slowedSides();
  const std::vector<ErrorGroup> groups = errorGroups({sides[0], sides[1]});
  std::set<ErrorGroup::Of> of;
  for (const ErrorGroup& group : groups) of.insert(group.of);
  EXPECT_EQ(of.size(), 4u);
  EXPECT_EQ(groups.front().of, ErrorGroup::Of::Step);
}

// Held against itself nothing is off; the other way round the same sums are made, without the run's own statistics.
TEST(ComparisonErrors, TheSlowedTasksAreOffByTheirFactorEitherWay) {
  const std::vector<ComparedSide> sides = slowedSides();
  for (const ErrorGroup& group : errorGroups({sides[1], sides[1]})) EXPECT_EQ(group.row.error(), 0) << group.row.name;
  for (const ErrorGroup& group : errorGroups({sides[1], sides[0]}))
    EXPECT_NEAR(group.row.error(), group.row.name == "forward.mlp" ? 1.0 : group.row.error(), 0.01);
}

TEST(ComparisonErrors, TheHistogramHoldsAllPairsAndTheirTime) {
  const std::vector<ComparedSide> sides = slowedSides();
  const ComparedSteps steps{sides[0], sides[1]};
  const std::vector<RatioBin> bins = ratioHistogram(steps);
  const auto pairs =
      std::accumulate(bins.begin(), bins.end(), std::int64_t(0), [](std::int64_t sum, const RatioBin& bin) { return sum + bin.pairs; });
  EXPECT_EQ(pairs, static_cast<std::int64_t>(steps.pairing.pairs.size()));
  EXPECT_GT(bins[static_cast<std::size_t>(binOfRatio(2.01))].time + bins[static_cast<std::size_t>(binOfRatio(1.99))].time, sim::SimTime(0));
  EXPECT_EQ(binOfRatio(0), 0);
  EXPECT_EQ(binOfRatio(100), static_cast<int>(bins.size()) - 1);
}

}  // namespace
}  // namespace gui
