#include "gui/views/box_view.h"

#include <gmock/gmock.h>

#include <QSignalSpy>
#include <QTest>

#include "gui/core/ramp.h"
#include "gui/views/theme.h"
#include "tests/gui/views/pictures.h"

namespace gui {
namespace {

class Boxes : public testing::Test {
 protected:
  Boxes() {
    view_.resize(400, 200);
    view_.setPicture({[](const QRectF& area) {
                        const QRectF left(area.left(), area.top(), 50, 50);
                        return std::vector<Box>{{.area = left, .share = 1, .text = "a", .rank = 0},
                                                {.area = left.translated(100, 0), .share = 0.5, .rank = 1}};
                      },
                      "title", "0", "1"});
  }
  BoxView view_;
};

TEST_F(Boxes, AreColoredByTheirShare) { EXPECT_GT(test::pixelsOf(view_.grab().toImage(), colorOf(rampColor(0.5))), 2000); }

TEST_F(Boxes, AreChosenByMouseAndKeysAndOpened) {
  QSignalSpy chosen(&view_, &BoxView::rankChosen), opened(&view_, &BoxView::rankOpened);
  QTest::mouseClick(&view_, Qt::LeftButton, {}, view_.centerOf(1).toPoint());
  EXPECT_EQ(view_.chosen(), 1);
  QTest::keyClick(&view_, Qt::Key_Left);
  EXPECT_EQ(view_.chosen(), 0);
  QTest::keyClick(&view_, Qt::Key_Return);
  ASSERT_EQ(opened.count(), 1);
  EXPECT_EQ(opened[0][0].toInt(), 0);
  EXPECT_EQ(chosen.count(), 2);
}

}  // namespace
}  // namespace gui
