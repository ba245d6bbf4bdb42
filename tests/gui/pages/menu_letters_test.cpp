#include "gui/pages/menu_letters.h"

#include <gmock/gmock.h>

#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QMenuBar>
#include <QPushButton>

namespace gui {
namespace {

TEST(MenuLetters, NoFieldOrButtonTakesTheLetterOfAMenu) {
  QMainWindow window;
  window.menuBar()->addMenu("&File");
  auto* all = new QWidget(&window);
  window.setCentralWidget(all);
  auto* taken = new QPushButton("Run &folder", all);
  auto* chinese = new QPushButton("文件夹(&F)", all);
  auto* free = new QPushButton("&Start", all);
  auto* label = new QLabel("&File", all);
  label->setBuddy(new QLineEdit(all));
  keepLettersForMenus(window);
  EXPECT_EQ(taken->text(), "Run folder");
  EXPECT_EQ(chinese->text(), "文件夹");
  EXPECT_EQ(free->text(), "&Start");
  EXPECT_EQ(label->text(), "File");
}

}  // namespace
}  // namespace gui
