#include "gui/views/timeline_view.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

class Timeline : public testing::Test {
 protected:
  Timeline() {
    view_.resize(1000, 400);
    view_.setTimeline(std::make_shared<TimelineCore>(simulated_->result.timeline), taskNames(simulated_->result.timeline.spans));
    view_.grab();
  }
  SharedPlan simulated_ = test::exampleSimulation();
  TimelineView view_;
};

TEST_F(Timeline, WhatIsSelectedIsSeen) {
  view_.setShown({view_.core().range().end / 2, view_.core().range().end});
  const Slice first{{0}, 0};
  view_.select(first);
  EXPECT_LE(view_.shown().begin, view_.core().extent(first).begin);
}

TEST_F(Timeline, AGhostBehindTheEndWidensTheWhole) {
  view_.setGhost(view_.core().range().end * 2);
  EXPECT_GT(view_.shown().end, view_.core().range().end * 2);
}

}  // namespace
}  // namespace gui
