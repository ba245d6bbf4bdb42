#include "gui/compare_page.h"
#include "gui/table_panel.h"
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

TEST_F(CompareJourney, ARunBesideItsSimulation) {
  window_.open(runFolder());
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.session()->run() != nullptr; }, 30000));
  ComparePage* page = window_.comparePage();
  EXPECT_EQ(window_.pages()->currentWidget(), page);
  EXPECT_GT(page->errors()->table().rows.size(), 5u);
  QTest::qWait(10);
  key(page->simulated(), Qt::Key_W);
  EXPECT_EQ(page->simulated()->shown(), page->measured()->shown());
  key(page->simulated(), Qt::Key_0);
  page->simulated()->select(Slice{{0}, 3});
  EXPECT_TRUE(page->measured()->selected().has_value());
  picture("compare");
}

TEST_F(CompareJourney, ABundleOpensElsewhere) {
  const QTemporaryDir folder;
  QStandardPaths::setTestModeEnabled(true);
  window_.exportBundle(folder.filePath("run.zip"));
  EXPECT_TRUE(window_.message()->text().contains("no run"));
  window_.open(QString::fromStdString(cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_bundle", {.factor = 1.5})));
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.session()->run() != nullptr; }, 30000));
  const SharedRun first = window_.session()->run();
  window_.exportBundle(folder.filePath("run.zip"));
  window_.open(folder.filePath("run.zip"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_.session()->run() != first; }, 30000)) << window_.message()->text().toStdString();
  EXPECT_EQ(window_.session()->run()->comparison.step.error(), first->comparison.step.error());
}

}  // namespace
}  // namespace gui::test
