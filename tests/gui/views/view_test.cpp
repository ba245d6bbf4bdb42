#include "gui/views/view.h"

#include <gmock/gmock.h>

#include <QLoggingCategory>
#include <QPainter>
#include <QTest>

#include "gui/views/theme.h"

namespace gui {
namespace {

class RedView : public View {
 public:
  void paintPicture(QPainter& painter, const QSize& size) override { painter.fillRect(QRect(QPoint(0, 0), size), Qt::red); }
};

TEST(View, TheScreenShowsThePicture) {
  RedView view;
  view.resize(20, 10);
  EXPECT_EQ(view.grab().toImage().pixelColor(19, 9), QColor(Qt::red));
  EXPECT_EQ(view.focusPolicy(), Qt::StrongFocus);
}

TEST(View, WhereTheKeyboardIsARingIsSeen) {
  RedView view;
  view.resize(40, 20);
  view.show();
  view.activateWindow();
  view.setFocus();
  ASSERT_TRUE(QTest::qWaitFor([&] { return view.hasFocus(); }));
  EXPECT_EQ(view.grab().toImage().pixelColor(0, 10), themeOf(view.palette()).accent);
  view.clearFocus();
  EXPECT_EQ(view.grab().toImage().pixelColor(0, 10), QColor(Qt::red));
}

// QT_LOGGING_RULES="meshwright.frames=true", as a person would set it.
TEST(View, HowLongAFrameTookIsShownWhereItIsWanted) {
  RedView view;
  view.resize(200, 100);
  QLoggingCategory::setFilterRules("meshwright.frames=true");
  EXPECT_NE(view.grab().toImage().pixelColor(6, 80), QColor(Qt::red));
  QLoggingCategory::setFilterRules({});
  EXPECT_EQ(view.grab().toImage().pixelColor(6, 80), QColor(Qt::red));
}

}  // namespace
}  // namespace gui
