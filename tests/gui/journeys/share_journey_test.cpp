#include "gui/pages/compare_page.h"
#include "gui/pages/memory_page.h"
#include "sim/units/text_file.h"
#include "tests/cli/simulated_run.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

using ShareJourney = Journey;

TEST_F(ShareJourney, PicturesTablesTraceAndPlan) {
  planGpt2();
  choosePipelined(4);
  const QTemporaryDir folder;
  for (const char* page : {"Ctrl+1", "Ctrl+2", "Ctrl+3"}) {
    trigger(page);
    waitForAll();
    for (const char* ending : {"png", "svg", "pdf"}) {
      const QString path = folder.filePath(QString("picture%1.%2").arg(window_.pages()->currentIndex()).arg(ending));
      window_.exports()->picture(path);
      EXPECT_GT(QFileInfo(path).size(), 1000) << path.toStdString();
    }
    window_.exports()->table(folder.filePath("table.csv"));
    EXPECT_GT(QFileInfo(folder.filePath("table.csv")).size(), 50);
  }
  for (const char* name : {"trace.json", "trace.perfetto-trace"}) {
    window_.exports()->timeline(folder.filePath(name));
    waitForAll();
    EXPECT_GT(QFileInfo(folder.filePath(name)).size(), 1000) << name;
  }
  const QString memory = folder.filePath("memory.pickle");  // and it opens here again, as a measured one would
  window_.exports()->memory(memory);
  waitForAll();
  window_.open(memory);
  EXPECT_TRUE(QTest::qWaitFor([this] { return window_.pages()->currentWidget() == window_.memoryPage(); }, 60000));
  window_.exports()->plan(folder.filePath("plan.json"));
  EXPECT_EQ(sim::plan_hash(sim::load_plan(folder.filePath("plan.json").toStdString())), sim::plan_hash(window_.session()->plan()->plan));
  EXPECT_TRUE(window_.message()->isHidden());
  keep(QImage(folder.filePath("picture1.png")), "share");
}

// What the Compare page holds against each other goes out together.
TEST_F(ShareJourney, BothStepsOfAComparison) {
  window_.open(QString::fromStdString(cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_share")));
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_.comparePage()->comparison() != nullptr; }, 60000));
  const QTemporaryDir folder;
  const QString path = folder.filePath("both.perfetto-trace");
  window_.exports()->timeline(path);
  waitForAll();
  const std::string trace = sim::load_text_file(path.toStdString());
  EXPECT_NE(trace.find(window_.comparePage()->comparison()->left.name), std::string::npos);
  EXPECT_NE(trace.find(window_.comparePage()->comparison()->right.name), std::string::npos);
  EXPECT_TRUE(window_.message()->isHidden());
  window_.exports()->timeline("/no/such/folder/t.json");
  waitForAll();
  EXPECT_TRUE(window_.message()->text().contains("cannot be written"));
}

TEST_F(ShareJourney, AFolderThatIsNotThereIsSaid) {
  planGpt2();
  window_.exports()->picture("/no/such/folder/picture.png");
  EXPECT_TRUE(window_.message()->text().contains("cannot be written"));
}

}  // namespace
}  // namespace gui::test
