#include "gui/step_explanation.h"

#include <gmock/gmock.h>

#include <QSignalSpy>

#include "gui/table_panel.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(StepExplanation, ALinkLeadsToItsSpan) {
  StepExplanation explanation;
  const SharedPlan plan = test::exampleSimulation();
  explanation.setPlan(plan);
  QSignalSpy chosen(&explanation, &StepExplanation::spanChosen);
  explanation.links()->choose(2);
  ASSERT_EQ(chosen.count(), 1);
  EXPECT_EQ(chosen[0][0].toInt(), static_cast<int>(plan->critical.links[2].span));
  EXPECT_EQ(explanation.bubble()->table().rows.size(), 3u);
}

}  // namespace
}  // namespace gui
