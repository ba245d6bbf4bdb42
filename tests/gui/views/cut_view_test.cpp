#include "gui/views/cut_view.h"

#include <gmock/gmock.h>

#include <QTest>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

class Cut : public testing::Test {
 protected:
  Cut() {
    view_.resize(400, 30);
    plan_.model.layers = 8;
    plan_.cut = sim::even_cut(8, plan_.pipeline_shape());
    view_.setPlan(plan_);
    QObject::connect(&view_, &CutView::boundaryMoved, [this](const Boundary& boundary) { moved_.push_back(boundary); });
  }
  sim::ParallelPlan plan_ = test::examplePlan();
  CutView view_;
  std::vector<Boundary> moved_;
};

TEST_F(Cut, ABoundaryIsDragged) {
  const QPoint at(static_cast<int>(view_.xOf(plan_.cut.first[1])), 15), to(static_cast<int>(view_.xOf(sim::LayerIndex(3))), 15);
  QTest::mousePress(&view_, Qt::LeftButton, {}, at);
  QTest::mouseMove(&view_, to);
  QTest::mouseRelease(&view_, Qt::LeftButton, {}, to);
  ASSERT_EQ(moved_.size(), 1u);
  EXPECT_EQ(moved_[0].part, 1u);
  EXPECT_EQ(moved_[0].first, sim::LayerIndex(3));
}

TEST_F(Cut, AClickBesideItMovesNothing) {
  QTest::mouseClick(&view_, Qt::LeftButton, {}, {20, 15});
  EXPECT_TRUE(moved_.empty());
}

TEST_F(Cut, KeysChooseAndMove) {
  QTest::keyClick(&view_, Qt::Key_Down);
  QTest::keyClick(&view_, Qt::Key_Right);
  ASSERT_EQ(moved_.size(), 1u);
  EXPECT_EQ(moved_[0].first.value(), plan_.cut.first[1].value() + 1);
}

}  // namespace
}  // namespace gui
