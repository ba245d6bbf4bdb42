#include "gui/pages/run_page.h"

#include <gmock/gmock.h>

#include <QTest>

#include "gui/pages/table_panel.h"
#include "gui/views/line_view.h"
#include "tests/gui/example_plans.h"
#include "tests/sim/timeline/timelines.h"

namespace gui {
namespace {

TEST(RunPage, NeedsAPlanAndDataToStart) {
  RunPage page;
  QPushButton* start = page.startButton();
  EXPECT_FALSE(start->isEnabled());
  page.setPlan(test::examplePlan());
  EXPECT_FALSE(start->isEnabled());
  page.setData("tokens.bin");
  EXPECT_TRUE(start->isEnabled());
}

TEST(RunPage, FollowsAFolder) {
  const QTemporaryDir folder;
  QFile file(folder.filePath("metrics.ndjson"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"loss\": 1}\n");
  file.close();
  RunPage page;
  page.follow(folder.path());
  EXPECT_EQ(page.loss()->numPoints(), 2u);
  EXPECT_EQ(page.request().folder, folder.path());
}

TEST(RunPage, TheScriptOfAnotherLauncherStandsBelow) {
  const QTemporaryDir folder;
  QFile program(folder.filePath("meshwright"));
  ASSERT_TRUE(program.open(QIODevice::WriteOnly));
  program.write("#!/bin/sh\nfor last; do :; done\necho \"the script of $last\"\n");
  program.close();
  program.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
  RunPage page;
  page.scripting()->setProgram(program.fileName());
  page.setRequest({.data = "t.bin", .folder = folder.filePath("run"), .steps = 7});
  EXPECT_FALSE(page.launcher()->isEnabled());
  page.setPlan(test::runnablePlan());
  page.launcher()->setCurrentText("srun");
  Q_EMIT page.launcher()->activated(page.launcher()->currentIndex());
  EXPECT_TRUE(QTest::qWaitFor([&] { return page.words().contains("the script of srun"); }, 60000)) << page.words().toStdString();
}

// A second start takes the next folder: the run before is not lost, and nobody has to name one.
TEST(RunPage, StartsInAFolderThatIsFree) {
  const QTemporaryDir folder;
  RunPage page;
  page.setPlan(test::examplePlan());  // of GPUs: it is refused before anything starts
  const auto startedIn = [&](const QString& wanted) {
    page.setRequest({.data = "t.bin", .folder = wanted, .steps = 1});
    page.start();
    return page.request().folder;
  };
  const QString first = folder.filePath("run");
  EXPECT_EQ(startedIn(first), first);
  for (const char* taken : {"run", "run-2"}) {
    QDir(folder.path()).mkdir(taken);
    QFile plan(folder.filePath(taken) + "/plan.json");
    ASSERT_TRUE(plan.open(QIODevice::WriteOnly));
  }
  EXPECT_EQ(startedIn(first), folder.filePath("run-3"));
  EXPECT_EQ(startedIn(folder.filePath("run-2")), folder.filePath("run-3"));
}

TEST(RunPage, MoreRanksThanThisMachineRunsAreForTheScript) {
  RunPage page;
  page.setMachine({.cores = 2, .gpus = 0});
  sim::ParallelPlan plan = test::examplePlan();
  page.setPlan(plan);
  page.setData("tokens.bin");
  EXPECT_TRUE(page.startButton()->isEnabled());
  EXPECT_TRUE(page.scriptButton()->isHidden());
  plan.mesh.data = 32;
  page.setPlan(plan);
  EXPECT_FALSE(page.startButton()->isEnabled());
  EXPECT_FALSE(page.scriptButton()->isHidden());
  page.setMachine({.cores = 2, .gpus = 64});
  EXPECT_TRUE(page.startButton()->isEnabled());
}

TEST(RunPage, TheHistoryOfRunsSurvives) {
  const sim::testing::TemporaryFolder folder;
  const QString history = QString::fromStdString(folder.file("runs.json"));
  std::filesystem::create_directory(folder.file("run"));
  sim::save_plan(test::examplePlan(), folder.file("run") + "/plan.json");
  sim::testing::put(folder.file("run") + "/metrics.ndjson", "{\"step\": 7, \"loss\": 2.5, \"tokens_per_second\": 80}\n");
  {
    RunPage page;
    page.keepHistory(history);
    EXPECT_TRUE(page.history()->table().rows.empty());
    page.follow(QString::fromStdString(folder.file("run")));
    ASSERT_TRUE(QTest::qWaitFor([&] { return page.history()->table().rows.size() == 1; }, 60000));
  }
  std::filesystem::remove_all(folder.file("run"));
  RunPage later;
  later.keepHistory(history);
  ASSERT_EQ(later.history()->table().rows.size(), 1u);
  EXPECT_EQ(later.history()->table().rows[0][2].text, "7");
  EXPECT_EQ(later.history()->table().rows[0][3].text, "2.500");
}

TEST(RunPage, HoldsItsRequest) {
  RunPage page;
  page.setRequest({.data = "t.bin", .folder = "/tmp/x", .steps = 7});
  EXPECT_EQ(page.request().data, "t.bin");
  EXPECT_EQ(page.request().steps, 7);
}

}  // namespace
}  // namespace gui
