#include "sim/cost/planned_blocks.h"

#include <gtest/gtest.h>

#include "tests/sim/timeline/steps.h"

namespace sim {
namespace {

MemoryBreakdown alive_at(const RankMemory& rank, SimTime time) {
  MemoryBreakdown sums{};
  for (const MemoryBlock& block : rank.blocks)
    if (block.taken <= time && time < block.freed) sums[static_cast<std::size_t>(block.category)] += block.size;
  return sums;
}

// The engine's memory tracker is the other account of the same changes.
TEST(PlannedBlocks, AddUpToEverySampleOfEveryCategory) {
  testing::PlanGenerator generator(31);
  int checked = 0;
  for (int i = 0; i < 16; ++i) {
    const ParallelPlan plan = generator.next(i % 2 == 0 ? DeviceKind::Gpu : DeviceKind::Cpu);
    SCOPED_TRACE(testing::describe(plan));
    const testing::Step step = testing::simulated_step(plan, Fold::Symmetric);
    const ModelGraph model = make_model_graph(plan);
    const std::vector<RankMemory> ranks = planned_blocks({model, plan, step.graph, step.timeline, step.dependencies});
    ASSERT_EQ(ranks.size(), step.graph.devices().size());
    const std::size_t stride = step.timeline.memory.size() / 60 + 1;
    for (std::size_t at = 0; at < step.timeline.memory.size(); at += stride) {
      const MemorySample& sample = step.timeline.memory[at];
      ASSERT_EQ(alive_at(ranks[sample.device.position()], sample.time), sample.alive) << sample.time.count();
      ++checked;
    }
  }
  EXPECT_GT(checked, 200);
}

// What a layer keeps from forward to backward is gone when the backward of that layer and microbatch has run.
TEST(PlannedBlocks, ALayersActivationsEndWithItsBackward) {
  testing::PlanGenerator generator(31);
  int checked = 0;
  for (int i = 0; i < 16; ++i) {
    const ParallelPlan plan = generator.next(DeviceKind::Gpu);
    SCOPED_TRACE(testing::describe(plan));
    const testing::Step step = testing::simulated_step(plan, Fold::Symmetric);
    const ModelGraph model = make_model_graph(plan);
    std::map<std::tuple<DeviceId, MicrobatchIndex, LayerIndex>, SimTime> last;
    for (const Span& span : step.timeline.spans) {
      SimTime& end = last[{span.device, span.key.microbatch, span.key.layer}];
      end = std::max(end, span.end);
    }
    const std::vector<RankMemory> ranks = planned_blocks({model, plan, step.graph, step.timeline, step.dependencies});
    for (DeviceId device(0); device.position() < ranks.size(); ++device)
      for (const MemoryBlock& block : ranks[device.position()].blocks) {
        if (block.category != MemoryCategory::Activations || !block.owner || block.owner->operation != Operation::Attention ||
            block.owner->phase != Phase::Forward)
          continue;
        EXPECT_LE(block.freed, last.at({device, block.owner->microbatch, block.owner->layer})) << to_text(*block.owner);
        ++checked;
      }
  }
  EXPECT_GT(checked, 100);
}

}  // namespace
}  // namespace sim
