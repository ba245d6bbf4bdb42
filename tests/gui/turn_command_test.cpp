#include "gui/turn_command.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(TurnCommand, GoesThereAndBack) {
  Session session;
  sim::ParallelPlan after = test::examplePlan();
  after.microbatch_size = 2;
  QUndoStack stack;
  stack.push(new TurnCommand(session, test::examplePlan(), after));
  EXPECT_EQ(session.wanted()->microbatch_size, 2);
  stack.undo();
  EXPECT_EQ(session.wanted()->microbatch_size, 1);
  stack.redo();
  EXPECT_EQ(session.wanted()->microbatch_size, 2);
}

}  // namespace
}  // namespace gui
