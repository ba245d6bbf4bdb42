#include "gui/core/flows.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(Flows, LeadFromSendsToTheirReceives) {
  const SharedPlan simulated = test::exampleSimulation();
  const std::vector<sim::Span>& spans = simulated->result.timeline.spans;
  ASSERT_EQ(simulated->picture.flows.size(), 8u);  // four microbatches, forward and backward
  for (const Flow& flow : simulated->picture.flows) {
    EXPECT_EQ(spans[flow.from].key.operation, sim::Operation::Send);
    EXPECT_EQ(spans[flow.to].key.operation, sim::Operation::Receive);
    EXPECT_NE(spans[flow.from].device, spans[flow.to].device);
    EXPECT_LE(spans[flow.from].start, spans[flow.to].start);
  }
}

}  // namespace
}  // namespace gui
