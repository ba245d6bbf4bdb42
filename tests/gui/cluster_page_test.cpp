#include "gui/cluster_page.h"

#include <gmock/gmock.h>

#include <QComboBox>
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

}  // namespace
}  // namespace gui
