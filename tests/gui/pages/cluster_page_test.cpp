#include "gui/pages/cluster_page.h"

#include <gmock/gmock.h>

#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>

#include "gui/core/rank_metrics.h"
#include "gui/views/box_view.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(ClusterPage, ChoosesTheSameRankInBothPicturesUnderEveryMetric) {
  ClusterPage page;
  page.resize(900, 600);
  page.setPlan(test::exampleSimulation());
  for (int metric = 0; metric < static_cast<int>(allRankMetrics().size()); ++metric) {
    page.metrics()->setCurrentIndex(metric);
    page.machines()->choose(metric % 4);
    EXPECT_EQ(page.mesh()->chosen(), metric % 4);
    EXPECT_TRUE(page.rank()->text().contains(QStringLiteral("rank %1").arg(metric % 4)));
    page.grab();
  }
}

// A million boxes of less than a pixel would take minutes; what is said instead names the pages that help.
TEST(ClusterPage, SaysThatThereAreTooManyRanksForAMap) {
  sim::ParallelPlan plan = test::examplePlan();
  plan.cluster = sim::load_cluster("a100-80gb-sxm", sim::DeviceCount{1 << 20});
  plan.workload.global_batch = 1 << 20;
  plan.mesh = {.data = 1 << 19, .pipeline = 2, .tensor = 1};
  ClusterPage page;
  page.resize(900, 600);
  page.setPlan(test::exampleSimulation());
  page.grab();
  page.setPlan(simulatePlan(plan));
  QElapsedTimer time;
  time.start();
  page.grab();
  EXPECT_LT(time.elapsed(), 500);
  EXPECT_EQ(page.machines()->centerOf(1), QPointF());
  page.setPlan(test::exampleSimulation());
  EXPECT_NE(page.machines()->centerOf(1), QPointF());
}

}  // namespace
}  // namespace gui
