#include "gui/pages/appearance.h"

#include <gmock/gmock.h>

#include <QAction>
#include <QApplication>
#include <QMainWindow>
#include <QTableView>

#include "gui/pages/actions.h"
#include "gui/views/theme.h"

namespace gui {
namespace {

TEST(Appearance, OneThemeAtATimeAndTablesFollow) {
  QMainWindow window;
  auto* table = new QTableView(&window);
  Actions actions(&window);
  Appearance appearance(&window);
  appearance.addActions(actions);
  auto* dark = window.findChild<QAction*>("dark");
  auto* contrast = window.findChild<QAction*>("contrast");
  ASSERT_TRUE(dark != nullptr && contrast != nullptr);
  dark->setChecked(true);
  EXPECT_EQ(table->palette().color(QPalette::Base), darkPalette().color(QPalette::Base));
  contrast->setChecked(true);
  EXPECT_FALSE(dark->isChecked());
  EXPECT_EQ(QApplication::palette().color(QPalette::Base), highContrastPalette().color(QPalette::Base));
  contrast->setChecked(false);
  EXPECT_EQ(table->palette().color(QPalette::Base), lightPalette().color(QPalette::Base));
}

}  // namespace
}  // namespace gui
