#include "sim/timeline/timeline.h"

#include <gtest/gtest.h>

#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

using testing::compute_key;
using testing::span;
using testing::two_stages;
using testing::us;

TEST(Timeline, OrderOfEachStageAsText) { EXPECT_EQ(order_text(two_stages()), "stage 0 | F0 B0\nstage 1 | F0 B0\n"); }

TEST(Timeline, ManyTasksOfAnActionAreOneWord) {
  Timeline timeline;
  timeline.devices = {{.representative = Rank(0), .stage = StageIndex(0)}};
  const auto add = [&](std::int32_t microbatch, Phase phase, Operation operation) {
    const SimTime start = us(static_cast<std::int64_t>(timeline.spans.size()));
    timeline.spans.push_back(span(0, compute_key(StageIndex(0), microbatch, phase, operation), start, start + us(1)));
  };
  for (const std::int32_t m : {0, 1}) {
    add(m, Phase::Forward, Operation::Attention);
    add(m, Phase::Forward, Operation::AllReduce);
    add(m, Phase::Forward, Operation::Mlp);
  }
  add(3, Phase::Forward, Operation::Reshard);  // frees weights: no work of microbatch 3
  for (const std::int32_t m : {0, 1}) {
    add(m, Phase::Recompute, Operation::Mlp);
    add(m, Phase::Backward, Operation::Mlp);
    add(m, Phase::Recompute, Operation::Attention);
    add(m, Phase::Backward, Operation::Attention);
  }
  add(0, Phase::Step, Operation::Update);
  EXPECT_EQ(order_text(timeline), "stage 0 | F0 F1 B0 B1\n");
}

TEST(Timeline, TotalAddsEveryCategory) {
  MemoryBreakdown memory{};
  for (std::size_t at = 0; at < kNumMemoryCategories; ++at) memory[at] = Bytes(std::int64_t{1} << at);
  EXPECT_EQ(total(memory), Bytes(127));
}

}  // namespace
}  // namespace sim
