// The bubble of a pipeline in closed form, against a recurrence that knows only what a pipeline is. Integers: exact.
#include <gtest/gtest.h>

#include "sim/schedule/schedule.h"
#include "tests/sim/schedule/pipeline_run.h"

namespace sim {
namespace {

using testing::Costs;
using testing::many_shapes;
using testing::PipelineRun;

constexpr Costs kCostPairs[] = {{1, 1}, {1, 2}, {3, 5}, {1000, 2001}};

// (m + p - 1)(t_f + t_b), hence a bubble of (p - 1) / (m + p - 1).
TEST(Bubble, OfGpipeAndOneFOneB) {
  for (const char* name : {"gpipe", "1f1b"})
    for (const PipelineShape shape : many_shapes())
      for (const Costs costs : kCostPairs) {
        if (shape.chunks > 1) continue;
        const PipelineRun run(*find_schedule(name), shape, costs);
        const std::int64_t both = costs.forward + costs.backward;
        ASSERT_EQ(run.duration(), (shape.microbatches + shape.stages - 1) * both) << name;
        const std::int64_t idle = run.duration() - shape.microbatches * both;
        ASSERT_EQ(idle * (shape.microbatches + shape.stages - 1), (shape.stages - 1) * run.duration()) << name;
      }
}

// (vm + p - 1)(t_f + t_b) with the costs of one chunk, where the microbatches divide by the stages.
TEST(Bubble, OfInterleavedIsDividedByTheChunks) {
  int shapes = 0;
  for (const PipelineShape shape : many_shapes())
    for (const Costs costs : kCostPairs) {
      const Schedule& interleaved = *find_schedule("interleaved");
      if (interleaved.why_unsupported(shape) || shape.microbatches % shape.stages != 0) continue;
      ++shapes;
      ASSERT_EQ(PipelineRun(interleaved, shape, costs).duration(),
                (std::int64_t{shape.chunks} * shape.microbatches + shape.stages - 1) * (costs.forward + costs.backward))
          << "p=" << shape.stages << " m=" << shape.microbatches << " v=" << shape.chunks;
    }
  EXPECT_GT(shapes, 50);
}

// (v max(m, p) + min(m, p) - 1)(t_f + t_b): with fewer microbatches than stages a chunk waits for its own output.
TEST(Bubble, OfLoopedBfs) {
  int shapes = 0;
  for (const PipelineShape shape : many_shapes())
    for (const Costs costs : kCostPairs) {
      const Schedule& looped = *find_schedule("looped-bfs");
      if (looped.why_unsupported(shape)) continue;
      ++shapes;
      const std::int64_t longer = std::max(shape.microbatches, shape.stages), shorter = std::min(shape.microbatches, shape.stages);
      ASSERT_EQ(PipelineRun(looped, shape, costs).duration(), (shape.chunks * longer + shorter - 1) * (costs.forward + costs.backward))
          << "p=" << shape.stages << " m=" << shape.microbatches << " v=" << shape.chunks;
    }
  EXPECT_GT(shapes, 50);
}

// mn pieces that take equally long pass as mn microbatches do, also where backwards of a sample run the other way: (p - 1) / (mn + p - 1).
TEST(Bubble, OfSlicesIsThatOfAsManyMicrobatches) {
  for (const char* name : {"gpipe", "1f1b"})
    for (const PipelineShape shape : testing::sliced_shapes())
      for (const Costs costs : kCostPairs) {
        if (shape.chunks > 1) continue;
        const PipelineRun run(*find_schedule(name), shape, costs);
        const std::int64_t pieces = std::int64_t{shape.microbatches} * shape.slices, both = costs.forward + costs.backward;
        ASSERT_TRUE(run.completed());
        ASSERT_EQ(run.duration(), (pieces + shape.stages - 1) * both) << name << " n=" << shape.slices << " m=" << shape.microbatches;
        ASSERT_EQ((run.duration() - pieces * both) * (pieces + shape.stages - 1), (shape.stages - 1) * run.duration());
      }
}

}  // namespace
}  // namespace sim
