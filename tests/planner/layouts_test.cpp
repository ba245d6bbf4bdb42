#include "planner/layouts.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "tests/planner/layout_questions.h"

namespace planner {
namespace {

TEST(Layouts, TheFastestOfAllThatFit) {
  LayoutRequest request = expert_question();
  request.top = 100000;
  const LayoutResult all = rank_layouts(request);
  EXPECT_EQ(all.ranked.size() + all.over_memory, all.candidates);
  for (std::size_t at = 1; at < all.ranked.size(); ++at) EXPECT_LE(all.ranked[at - 1].step.time, all.ranked[at].step.time);
  for (const EstimatedLayout& layout : all.ranked) {
    EXPECT_LE(layout.memory.total_gib, layout.memory.available_gib);
    EXPECT_GT(layout.mfu, 0);
    EXPECT_LT(layout.mfu, 0.9);
    EXPECT_LT(layout.step.low, layout.step.time);
  }
  request.top = 3;
  EXPECT_EQ(rank_layouts(request).ranked.size(), 3u);
  EXPECT_EQ(rank_layouts(request).ranked.front().step.time, all.ranked.front().step.time);
}

TEST(Layouts, OneThreadSaysWhatTwoSay) {
  const LayoutResult two = rank_layouts(expert_question());
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  const LayoutResult one = rank_layouts(expert_question());
  ASSERT_EQ(one.ranked.size(), two.ranked.size());
  for (std::size_t at = 0; at < one.ranked.size(); ++at) EXPECT_EQ(one.ranked[at].step.time, two.ranked[at].step.time);
}

TEST(Layouts, RecomputesOnlyWhereItMust) {
  LayoutRequest request = expert_question();
  EXPECT_EQ(rank_layouts(request).ranked.front().run.execution.recompute, sim::RecomputeKind::None);
  request.cluster.hardware.memory = sim::Bytes(std::int64_t{1} << 30);
  const LayoutResult none = rank_layouts(request);
  EXPECT_TRUE(none.ranked.empty());
  ASSERT_TRUE(none.smallest);
  EXPECT_GT(none.smallest->memory.total_gib, none.smallest->memory.available_gib);
}

}  // namespace
}  // namespace planner
