#include "gui/run_page.h"

#include <gmock/gmock.h>

#include "gui/views/line_view.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(RunPage, NeedsAPlanAndDataToStart) {
  RunPage page;
  QPushButton* start = page.findChildren<QPushButton*>().first();
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

TEST(RunPage, HoldsItsRequest) {
  RunPage page;
  page.setRequest({.data = "t.bin", .folder = "/tmp/x", .steps = 7});
  EXPECT_EQ(page.request().data, "t.bin");
  EXPECT_EQ(page.request().steps, 7);
}

}  // namespace
}  // namespace gui
