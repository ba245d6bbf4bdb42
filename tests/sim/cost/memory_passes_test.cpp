#include <gmock/gmock.h>

#include "sim/cost/activation_memory.h"
#include "sim/cost/memory_effects.h"
#include "tests/sim/cost/memory_scene.h"

namespace sim {
namespace {

using testing::Scene;
using testing::sum;

TEST(MemoryPasses, ABackwardFreesWhatItsForwardKept) {
  const Scene scene(testing::tiny_plan());
  const SegmentMemory mlp = segment_memory(scene.model, scene.plan, scene.model.layer(LayerIndex(1)).segments.back());
  EXPECT_EQ(sum(scene.effect(Phase::Forward, Operation::Mlp).at_start, MemoryCategory::Activations),
            mlp.kept + mlp.statistics + mlp.stream);
  EXPECT_EQ(sum(scene.effect(Phase::Backward, Operation::Mlp).at_end, MemoryCategory::Activations),
            -(mlp.kept + mlp.statistics + mlp.stream));
}

TEST(MemoryPasses, ARecomputedBlockKeepsItsInputOnly) {
  ParallelPlan plan = testing::tiny_plan();
  plan.recompute = Recompute::Full;
  const Scene scene(plan);
  const MemoryEffect attention = scene.effect(Phase::Forward, Operation::Attention);
  const MemoryEffect mlp = scene.effect(Phase::Forward, Operation::Mlp);
  const SegmentMemory one = segment_memory(scene.model, plan, scene.model.layer(LayerIndex(1)).segments.back());
  EXPECT_EQ(sum(attention.at_start, MemoryCategory::Activations) + sum(mlp.at_start, MemoryCategory::Activations) +
                sum(mlp.at_end, MemoryCategory::Activations),
            one.stream);
  EXPECT_EQ(sum(scene.effect(Phase::Recompute, Operation::Mlp).at_start, MemoryCategory::Activations), one.kept + one.statistics);
}

}  // namespace
}  // namespace sim
