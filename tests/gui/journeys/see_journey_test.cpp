#include <QComboBox>
#include <QLineEdit>

#include "gui/pages/step_explanation.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/timeline_page.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

using SeeJourney = Journey;

TEST_F(SeeJourney, ZoomSelectSearchAndEveryRank) {
  planGpt2();
  choosePipelined(4);
  trigger("Ctrl+2");
  TimelineView* view = window_.timelinePage()->view();
  trigger("Ctrl+L");
  QTest::qWait(10);
  picture("timeline_flows");
  trigger("Ctrl+L");
  picture("timeline");
  for (int times = 0; times < 6; ++times) key(view, Qt::Key_W);
  EXPECT_LT(view->shown().length(), view->core().range().length());
  const RowIndex first{0};
  const auto slice = view->core().at(first, 400, {view->shown(), {1000}});
  ASSERT_TRUE(slice.has_value());
  view->select(slice);
  EXPECT_EQ(window_.timelinePage()->details()->table().rows.size(), 11u);
  window_.timelinePage()->searchLine()->setText("backward");
  waitForAll();
  EXPECT_GT(window_.timelinePage()->numMatches(), 10);
  QTest::qWait(10);
  picture("timeline_zoomed");
  window_.timelinePage()->searchLine()->clear();
  trigger("Ctrl+R");
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.session()->plan()->shown().devices.devices().size() == 16; }, 20000));
  trigger("Ctrl+D");
  QTest::qWait(10);
  picture("timeline_dark");
  trigger("Ctrl+D");
}

TEST_F(SeeJourney, RanksGroupedPinnedAndNotedAreKeptAsAFile) {
  planGpt2();
  choosePipelined(4);
  trigger("Ctrl+2");
  trigger("Ctrl+R");
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.session()->plan()->shown().devices.devices().size() == 16; }, 20000));
  TimelinePage* page = window_.timelinePage();
  TimelineView* view = page->view();
  page->grouping()->setCurrentIndex(static_cast<int>(GroupBy::Data));
  page->showRank(sim::Rank(9));
  key(view, Qt::Key_P);
  EXPECT_EQ(view->deviceOrder().front(), 9u);
  key(view, Qt::Key_M);
  QLineEdit* words = view->findChild<QLineEdit*>();
  QTest::keyClicks(words, "slow here");
  QTest::keyClick(words, Qt::Key_Return);
  ASSERT_EQ(view->marks().size(), 1u);
  QTest::qWait(10);
  picture("timeline_marked");
  key(view, Qt::Key_W);
  const QTemporaryDir folder;
  window_.saveShownView(folder.filePath("view.json"));
  const ViewState saved = page->viewState();
  page->setViewState({});
  EXPECT_TRUE(view->marks().empty());
  window_.open(folder.filePath("view.json"));
  EXPECT_EQ(page->viewState(), saved);
  trigger("Ctrl+R");
}

TEST_F(SeeJourney, TheCriticalPathAndTheBubbleByCause) {
  planGpt2();
  choosePipelined(4);
  trigger("Ctrl+2");
  StepExplanation* why = window_.timelinePage()->explanation();
  waitForAll();
  EXPECT_EQ(why->bubble()->table().rows.size(), 1 + window_.session()->plan()->graph.devices().size());
  picture("bubble");
  why->setCurrentIndex(1);
  trigger("Ctrl+K");
  why->links()->choose(3);
  const auto selected = window_.timelinePage()->view()->selected();
  ASSERT_TRUE(selected.has_value());
  const std::uint32_t span = window_.timelinePage()->view()->core().row(selected->row).spanOf(selected->position);
  EXPECT_EQ(window_.session()->plan()->critical.links[3].span, span);
  picture("critical_path");
}

}  // namespace
}  // namespace gui::test
