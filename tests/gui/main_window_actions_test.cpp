#include <gmock/gmock.h>

#include <QDialog>
#include <QTextEdit>
#include <set>

#include "gui/main_window.h"
#include "gui/pages/command_palette.h"

namespace gui {
namespace {

TEST(MainWindowActions, EveryActionHasAShortcutOfItsOwn) {
  MainWindow window;
  std::set<QString> seen;
  for (const QAction* action : window.actions().all()) {
    EXPECT_FALSE(action->shortcut().isEmpty()) << action->text().toStdString();
    EXPECT_TRUE(seen.insert(action->shortcut().toString()).second) << action->shortcut().toString().toStdString();
  }
  EXPECT_GT(seen.size(), 15u);
}

TEST(MainWindowActions, PagesTurnByKey) {
  MainWindow window;
  for (QAction* action : window.actions().all())
    if (action->shortcut() == QKeySequence("Ctrl+3")) action->trigger();
  EXPECT_EQ(window.pages()->currentIndex(), 2);
}

TEST(MainWindowActions, TheListOfKeysFitsASmallScreen) {
  MainWindow window;
  window.resize(960, 540);
  window.show();
  for (QAction* action : window.actions().all())
    if (action->shortcut() == QKeySequence("?")) action->trigger();
  const auto* keys = window.findChild<QDialog*>();
  ASSERT_NE(keys, nullptr);
  EXPECT_LE(keys->height(), 540);
  EXPECT_TRUE(keys->findChild<QTextEdit*>()->toPlainText().contains("Ctrl+Shift+P"));
}

TEST(MainWindowActions, ThePaletteHoldsThemAll) {
  MainWindow window;
  window.commands()->open();
  int enabled = 0;
  for (const QAction* action : window.actions().all()) enabled += action->isEnabled();
  EXPECT_EQ(window.commands()->list()->count(), enabled);
}

}  // namespace
}  // namespace gui
