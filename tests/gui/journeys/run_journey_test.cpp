#include "gui/pages/run_page.h"
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
  ASSERT_TRUE(QTest::qWaitFor([&] { return page->loss()->numPoints() == 8 && !page->process()->isAlive(); }, 60000));
  EXPECT_TRUE(window_.message()->isHidden());
  picture("run");
}

}  // namespace
}  // namespace gui::test
