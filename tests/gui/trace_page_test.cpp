#include "gui/trace_page.h"

#include <gmock/gmock.h>

#include <QLabel>
#include <QLineEdit>
#include <QTest>

#include "gui/table_panel.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/import/traces.h"
#include "tests/sim/timeline/timelines.h"

namespace gui {
namespace {

class Traces : public testing::Test {
 protected:
  Traces() { page_.resize(1000, 700); }
  void show(const std::string& content) {
    sim::testing::put(folder_.file("a.json"), content);
    LoadProgress progress;
    page_.setTrace(importTrace({folder_.file("a.json")}, progress));
    ASSERT_TRUE(QTest::qWaitFor([this] { return !page_.statistics()->table().rows.empty(); }, 5000));
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

TEST_F(Traces, WhatWasLeftOutIsSaid) {
  const std::string whole = test::smallTrace();
  show(whole.substr(0, whole.rfind("{\"ph\": \"E\"")));
  EXPECT_TRUE(page_.summary()->text().contains("ends in the middle")) << page_.summary()->text().toStdString();
  EXPECT_TRUE(page_.summary()->text().contains("1 malformed"));  // the B that never ends
}

}  // namespace
}  // namespace gui
