#include <QMenu>
#include <QPushButton>

#include "gui/pages/compare_page.h"
#include "gui/pages/run_page.h"
#include "gui/pages/start_panel.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

// Somebody who has read nothing: every step is a button that stands in front, from an example to a compared run.
class FirstTimeJourney : public Journey {
 protected:
  void SetUp() override {
    if (!QFileInfo::exists(QCoreApplication::applicationDirPath() + "/meshwright-worker"))
      GTEST_SKIP() << "meshwright-worker is not built: nothing can be measured or run";
    QStandardPaths::setTestModeEnabled(true);
  }
  void click(QWidget* on, const QString& text) {
    for (QPushButton* button : on->findChildren<QPushButton*>())
      if (button->text().remove('&') == text) {
        ASSERT_TRUE(QTest::qWaitFor([&] { return button->isEnabled(); }, 60000)) << text.toStdString();
        return QTest::mouseClick(button, Qt::LeftButton);
      }
    FAIL() << "no button " << text.toStdString();
  }
  template <class Condition>
  void wait(Condition condition) {
    ASSERT_TRUE(QTest::qWaitFor([&] { return condition() || window_.message()->isVisible(); }, 120000));
    ASSERT_FALSE(window_.message()->isVisible()) << window_.message()->text().toStdString();
  }
  QTemporaryDir folder_;
};

TEST_F(FirstTimeJourney, FromAnExampleToAComparedRun) {
  picture("first_1_start");
  StartPanel* start = window_.planPage()->start();
  for (QAction* example : start->findChild<QMenu*>()->actions())
    if (example->text() == "tiny-gpt2") example->trigger();
  click(start, "Measure this machine");
  wait([this] { return window_.question()->question().program == kWorker; });
  picture("first_2_measured");
  click(start, "Find the best plans");
  wait([this] { return !window_.planPage()->candidates().empty(); });
  waitForPlan();
  picture("first_3_planned");
  click(window_.planPage(), "Run the chosen plan…");
  EXPECT_EQ(window_.pages()->currentWidget(), window_.runPage());
  RunPage* run = window_.runPage();
  picture("first_4_run");
  run->setRequest({.data = {}, .folder = folder_.filePath("run"), .steps = 6});
  click(run, "Take an example");
  wait([&] { return !run->request().data.isEmpty(); });
  click(run, "Start");
  wait([&] { return !run->process()->isAlive() && !run->process()->steps().empty(); });
  picture("first_5_ended");
  click(run, "Compare with the simulation");
  wait([this] { return window_.comparePage()->comparison() != nullptr; });
  ASSERT_NE(window_.session()->run(), nullptr);
  EXPECT_EQ(window_.pages()->currentWidget(), window_.comparePage());
  EXPECT_LT(std::abs(window_.session()->run()->comparison.memory_simulated / window_.session()->run()->comparison.memory_measured - 1),
            0.1);
  picture("first_6_compared");
}

}  // namespace
}  // namespace gui::test
