#include "sim/schedule/dual_pipe.h"

#include <gmock/gmock.h>

#include "tests/sim/schedule/pipeline_run.h"

namespace sim {
namespace {

std::vector<StageAction> dual_order(PipelineShape shape, std::int32_t stage) { return kDualPipeVSchedule.order(shape, StageIndex(stage)); }

bool is_pair(const std::vector<StageAction>& order, std::size_t at) {
  return order[at].kind == ActionKind::Backward && order[at + 1].kind == ActionKind::Weight && order[at + 2].kind == ActionKind::Forward;
}

// As PyTorch's ScheduleDualPipeV has it, with which tests/reference/pipeline_order_test.py compares.
TEST(DualPipe, LooksLikeItsPaper) {
  const PipelineShape shape{.stages = 2, .microbatches = 4, .chunks = 2};
  EXPECT_EQ(to_text(dual_order(shape, 0)),
            "F0.0 F1.0 F2.0 F0.1 B0.1 W0.1 F1.1 B1.1 W1.1 F3.0 B0.0 W0.0 F2.1 B2.1 W2.1 B1.0 W1.0 F3.1 B3.1 W3.1 B2.0 W2.0 B3.0 W3.0");
}

// DeepSeek-V3, table 2: parameters twice and activations of p + 1 microbatches where two pipelines run through each other; folded, of 2 p + 1 halves.
TEST(DualPipe, HoldsOneChunkMoreThanOneFOneB) {
  for (const std::int32_t p : {2, 4, 8}) {
    const PipelineShape shape{.stages = p, .microbatches = 4 * p, .chunks = 2};
    for (std::int32_t stage = 0; stage < p; ++stage)
      EXPECT_EQ(peak_in_flight(dual_order(shape, stage)), stage + 1 == p ? 2 * p + 1 : 2 * p);
  }
}

// In the steady state every forward stands behind a backward of the other chunk.
TEST(DualPipe, PairsTheTwoChunks) {
  for (const std::int32_t p : {2, 4}) {
    const std::int32_t m = 6 * p;
    const PipelineShape shape{.stages = p, .microbatches = m, .chunks = 2};
    for (std::int32_t stage = 0; stage < p; ++stage) {
      const std::vector<StageAction> order = dual_order(shape, stage);
      std::int32_t pairs = 0;
      for (std::size_t at = 0; at + 2 < order.size(); ++at)
        if (is_pair(order, at) && order[at].chunk != order[at + 2].chunk) ++pairs;
      EXPECT_GE(pairs, 2 * (m - 2 * p)) << "p=" << p << " stage " << stage;
    }
  }
}

TEST(DualPipe, NeedsAMicrobatchForEachChunk) {
  EXPECT_FALSE(kDualPipeVSchedule.why_unsupported({.stages = 4, .microbatches = 8, .chunks = 2}));
  EXPECT_EQ(*kDualPipeVSchedule.why_unsupported({.stages = 4, .microbatches = 7, .chunks = 2}),
            "needs a microbatch for each of the 8 chunks, not 7; use fewer stages or schedule=zbv");
  EXPECT_EQ(*kDualPipeVSchedule.why_unsupported({.stages = 4, .microbatches = 8, .chunks = 1}),
            "places 2 chunks a stage on at least 2 stages, not 1 on 4; use chunks=2");
}

}  // namespace
}  // namespace sim
