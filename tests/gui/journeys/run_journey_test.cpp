#include "gui/run_page.h"
#include "gui/views/line_view.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

using RunJourney = Journey;

// A stand-in for `meshwright run`: writes what a run writes, step by step.
QString standIn(const QTemporaryDir& folder) {
  QFile file(folder.filePath("meshwright"));
  EXPECT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(
      "#!/bin/sh\nfor last; do :; done\nmkdir -p \"$last\"\necho \"training in $last\"\nfor step in 1 2 3 4 5 6 7 8; do\n"
      "  echo \"{\\\"step\\\": $step, \\\"loss\\\": $((600 - step * 20))e-2, \\\"tokens_per_second\\\": $((9000 + step * 10))}\" >> "
      "\"$last/metrics.ndjson\"\n"
      "  sleep 0.05\ndone\necho \"Run folder: $last\"\n");
  file.close();
  file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
  return file.fileName();
}

TEST_F(RunJourney, StartsFollowsAndEnds) {
  const QTemporaryDir folder;
  window_.session()->show(runnablePlan(), Session::Origin::Chosen);
  waitForPlan();
  trigger("Ctrl+6");
  RunPage* page = window_.runPage();
  page->process()->setProgram(standIn(folder));
  page->setRequest({.data = "tokens.bin", .folder = folder.filePath("run"), .steps = 8});
  page->start();
  ASSERT_TRUE(QTest::qWaitFor([&] { return page->loss()->numPoints() == 8 && !page->process()->isAlive(); }, 20000));
  EXPECT_TRUE(window_.message()->isHidden());
  picture("run");
}

// A plan leaves for another program by the menu of the Run page, and comes back by being opened.
TEST_F(RunJourney, LeavesForAnotherProgramAndComesBack) {
  const QTemporaryDir folder;
  planGpt2();
  const sim::ParallelPlan best = window_.planPage()->candidates().front().plan.plan;
  Knobs knobs = knobsOf(best);
  knobs.pipeline = 2;
  knobs.chunks = 1;
  knobs.zero_stage = 1;
  knobs.schedule = "1f1b";
  window_.session()->show(turned(best, knobs), Session::Origin::Chosen);
  waitForPlan();
  trigger("Ctrl+6");
  window_.runPage()->exportButton()->menu()->actions().front()->trigger();
  auto* dialog = window_.findChild<QFileDialog*>();
  ASSERT_NE(dialog, nullptr);
  Q_EMIT dialog->fileSelected(folder.path());
  EXPECT_TRUE(window_.message()->text().contains("pretrain.sh")) << window_.message()->text().toStdString();
  const std::string left = sim::plan_hash(*window_.session()->wanted());
  key(&window_, Qt::Key_Escape);
  dialog->close();
  planGpt2();   // another plan is chosen
  window_.open(folder.filePath("pretrain.sh"));
  waitForPlan();
  EXPECT_EQ(sim::plan_hash(*window_.session()->wanted()), left);
}

}  // namespace
}  // namespace gui::test
