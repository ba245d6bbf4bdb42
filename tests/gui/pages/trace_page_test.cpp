#include "gui/pages/trace_page.h"

#include <gmock/gmock.h>

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QTest>

#include "gui/core/name_colors.h"
#include "gui/pages/table_panel.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/idle.h"
#include "tests/gui/import/traces.h"
#include "tests/sim/timeline/timelines.h"

namespace gui {
namespace {

class Traces : public testing::Test {
 protected:
  Traces() { page_.resize(1000, 700); }
  void show(const std::string& content) {
    sim::testing::put(folder_.file("a.json"), content);
    Progress progress;
    page_.setTrace(importTrace({folder_.file("a.json")}, progress));
    ASSERT_TRUE(QTest::qWaitFor([this] { return !page_.statistics()->table().rows.empty(); }, 60000));
  }
  sim::testing::TemporaryFolder folder_;
  TracePage page_;
};

TEST_F(Traces, AnEventIsShownWithItsArguments) {
  show(test::smallTrace());
  EXPECT_EQ(page_.statistics()->table().rows.size(), 5u);
  page_.view()->select(Slice{{0}, 0});
  EXPECT_EQ(page_.event()->table().rows.size(), 9u);
  page_.searchLine()->setText("nccl|gemm");
  EXPECT_EQ(page_.numMatches(), 2u);
  Q_EMIT page_.searchLine()->returnPressed();
  EXPECT_EQ(page_.view()->selected()->row, RowIndex{3});
}

TEST_F(Traces, ColorsMeanClassesOrNames) {
  show(test::smallTrace());
  ASSERT_TRUE(test::waitUntilIdle(page_));
  const SliceRow& kernels = page_.view()->core().row({3});
  EXPECT_EQ(page_.view()->colorOf(kernels, 0).value, lookOf(kernels.slices->kind[0]).color.value);
  page_.coloring()->setCurrentIndex(1);
  ASSERT_TRUE(test::waitUntilIdle(page_));
  EXPECT_NE(page_.view()->colorOf(kernels, 0).value, kOtherNames.value);
  EXPECT_NE(page_.view()->colorOf(kernels, 0).value, page_.view()->colorOf(kernels, 1).value);  // another name
  page_.coloring()->setCurrentIndex(0);
  ASSERT_TRUE(test::waitUntilIdle(page_));
  EXPECT_EQ(page_.view()->colorOf(kernels, 0).value, lookOf(kernels.slices->kind[0]).color.value);
}

TEST_F(Traces, WhatWasLeftOutIsSaid) {
  const std::string whole = test::smallTrace();
  show(whole.substr(0, whole.rfind("{\"ph\": \"E\"")));
  EXPECT_TRUE(page_.summary()->text().contains("cut off in the middle")) << page_.summary()->text().toStdString();
  EXPECT_TRUE(page_.summary()->text().contains("malformed events left out: 1"));  // the B that never ends
}

TEST_F(Traces, ProcessesArePinnedFilteredAndKept) {
  show(test::smallTrace());
  TimelineView* view = page_.view();
  view->select(Slice{{3}, 0});  // on the GPU
  QTest::keyClick(view, Qt::Key_P);
  EXPECT_THAT(view->deviceOrder(), testing::ElementsAre(1u, 0u));
  view->setMarks({{sim::SimTime(1'000'000), "here"}});
  page_.searchLine()->setText("gemm");
  const ViewState kept = page_.viewState();
  page_.showMatching(true);
  EXPECT_THAT(view->deviceOrder(), testing::ElementsAre(1u));
  page_.showMatching(false);
  page_.setViewState({});
  EXPECT_THAT(view->deviceOrder(), testing::ElementsAre(0u, 1u));
  EXPECT_EQ(page_.numMatches(), 0u);
  page_.setViewState(kept);
  EXPECT_THAT(view->deviceOrder(), testing::ElementsAre(1u, 0u));
  EXPECT_EQ(page_.numMatches(), 1u);
  EXPECT_EQ(view->marks().size(), 1u);
}

TEST_F(Traces, AFlowIsFollowedByKey) {
  show(
      R"({"traceEvents": [{"ph": "X", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10, "dur": 5}, {"ph": "X", "name": "gemm", "pid": 0, "tid": 7, "ts": 30, "dur": 20},
    {"ph": "s", "id": 9, "pid": 1, "tid": 1, "ts": 11, "name": "ac2g"}, {"ph": "f", "id": 9, "pid": 0, "tid": 7, "ts": 30, "name": "ac2g"}]})");
  EXPECT_TRUE(page_.summary()->text().contains("1 flow (")) << page_.summary()->text().toStdString();
  page_.view()->select(Slice{{0}, 0});
  QTest::keyClick(page_.view(), Qt::Key_BracketRight);
  EXPECT_EQ(page_.view()->selected(), (Slice{{1}, 0}));
  QTest::keyClick(page_.view(), Qt::Key_BracketLeft);
  EXPECT_EQ(page_.view()->selected(), (Slice{{0}, 0}));
}

}  // namespace
}  // namespace gui
