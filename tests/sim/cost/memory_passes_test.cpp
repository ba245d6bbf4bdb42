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

Bytes left_by(const Scene& scene, Phase phase) {
  Bytes left{};
  for (const Operation operation : {Operation::Attention, Operation::Mlp}) {
    const MemoryEffect effect = scene.effect(phase, operation);
    left += sum(effect.at_start, MemoryCategory::Activations) + sum(effect.at_end, MemoryCategory::Activations);
  }
  return left;
}

// A block keeps what it has cast of the stream; one that is recomputed keeps the stream as it came. What leaves a block is wide, and what a backward frees is what
// a forward left.
TEST(MemoryPasses, AWideStreamIsCastWhereItIsRead) {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.precision = Precision::Bf16;
  const auto scene = [&](Recompute recompute, bool is_wide) {
    ParallelPlan other = plan;
    other.recompute = recompute;
    if (is_wide) other.workload.precision = plan.workload.precision.with(WideKind::Stream, Precision::Fp32);
    return Scene(other);
  };
  const Scene narrow = scene(Recompute::None, false), wide = scene(Recompute::None, true);
  EXPECT_EQ(wide.memory.stream(), narrow.memory.stream() * std::int64_t{2});
  EXPECT_EQ(left_by(wide, Phase::Forward), left_by(narrow, Phase::Forward));
  EXPECT_EQ(left_by(wide, Phase::Backward), -left_by(wide, Phase::Forward));
  const Scene again = scene(Recompute::Full, false), wide_again = scene(Recompute::Full, true);
  EXPECT_EQ(left_by(wide_again, Phase::Forward), left_by(again, Phase::Forward) * std::int64_t{2});
  EXPECT_EQ(left_by(wide_again, Phase::Forward) + left_by(wide_again, Phase::Recompute) + left_by(wide_again, Phase::Backward), Bytes(0));
}

}  // namespace
}  // namespace sim
