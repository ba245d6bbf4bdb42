#include "gui/pages/scroll_dock.h"

#include <gmock/gmock.h>

#include <QLabel>
#include <QMainWindow>
#include <QScrollBar>
#include <QTest>

namespace gui {
namespace {

TEST(ScrollDock, TheFooterStaysInSightWhereTheContentScrolls) {
  QMainWindow window;
  auto* content = new QWidget;
  content->setMinimumSize(100, 2000);
  auto* footer = new QLabel("Plan");
  auto* dock = new ScrollDock("Question", content, footer, &window);
  window.addDockWidget(Qt::LeftDockWidgetArea, dock);
  window.resize(600, 400);
  window.show();
  QTest::qWait(20);
  EXPECT_EQ(footer->visibleRegion().boundingRect(), footer->rect());
  EXPECT_LT(content->visibleRegion().boundingRect().height(), 400);
  EXPECT_GE(dock->width(), 256);
}

}  // namespace
}  // namespace gui
