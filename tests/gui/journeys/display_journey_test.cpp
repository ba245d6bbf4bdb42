#include <QComboBox>
#include <QMimeData>

#include "gui/pages/command_palette.h"
#include "gui/pages/timeline_page.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

using DisplayJourney = Journey;

// With a window manager the window is activated, and a shortcut goes through Qt's own map, as a person's does.
TEST_F(DisplayJourney, ShortcutsReachAnActiveWindow) {
  if (!qEnvironmentVariableIsSet("MESHWRIGHT_HAS_WINDOW_MANAGER")) GTEST_SKIP() << "nobody activates windows here";
  window_.activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  QTest::keyClick(&window_, Qt::Key_3, Qt::ControlModifier);
  EXPECT_EQ(window_.pages()->currentIndex(), 2);
  QTest::keyClick(&window_, Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_TRUE(QTest::qWaitFor([this] { return window_.commands()->isVisible(); }));
  window_.commands()->close();
}

// Sent as events: a nested loop of drag and drop would hang without a hand on the mouse.
TEST_F(DisplayJourney, AConfigIsDropped) {
  const QString model = QFileInfo("profiles/models/gpt2.json").absoluteFilePath();
  QMimeData files;
  files.setUrls({QUrl::fromLocalFile(model)});
  QDragEnterEvent enter(QPoint(400, 300), Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window_, &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent drop(QPointF(400, 300), Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window_, &drop);
  EXPECT_EQ(QString::fromStdString(window_.question()->question().model), model);
}

}  // namespace
}  // namespace gui::test
