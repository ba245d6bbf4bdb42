#include "gui/pages/command_palette.h"

#include <gmock/gmock.h>

#include <QAction>
#include <QLineEdit>
#include <QListWidget>
#include <QTest>

namespace gui {
namespace {

TEST(CommandPalette, FindsByWordsAndDoesIt) {
  QWidget window;
  window.resize(800, 600);
  QAction open("&Open a model"), save("&Save the plan"), off("Not now");
  off.setEnabled(false);
  int saved = 0;
  QObject::connect(&save, &QAction::triggered, [&] { ++saved; });
  const QList<QAction*> actions{&open, &save, &off};
  CommandPalette palette(actions, &window);
  window.show();
  palette.open();
  EXPECT_EQ(palette.list()->count(), 2);
  QTest::keyClick(palette.line(), Qt::Key_Down);
  EXPECT_EQ(palette.list()->currentRow(), 1);
  palette.line()->setText("plan save");
  ASSERT_EQ(palette.list()->count(), 1);
  QTest::keyClick(palette.line(), Qt::Key_Return);
  EXPECT_EQ(saved, 1);
  EXPECT_TRUE(palette.isHidden());
  palette.open();
  QTest::keyClick(palette.line(), Qt::Key_Escape);
  EXPECT_TRUE(palette.isHidden());
}

}  // namespace
}  // namespace gui
