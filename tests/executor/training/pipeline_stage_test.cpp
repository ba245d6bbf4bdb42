#include "executor/training/pipeline_stage.h"

#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

// The table of the stage and the graph's compute tasks: each runnable plan's tasks have a function.
TEST(PipelineStage, UnknownTasksAreRefused) {
  Training training(tiny_plan());
  PipelineStage stage(training.model, training.plan, sim::Rank(0), training.parameters);
  EXPECT_THROW(stage.perform({.layer = sim::LayerIndex(1), .phase = sim::Phase::Forward, .operation = sim::Operation::Update}),
               std::logic_error);
}

TEST(PipelineStage, ForwardLeavesOneLossAToken) {
  Training training(tiny_plan());
  training.step(0);
  PipelineStage stage(training.model, training.plan, sim::Rank(0), training.parameters);
  stage.begin_step(load_batch(TokenFile(training.folder.file("tokens.bin"), 6), training.plan, sim::Rank(0), 0));
  for (const sim::Task& task : training.runner.slice())
    if (task.key.phase == sim::Phase::Forward) stage.perform(task.key);
  ASSERT_EQ(stage.losses().size(), 4U) << "microbatches";
  EXPECT_EQ(stage.losses().front().numel(), 6) << "tokens";
}

}  // namespace
}  // namespace executor
