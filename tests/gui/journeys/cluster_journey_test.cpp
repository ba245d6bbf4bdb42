#include "gui/pages/cluster_page.h"
#include "gui/pages/timeline_page.h"
#include "gui/views/box_view.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

using ClusterJourney = Journey;

TEST_F(ClusterJourney, ARankLeadsToItsTimeline) {
  planGpt2();
  choosePipelined(4);
  trigger("Ctrl+4");
  QTest::qWait(0);
  BoxView* machines = window_.clusterPage()->machines();
  QTest::mouseClick(machines, Qt::LeftButton, {}, machines->centerOf(9).toPoint());
  EXPECT_EQ(window_.clusterPage()->mesh()->chosen(), 9);
  picture("cluster");
  QTest::keyClick(machines, Qt::Key_Return);
  EXPECT_EQ(window_.pages()->currentWidget(), window_.timelinePage());
  const auto selected = window_.timelinePage()->view()->selected();
  ASSERT_TRUE(selected.has_value());
  EXPECT_EQ(window_.timelinePage()->view()->core().row(selected->row).device.substr(0, 7), "stage 2");
}

}  // namespace
}  // namespace gui::test
