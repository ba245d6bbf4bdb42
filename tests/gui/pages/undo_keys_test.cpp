#include "gui/pages/undo_keys.h"

#include <gmock/gmock.h>

#include <QTest>

namespace gui {
namespace {

TEST(UndoKeys, ReachTheWindowFromANumberBoxUnlessItIsBeingTyped) {
  QMainWindow window;
  auto* fields = new QWidget(&window);
  auto* number = new QSpinBox(fields);
  number->setKeyboardTracking(false);
  number->setRange(1, 4096);
  window.setCentralWidget(fields);
  UndoKeys keys(fields);
  int undone = 0;
  QAction undo;
  undo.setShortcut(QKeySequence::Undo);
  QObject::connect(&undo, &QAction::triggered, [&] { ++undone; });
  window.addAction(&undo);
  window.show();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
  number->setFocus();
  QTest::keyClick(number, Qt::Key_Up);
  EXPECT_EQ(number->value(), 2);
  QTest::keyClick(number, Qt::Key_Z, Qt::ControlModifier);
  EXPECT_EQ(undone, 1);
  number->selectAll();
  QTest::keyClick(number, Qt::Key_7);
  QTest::keyClick(number, Qt::Key_Z, Qt::ControlModifier);
  EXPECT_EQ(undone, 1) << "what is typed is the box's to take back";
}

}  // namespace
}  // namespace gui
