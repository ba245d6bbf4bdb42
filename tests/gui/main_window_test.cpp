#include "gui/main_window.h"

#include <gmock/gmock.h>

#include <QTest>

#include "gui/pages/message_bar.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/step_explanation.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/timeline_page.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(MainWindow, OpensWhateverItIs) {
  MainWindow window;
  window.open("profiles/models/gpt2.json");
  window.open("profiles/hardware/a100-80gb-sxm.json");
  EXPECT_EQ(window.question()->question().model, "profiles/models/gpt2.json");
  EXPECT_EQ(window.question()->question().cluster, "profiles/hardware/a100-80gb-sxm.json");
  EXPECT_TRUE(window.message()->isHidden());
  const QTemporaryDir folder;
  sim::save_plan(test::examplePlan(), folder.filePath("p").toStdString());
  window.open(folder.filePath("p"));
  EXPECT_TRUE(QTest::qWaitFor([&] { return window.session()->plan() != nullptr; }));
}

TEST(MainWindow, TakesADrop) {
  MainWindow window;
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(QFileInfo("profiles/models/gpt2.json").absoluteFilePath())});
  QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window, &enter);
  QDropEvent drop(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window, &drop);
  EXPECT_THAT(window.question()->question().model, testing::HasSubstr("gpt2.json"));
}

TEST(MainWindow, SaysWhatIsMissingBeforeItSaves) {
  MainWindow window;
  window.exports()->plan("/tmp/never");
  EXPECT_TRUE(window.message()->text().contains("no plan"));
  window.exports()->timeline("/tmp/never");
  EXPECT_TRUE(window.message()->text().contains("no timeline"));
  window.exports()->memory("/tmp/never");
  EXPECT_TRUE(window.message()->text().contains("no memory"));
}

TEST(MainWindow, DarkIsKeptForTheNextStart) {
  {
    MainWindow window;
    window.restoreLast();
    window.findChild<QAction*>("dark")->setChecked(true);
    EXPECT_LT(QApplication::palette().color(QPalette::Base).lightness(), 80);
  }
  MainWindow later;
  later.restoreLast();
  EXPECT_TRUE(later.findChild<QAction*>("dark")->isChecked());
  later.findChild<QAction*>("contrast")->setChecked(true);
  EXPECT_FALSE(later.findChild<QAction*>("dark")->isChecked());
  EXPECT_EQ(QApplication::palette().color(QPalette::Base), QColor(Qt::black));
  later.findChild<QAction*>("contrast")->setChecked(false);
  EXPECT_GT(QApplication::palette().color(QPalette::Base).lightness(), 200);
}

}  // namespace
}  // namespace gui
