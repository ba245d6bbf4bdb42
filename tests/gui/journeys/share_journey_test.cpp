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
    for (const char* ending : {"png", "svg", "pdf"}) {
      const QString path = folder.filePath(QString("picture%1.%2").arg(window_.pages()->currentIndex()).arg(ending));
      window_.exportPicture(path);
      EXPECT_GT(QFileInfo(path).size(), 1000) << path.toStdString();
    }
    window_.exportTable(folder.filePath("table.csv"));
    EXPECT_GT(QFileInfo(folder.filePath("table.csv")).size(), 50);
  }
  window_.exportTrace(folder.filePath("trace.json"));
  EXPECT_GT(QFileInfo(folder.filePath("trace.json")).size(), 1000);
  window_.saveShownPlan(folder.filePath("plan.json"));
  EXPECT_EQ(sim::plan_hash(sim::load_plan(folder.filePath("plan.json").toStdString())), sim::plan_hash(window_.session()->plan()->plan));
  EXPECT_TRUE(window_.message()->isHidden());
  keep(QImage(folder.filePath("picture1.png")), "share");
}

TEST_F(ShareJourney, AFolderThatIsNotThereIsSaid) {
  planGpt2();
  window_.exportPicture("/no/such/folder/picture.png");
  EXPECT_TRUE(window_.message()->text().contains("cannot be written"));
}

}  // namespace
}  // namespace gui::test
