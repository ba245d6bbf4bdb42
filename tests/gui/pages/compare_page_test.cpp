#include "gui/pages/compare_page.h"

#include <gmock/gmock.h>

#include <QLabel>
#include <QPushButton>
#include <QTest>

#include "gui/pages/table_panel.h"
#include "gui/views/histogram_view.h"
#include "gui/views/timeline_view.h"
#include "tests/cli/simulated_run.h"

namespace gui {
namespace {

class Compare : public testing::Test {
 protected:
  Compare() {
    page_.resize(1000, 800);
    page_.setRun(loadRun(cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_page", {.factor = 1.5})));
    EXPECT_TRUE(QTest::qWaitFor([this] { return page_.comparison() != nullptr; }));
  }
  ComparePage page_;
};

TEST_F(Compare, AllPicturesShareTheAxis) {
  for (TimelineView* view : {page_.left(), page_.overlay(), page_.difference()}) EXPECT_EQ(view->shown(), page_.right()->shown());
  page_.right()->setShown({sim::SimTime(5), sim::SimTime(5'000'000)});
  for (TimelineView* view : {page_.left(), page_.overlay(), page_.difference()}) EXPECT_EQ(view->shown(), page_.right()->shown());
}

TEST_F(Compare, ASelectedTaskHasItsPartnerInEveryPicture) {
  page_.left()->select(Slice{{1}, 1});
  for (TimelineView* view : {page_.right(), page_.overlay(), page_.difference()}) EXPECT_TRUE(view->selected().has_value());
  page_.overlay()->select(Slice{{3}, 1});
  EXPECT_TRUE(page_.left()->selected().has_value());
}

// Forward tasks were slowed by a half.
TEST_F(Compare, ASelectedTaskSaysWhatWasExpectedAndWhatWasMeasured) {
  const std::vector<sim::Span>& spans = page_.comparison()->left.timeline().spans;
  const auto forward = std::find_if(spans.begin(), spans.end(), [](const sim::Span& span) {
    return span.key.phase == sim::Phase::Forward && span.key.operation == sim::Operation::Mlp;
  });
  ASSERT_NE(forward, spans.end());
  page_.left()->select(page_.left()->core().find(static_cast<std::uint32_t>(forward - spans.begin())));
  EXPECT_TRUE(page_.chosen()->text().contains("MLP fwd")) << page_.chosen()->text().toStdString();
  EXPECT_TRUE(page_.chosen()->text().contains("+50.0 %")) << page_.chosen()->text().toStdString();
}

TEST_F(Compare, ErrorsAreListedAndTheGapIsExplained) {
  EXPECT_GT(page_.errors()->table().rows.size(), 5u);
  EXPECT_EQ(page_.gap()->table().rows.size(), 2 + sim::kNumIdleCauses);
  EXPECT_TRUE(page_.unmatched()->table().rows.empty());
  page_.largest()->choose(0);
  EXPECT_TRUE(page_.difference()->selected().has_value());
}

TEST_F(Compare, AnyTwoSidesAndTheWindowsPlan) {
  sim::ParallelPlan recomputed = cli::test::simulated_plan();
  recomputed.recompute = sim::Recompute::Full;
  page_.setPlan(simulatePlan(recomputed));
  const SharedComparison before = page_.comparison();
  page_.compare({0, 2});
  ASSERT_TRUE(QTest::qWaitFor([&] { return page_.comparison() != before; }));
  EXPECT_EQ(page_.comparison()->left.plan->plan.recompute, sim::Recompute::Full);
  EXPECT_FALSE(page_.unmatched()->table().rows.empty());
  EXPECT_TRUE(page_.calibrateButton()->isEnabled());
}

}  // namespace
}  // namespace gui
