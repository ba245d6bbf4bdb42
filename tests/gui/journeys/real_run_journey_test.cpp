#include <csignal>

#include "gui/pages/compare_page.h"
#include "gui/pages/run_page.h"
#include "gui/views/line_view.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

constexpr const char* kFolder = "MESHWRIGHT_TEST_RUN";  // where a window that will be killed runs its plan

// With the real worker, through mpirun: two ranks of a tiny model.
class RealRunJourney : public Journey {
 protected:
  void SetUp() override {
    if (!QFileInfo::exists(QCoreApplication::applicationDirPath() + "/meshwright-worker"))
      GTEST_SKIP() << "meshwright-worker is not built: what the window does with a real run is not tested";
    plan_ = runnablePlan();
    plan_.mesh = {.data = 2, .pipeline = 1, .tensor = 1};
    plan_.cluster.devices = 2;
    plan_.cut = sim::even_cut(plan_.model.layers, plan_.pipeline_shape());
    plan_.training.checkpoint_interval = 5;
    QFile tokens(folder_.filePath("tokens.bin"));
    ASSERT_TRUE(tokens.open(QIODevice::WriteOnly));
    tokens.write(QByteArray(40000, '\0'));
  }
  ~RealRunJourney() override {
    page()->process()->stop();
    EXPECT_TRUE(QTest::qWaitFor([&] { return !page()->process()->isAlive(); }, 60000));
  }
  RunPage* page() { return window_.runPage(); }
  QString runFolder() const { return folder_.filePath("run"); }
  void startIn(const QString& folder) {
    window_.session()->show(plan_, Session::Origin::Chosen);
    waitForPlan();
    trigger("Ctrl+6");
    page()->setRequest({.data = folder + "/tokens.bin", .folder = folder + "/run", .steps = 100000});
    page()->start();
  }
  void waitForStep(std::int64_t step) {
    const auto has_it = [&] { return !page()->process()->steps().empty() && lastStep() >= step; };
    const bool in_time = QTest::qWaitFor([&] { return has_it() || window_.message()->isVisible(); }, 60000);
    ASSERT_TRUE(in_time && has_it()) << page()->process()->words().toStdString();
  }
  std::int64_t lastStep() { return page()->process()->steps().back().step; }
  bool isMessageShown(const char* words) {
    return QTest::qWaitFor([&] { return window_.message()->text().contains(words); }, 60000);
  }
  // Process id of a rank, as its heartbeat has it.
  pid_t processOf(int rank) {
    QProcess report;
    report.start(QCoreApplication::applicationDirPath() + "/meshwright-worker", {"report", "--out", runFolder(), "--ranks", "2"});
    report.waitForFinished();
    const QRegularExpression line(QStringLiteral("rank %1: .*\\(process (\\d+)\\)").arg(rank));
    return line.match(QString::fromUtf8(report.readAllStandardOutput())).captured(1).toInt();
  }

  QTemporaryDir folder_;
  sim::ParallelPlan plan_;
};

TEST_F(RealRunJourney, StartsGrowsStopsResumesAndIsCompared) {
  startIn(folder_.path());
  waitForStep(12);
  ASSERT_TRUE(QTest::qWaitFor([&] { return page()->timeline()->core().rows().size() > 2; }, 60000));  // tasks, by the first checkpoint
  EXPECT_GE(page()->loss()->numPoints(), 12u);
  QTest::qWait(50);
  picture("run");  // in place of the stand-in's
  QTest::mouseClick(page()->stopButton(), Qt::LeftButton);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !page()->process()->isAlive() && page()->resumeButton()->isEnabled(); }, 60000));
  EXPECT_TRUE(window_.message()->isHidden()) << window_.message()->text().toStdString();
  const std::int64_t stopped = lastStep();
  QTest::mouseClick(page()->resumeButton(), Qt::LeftButton);
  waitForStep(stopped + 3);
  EXPECT_EQ(page()->process()->steps()[static_cast<std::size_t>(stopped)].step, stopped + 1);  // goes on where it stopped
  page()->process()->stop();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !page()->process()->isAlive(); }, 60000));
  window_.open(runFolder());
  EXPECT_TRUE(QTest::qWaitFor([&] { return window_.comparePage()->comparison() != nullptr; }, 60000))
      << window_.message()->text().toStdString();
}

TEST_F(RealRunJourney, TheJobScriptForASchedulerIsShown) {
  window_.session()->show(plan_, Session::Origin::Chosen);
  waitForPlan();
  trigger("Ctrl+6");
  page()->setRequest({.data = folder_.filePath("tokens.bin"), .folder = runFolder(), .steps = 5});
  page()->launcher()->setCurrentText("srun");
  Q_EMIT page()->launcher()->activated(page()->launcher()->currentIndex());
  EXPECT_TRUE(QTest::qWaitFor([&] { return page()->words().contains("#SBATCH --ntasks=2"); }, 60000))
      << window_.message()->text().toStdString();
  picture("run_script");
}

TEST_F(RealRunJourney, ACrashedRankIsToldInTheLaunchersWords) {
  startIn(folder_.path());
  waitForStep(6);
  // A checkpoint is written beside the steps that follow it.
  ASSERT_TRUE(QTest::qWaitFor([&] { return QFile::exists(runFolder() + "/checkpoints/step_00000005"); }, 60000));
  const pid_t victim = processOf(1);
  ASSERT_GT(victim, 0);
  ::kill(victim, SIGKILL);
  ASSERT_TRUE(isMessageShown("rank 1 was ended by signal 9")) << page()->process()->words().toStdString();
  EXPECT_TRUE(window_.message()->text().contains("continue from the last checkpoint with --resume"));
  EXPECT_TRUE(QTest::qWaitFor([&] { return page()->resumeButton()->isEnabled(); }, 60000));  // once the folder is read
  picture("run_crashed");
}

// The window of the next test: started by it in a process of its own, which is killed.
TEST_F(RealRunJourney, DISABLED_AWindowThatWillBeKilled) {
  plan_.training.checkpoint_interval = 0;
  startIn(qEnvironmentVariable(kFolder));
  QTest::qWait(600000);
}

TEST_F(RealRunJourney, AKilledWindowLeavesTheRunAndALaterOneFindsIt) {
  QProcess killed;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert(kFolder, folder_.path());
  killed.setProcessEnvironment(environment);
  killed.start(QCoreApplication::applicationFilePath(),
               {"--gtest_filter=*DISABLED_AWindowThatWillBeKilled", "--gtest_also_run_disabled_tests"});
  page()->process()->follow(runFolder());
  waitForStep(2);
  killed.kill();
  ASSERT_TRUE(killed.waitForFinished());
  window_.open(runFolder());
  EXPECT_EQ(window_.pages()->currentWidget(), page());
  EXPECT_TRUE(page()->process()->isAlive());
  waitForStep(lastStep() + 2);
}

}  // namespace
}  // namespace gui::test
