#include "gui/pages/step_explanation.h"

#include <gmock/gmock.h>

#include <QSignalSpy>
#include <QTest>

#include "gui/pages/range_panel.h"
#include "gui/pages/table_panel.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/idle.h"

namespace gui {
namespace {

TEST(StepExplanation, ALinkLeadsToItsSpan) {
  StepExplanation explanation;
  const SharedPlan plan = test::exampleSimulation();
  explanation.setPlan(plan);
  ASSERT_TRUE(test::waitUntilIdle(explanation));
  QSignalSpy chosen(&explanation, &StepExplanation::spanChosen);
  explanation.links()->choose(2);
  ASSERT_EQ(chosen.count(), 1);
  EXPECT_EQ(chosen[0][0].toInt(), static_cast<int>(plan->critical.links[2].span));
  EXPECT_EQ(explanation.bubble()->table().rows.size(), 3u);
}

TEST(StepExplanation, ARangeAddsUpByKind) {
  StepExplanation explanation;
  const SharedPlan plan = test::exampleSimulation();
  explanation.setPlan(plan);
  ASSERT_TRUE(QTest::qWaitFor([&] { return explanation.range()->table().rows.size() > 5; }, 60000));
  const std::size_t all = explanation.range()->table().rows.size();
  double sum = 0;
  for (const std::vector<Cell>& row : explanation.range()->table().rows) sum += row[2].sort.toDouble();
  double spans = 0;
  for (const sim::Span& span : plan->result.timeline.spans) spans += static_cast<double>((span.end - span.start).count());
  EXPECT_EQ(sum, spans);
  explanation.addUp({sim::SimTime(0), plan->result.step_time / 50});
  EXPECT_TRUE(QTest::qWaitFor([&] { return explanation.range()->table().rows.size() < all; }, 60000));
  EXPECT_EQ(explanation.currentWidget(), explanation.rangePanel());  // what was asked for stands in front
}

}  // namespace
}  // namespace gui
