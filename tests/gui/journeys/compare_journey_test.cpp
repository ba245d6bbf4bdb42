#include <QPushButton>
#include <QTabWidget>

#include "gui/pages/compare_page.h"
#include "gui/pages/table_panel.h"
#include "gui/views/histogram_view.h"
#include "gui/views/timeline_view.h"
#include "tests/cli/simulated_run.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

using CompareJourney = Journey;

// A real run folder, if one is named: for the pictures. Else a simulated one with a planted slowdown.
QString runFolder() {
  const QString real = qEnvironmentVariable("MESHWRIGHT_RUN_FOLDER");
  if (!real.isEmpty()) return real;
  return QString::fromStdString(cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_journey", {.factor = 1.5}));
}

void waitForComparison(ComparePage* page, ComparePage::Places places) {
  const SharedComparison before = page->comparison();
  page->compare(places);
  ASSERT_TRUE(QTest::qWaitFor([&] { return page->comparison() != before; }, 60000));
}

TEST_F(CompareJourney, ARunBesideItsSimulation) {
  window_.open(runFolder());
  ComparePage* page = window_.comparePage();
  ASSERT_TRUE(QTest::qWaitFor([&] { return page->comparison() != nullptr; }, 60000));
  EXPECT_EQ(window_.pages()->currentWidget(), page);
  EXPECT_GT(page->errors()->table().rows.size(), 5u);
  QTest::qWait(10);
  key(page->left(), Qt::Key_W);
  EXPECT_EQ(page->left()->shown(), page->right()->shown());
  key(page->left(), Qt::Key_0);
  page->left()->select(Slice{{0}, 3});
  EXPECT_TRUE(page->right()->selected().has_value());
  picture("compare");
  page->pictures()->setCurrentIndex(1);
  picture("compare_overlaid");
  page->pictures()->setCurrentIndex(2);
  page->lower()->setCurrentIndex(1);
  QTest::qWait(0);
  picture("compare_differences");
}

// One click: the profile is corrected by the run, the simulation stands beside the same run again, and new plans are on the Plan page.
TEST_F(CompareJourney, ARunCalibratesAndIsPlannedAgain) {
  const std::string run = cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_calibrating", {.factor = 1.5});
  window_.open(QString::fromStdString(run));
  ComparePage* page = window_.comparePage();
  ASSERT_TRUE(QTest::qWaitFor([&] { return page->comparison() != nullptr; }, 60000));
  const auto error_of_forward = [&] {
    for (const sim::ErrorRow& kind : page->comparison()->wholeRun()->kinds)
      if (kind.name == "forward.mlp") return kind.error();
    return 1.0;
  };
  EXPECT_LT(error_of_forward(), -0.3);
  QTest::mouseClick(page->calibrateButton(), Qt::LeftButton);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window_.planPage()->candidates().empty(); }, 60000)) << window_.message()->text().toStdString();
  ASSERT_TRUE(QTest::qWaitFor([&] { return page->comparison()->right.run->calibrated; }, 60000));
  EXPECT_NEAR(error_of_forward(), 0, 0.02);
  EXPECT_EQ(window_.question()->question().cluster, run + "/calibrated.json");
  waitForPlan();
  EXPECT_EQ(window_.session()->plan()->plan.mesh.ranks(), 2);
}

TEST_F(CompareJourney, TwoRunsAreHeldAgainstEachOther) {
  ComparePage* page = window_.comparePage();
  for (const double factor : {1.0, 2.0}) {
    const SharedRun before = window_.session()->run();
    const std::string name = "gui_two_" + std::to_string(static_cast<int>(factor));
    window_.open(QString::fromStdString(cli::test::write_simulated_run(cli::test::simulated_plan(), name, {.factor = factor})));
    ASSERT_TRUE(QTest::qWaitFor([&] { return window_.session()->run() != before; }, 60000));
  }
  waitForPlan();                    // of the first run: it is shown, and the first side to choose
  waitForComparison(page, {2, 4});  // what was measured, of either
  EXPECT_TRUE(page->comparison()->left.measured && page->comparison()->right.measured);
  EXPECT_LT(page->errors()->table().rows[1][5].sort.toDouble(), -0.1);  // the stage: the step of both is the simulated one
  EXPECT_TRUE(page->unmatched()->table().rows.empty());
}

TEST_F(CompareJourney, ABundleOpensElsewhere) {
  const QTemporaryDir folder;
  QStandardPaths::setTestModeEnabled(true);
  window_.exports()->bundle(folder.filePath("run.zip"));
  EXPECT_TRUE(window_.message()->text().contains("no run"));
  window_.open(QString::fromStdString(cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_bundle", {.factor = 1.5})));
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.session()->run() != nullptr; }, 60000));
  const SharedRun first = window_.session()->run();
  window_.exports()->bundle(folder.filePath("run.zip"));
  waitForAll();
  window_.open(folder.filePath("run.zip"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_.session()->run() != first; }, 60000)) << window_.message()->text().toStdString();
  EXPECT_EQ(window_.session()->run()->comparison.step.error(), first->comparison.step.error());
}

}  // namespace
}  // namespace gui::test
