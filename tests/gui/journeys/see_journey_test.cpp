#include <QComboBox>
#include <QLineEdit>
#include <QScrollBar>
#include <ctime>

#include "gui/pages/step_explanation.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/timeline_page.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

class SeeJourney : public Journey {
 protected:
  // GPT-3 on 1,024 GPUs, every rank by itself.
  void showAThousandRanks() {
    sim::ParallelPlan plan;
    plan.model = sim::load_model_config("profiles/models/gpt3-175b.json");
    plan.cluster = sim::load_cluster("dgx-h100-1024", sim::DeviceCount{1024});
    plan.workload = {.sequence = 2048, .global_batch = 512, .precision = sim::Precision::Bf16, .optimizer = sim::OptimizerKind::AdamW};
    plan.mesh = {.data = 8, .pipeline = 16, .tensor = 8};
    plan.zero_stage = 1;
    plan.recompute = sim::Recompute::Full;
    plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
    window_.session()->show(plan, Session::Origin::Chosen);
    waitForPlan();
    trigger("Ctrl+2");
    trigger("Ctrl+R");
    ASSERT_TRUE(QTest::qWaitFor([this] { return window_.session()->plan()->shown().devices.devices().size() == 1024; }, 60000));
  }
  static double processorMilliseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
  }
};

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
  EXPECT_GT(window_.timelinePage()->details()->table().rows.size(), 12u) << "bytes or operations, and their rate";
  window_.timelinePage()->searchLine()->setText("backward");
  waitForAll();
  EXPECT_GT(window_.timelinePage()->numMatches(), 10);
  QTest::qWait(10);
  picture("timeline_zoomed");
  window_.timelinePage()->searchLine()->clear();
  trigger("Ctrl+R");
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.session()->plan()->shown().devices.devices().size() == 16; }, 60000));
  trigger("Ctrl+D");
  QTest::qWait(10);
  picture("timeline_dark");
  trigger("Ctrl+D");
}

// Stages and ranks are two sights of one plan: what was looked at stays. A line a rank shows all of them on a small screen.
TEST_F(SeeJourney, SwitchingToRanksKeepsZoomSelectionAndNotes) {
  window_.resize(1366, 768);
  planGpt2();
  choosePipelined(4);
  trigger("Ctrl+2");
  TimelineView* view = window_.timelinePage()->view();
  for (int times = 0; times < 4; ++times) key(view, Qt::Key_W);
  key(view, Qt::Key_Period);
  ASSERT_TRUE(view->selected());
  view->setMarks({{view->shown().begin, "here"}});
  const TimeRange shown = view->shown();
  const QString selected = view->current().section(',', 0, 0);
  trigger("Ctrl+R");
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.session()->plan()->shown().devices.devices().size() == 16; }, 60000));
  EXPECT_EQ(view->shown(), shown);
  EXPECT_EQ(view->current().section(',', 0, 0), selected);
  EXPECT_EQ(view->marks().size(), 1u);
  trigger("Ctrl+R");
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.session()->plan()->shown().devices.devices().size() == 4; }, 60000));
  EXPECT_EQ(view->shown(), shown);
  EXPECT_EQ(view->current().section(',', 0, 0), selected);
}

TEST_F(SeeJourney, ALineARankShowsAllAtOnce) {
  window_.resize(1366, 768);
  planGpt2();
  choosePipelined(4);
  trigger("Ctrl+2");
  trigger("Ctrl+R");
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.session()->plan()->shown().devices.devices().size() == 16; }, 60000));
  TimelineView* view = window_.timelinePage()->view();
  trigger("Ctrl+Shift+R");
  ASSERT_TRUE(view->isDense());
  EXPECT_GE(view->rowHeight(), 4);
  EXPECT_LE(view->rowHeight(), 8);
  const QScrollBar* scroll = view->findChild<QScrollBar*>();
  EXPECT_EQ(scroll->maximum(), 0) << "16 ranks need no scrolling";
  key(view, Qt::Key_0);
  key(view, Qt::Key_Period);
  const QString first = view->current();
  for (int times = 0; times < 3; ++times) key(view, Qt::Key_Down);
  EXPECT_NE(view->current(), first);
  EXPECT_FALSE(view->tipAt(view->centerOf(*view->selected())).isEmpty());
  picture("timeline_dense");
  trigger("Ctrl+D");
  picture("timeline_dense_dark");
  trigger("Ctrl+D");
  trigger("Ctrl+Shift+R");
}

// More ranks than lines: each group is one line, which opens by key; a vector picture holds the same.
TEST_F(SeeJourney, AThousandRanksAreReadAtAGlance) {
  window_.resize(1366, 768);
  showAThousandRanks();
  TimelineView* view = window_.timelinePage()->view();
  EXPECT_FALSE(view->isAllInSight());
  trigger("Ctrl+Shift+R");
  EXPECT_TRUE(view->isAllInSight());
  ASSERT_EQ(view->lineNames().size(), 16);
  EXPECT_EQ(view->lineNames()[3], QStringLiteral("stage 3 \u00d764"));
  EXPECT_GE(view->rowHeight(), 8) << "sixteen lines have more room than a thousand";
  picture("timeline_groups");
  key(view, Qt::Key_0);
  key(view, Qt::Key_Period);
  key(view, Qt::Key_Down);
  ASSERT_TRUE(view->selected());
  const auto ranks = static_cast<int>(view->lineNames().size());
  key(view, Qt::Key_C);  // the group of what is selected
  EXPECT_EQ(view->lineNames().size(), ranks - 1 + 64);
  picture("timeline_group_open");
  key(view, Qt::Key_C);
  EXPECT_EQ(view->lineNames().size(), ranks);
  window_.timelinePage()->grouping()->setCurrentIndex(static_cast<int>(GroupBy::Data));
  EXPECT_EQ(view->lineNames().size(), 8);
  const QTemporaryDir folder;
  window_.exports()->picture(folder.filePath("groups.svg"));
  EXPECT_GT(QFileInfo(folder.filePath("groups.svg")).size(), 2000);
  trigger("Ctrl+G");
  EXPECT_EQ(view->lineNames().size(), 1024) << "each rank by itself";
  EXPECT_GE(view->rowHeight(), 4);
  trigger("Ctrl+R");
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.session()->plan()->shown().devices.devices().size() == 16; }, 60000));
  EXPECT_EQ(view->lineNames().size(), 16) << "stages, each by itself";
  trigger("Ctrl+R");
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.session()->plan()->shown().devices.devices().size() == 1024; }, 60000));
  EXPECT_TRUE(view->isAllInSight()) << "whichever comes first: the ranks or the lines";
  trigger("Ctrl+Shift+R");
  trigger("Ctrl+R");
}

// Processor time of a picture: of a line a rank, and of a line a group, in and out.
TEST_F(SeeJourney, AFrameOfAThousandRanksTakesNoLongerThanAScreenShowsIt) {
  window_.resize(1920, 1080);
  showAThousandRanks();
  TimelineView* view = window_.timelinePage()->view();
  trigger("Ctrl+Shift+R");
  for (const int lines : {16, 1024}) {
    if (view->lineNames().size() != lines) trigger("Ctrl+G");
    ASSERT_EQ(view->lineNames().size(), lines);
    std::vector<double> frames;
    for (int frame = 0; frame < 60; ++frame) {
      key(view, frame % 20 < 10 ? Qt::Key_W : Qt::Key_S);
      const double before = processorMilliseconds();
      view->repaint();
      frames.push_back(processorMilliseconds() - before);
    }
    std::sort(frames.begin(), frames.end());
    EXPECT_LE(frames[58], 16) << lines << " lines, the slowest but one of 60";
  }
  trigger("Ctrl+Shift+R");
  trigger("Ctrl+R");
}

TEST_F(SeeJourney, RanksGroupedPinnedAndNotedAreKeptAsAFile) {
  planGpt2();
  choosePipelined(4);
  trigger("Ctrl+2");
  trigger("Ctrl+R");
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.session()->plan()->shown().devices.devices().size() == 16; }, 60000));
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
  window_.exports()->view(folder.filePath("view.json"));
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
