#include "gui/pages/turn_command.h"

#include <gmock/gmock.h>

#include <QUndoStack>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(TurnCommand, GoesThereAndBack) {
  std::int64_t shown = 0;
  const auto show = [&](const sim::ParallelPlan& plan) { shown = plan.microbatch_size; };
  sim::ParallelPlan after = test::examplePlan();
  after.microbatch_size = 2;
  QUndoStack stack;
  stack.push(new TurnCommand("turn", show, test::examplePlan(), after));
  EXPECT_EQ(shown, 2);
  stack.undo();
  EXPECT_EQ(shown, 1);
  stack.redo();
  EXPECT_EQ(shown, 2);
}

}  // namespace
}  // namespace gui
