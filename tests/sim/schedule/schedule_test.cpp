// Properties that every row of the table must have, over many shapes.
#include "sim/schedule/schedule.h"

#include <gmock/gmock.h>

#include <set>
#include <tuple>

#include "tests/sim/schedule/pipeline_run.h"

namespace sim {
namespace {

using testing::many_shapes;
using testing::PipelineRun;

template <class Check>
void for_each_supported(Check check) {
  for (const Schedule& schedule : all_schedules()) {
    int supported = 0;
    std::vector<PipelineShape> shapes = many_shapes();
    for (const PipelineShape shape : testing::sliced_shapes()) shapes.push_back(shape);
    for (const PipelineShape shape : shapes) {
      if (schedule.why_unsupported(shape)) continue;
      ++supported;
      SCOPED_TRACE(std::string(schedule.name) + " p=" + std::to_string(shape.stages) + " m=" + std::to_string(shape.microbatches) +
                   " v=" + std::to_string(shape.chunks) + " n=" + std::to_string(shape.slices));
      check(schedule, shape);
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(supported, 20) << schedule.name;
  }
}

TEST(Schedule, EachMicrobatchForwardBackwardAndWeightExactlyOnce) {
  for_each_supported([](const Schedule& schedule, PipelineShape shape) {
    for (StageIndex s(0); s.value() < shape.stages; ++s) {
      std::set<std::tuple<std::int32_t, std::int32_t, std::int32_t>> forwards, backwards, weights;
      for (const StageAction& action : schedule.order(shape, s)) {
        const std::tuple unit(action.microbatch.value(), action.slice.value(), action.chunk.value());
        ASSERT_TRUE(action.microbatch.exists() && action.microbatch.value() < shape.microbatches);
        ASSERT_EQ(action.slice.exists(), shape.slices > 1);
        ASSERT_LT(action.slice.value(), shape.slices);
        ASSERT_TRUE(action.chunk.exists() && action.chunk.value() < shape.chunks);
        if (action.kind == ActionKind::Forward) {
          ASSERT_TRUE(forwards.insert(unit).second);
        } else if (action.kind == ActionKind::Weight) {
          ASSERT_TRUE(weights.insert(unit).second);
          ASSERT_TRUE(backwards.count(unit));
        } else {
          ASSERT_TRUE(backwards.insert(unit).second);
          ASSERT_TRUE(forwards.count(unit));
        }
      }
      const auto all = static_cast<std::size_t>(shape.microbatches) * static_cast<std::size_t>(shape.chunks * shape.slices);
      ASSERT_EQ(forwards.size(), all);
      ASSERT_EQ(backwards.size(), all);
      ASSERT_EQ(weights.size(), schedule.splits_backward ? all : 0);
    }
  });
}

TEST(Schedule, NeverDeadlocks) {
  for_each_supported([](const Schedule& schedule, PipelineShape shape) { ASSERT_TRUE(PipelineRun(schedule, shape).completed()); });
}

// Weight gradients must add up in the same order under every schedule, or bitwise equality among them is lost: microbatches ascend, slices descend.
TEST(Schedule, BackwardsOfAChunkAscend) {
  for_each_supported([](const Schedule& schedule, PipelineShape shape) {
    for (StageIndex s(0); s.value() < shape.stages; ++s) {
      std::vector<std::int32_t> last(static_cast<std::size_t>(shape.chunks), -1);
      for (const StageAction& action : schedule.order(shape, s)) {
        if (action.kind != (schedule.splits_backward ? ActionKind::Weight : ActionKind::Backward)) continue;
        const std::int32_t slice = action.slice.exists() ? shape.slices - 1 - action.slice.value() : 0;
        ASSERT_EQ(action.microbatch.value() * shape.slices + slice, last[action.chunk.position()] + 1);
        ++last[action.chunk.position()];
      }
    }
  });
}

// Messages of one channel (sender chunk, direction) leave in the order in which they are awaited: ordered transports need no tags.
TEST(Schedule, SendsLeaveInTheOrderOfTheirReceives) {
  for_each_supported([](const Schedule& schedule, PipelineShape shape) {
    const auto messages = [&](std::int32_t virtual_stage, ActionKind kind) {
      std::vector<std::pair<std::int32_t, std::int32_t>> pieces;
      const ChunkSite site = site_of(schedule.placement, shape, virtual_stage);
      for (const StageAction& action : schedule.order(shape, site.stage))
        if (action.kind == kind && action.chunk == site.chunk) pieces.push_back({action.microbatch.value(), action.slice.value()});
      return pieces;
    };
    for (std::int32_t at = 0; at + 1 < shape.stages * shape.chunks; ++at)
      for (const ActionKind kind : {ActionKind::Forward, ActionKind::Backward}) ASSERT_EQ(messages(at, kind), messages(at + 1, kind));
  });
}

// The judge itself must be able to say no: stage 0 wants a backward before it has sent anything.
TEST(Schedule, TheRunSeesADeadlock) {
  const Schedule broken{.name = "broken", .summary = "", .paper = "", .why_unsupported = nullptr, .order = [](PipelineShape, StageIndex) {
                          return std::vector<StageAction>{{ActionKind::Backward, MicrobatchIndex(0), ChunkIndex(0)},
                                                          {ActionKind::Forward, MicrobatchIndex(0), ChunkIndex(0)}};
                        }};
  EXPECT_FALSE(PipelineRun(broken, {.stages = 2, .microbatches = 1, .chunks = 1}).completed());
}

TEST(Schedule, RowsAreNamedAndFound) {
  std::set<std::string_view> names;
  for (const Schedule& schedule : all_schedules()) {
    EXPECT_TRUE(names.insert(schedule.name).second);
    EXPECT_EQ(find_schedule(schedule.name), &schedule);
    EXPECT_FALSE(schedule.summary.empty());
    EXPECT_FALSE(schedule.paper.empty());
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("gpipe", "1f1b", "interleaved", "zb-1p", "zb-2p", "zbv", "v-half", "v-min",
                                                     "looped-bfs", "dualpipev"));
  EXPECT_EQ(find_schedule("zero"), nullptr);
}

TEST(Schedule, PlacementsAreTheirOwnInverse) {
  for (const ChunkPlacement placement : {ChunkPlacement::Loop, ChunkPlacement::V})
    for (const PipelineShape shape : many_shapes())
      for (std::int32_t at = 0; at < shape.stages * shape.chunks; ++at)
        ASSERT_EQ(virtual_stage(placement, shape, site_of(placement, shape, at)), at);
  const PipelineShape shape{.stages = 4, .microbatches = 4, .chunks = 2};
  EXPECT_EQ(virtual_stage(ChunkPlacement::V, shape, {StageIndex(0), ChunkIndex(1)}), 7);
  EXPECT_EQ(virtual_stage(ChunkPlacement::Loop, shape, {StageIndex(0), ChunkIndex(1)}), 4);
}

TEST(Schedule, TextShowsChunksOnlyWhereThereAreSeveral) {
  const std::vector<StageAction> plain{{ActionKind::Forward, MicrobatchIndex(0), ChunkIndex(0)},
                                       {ActionKind::Backward, MicrobatchIndex(12), ChunkIndex(0)}};
  EXPECT_EQ(to_text(plain), "F0 B12");
  std::vector<StageAction> chunked = plain;
  chunked.push_back({ActionKind::Forward, MicrobatchIndex(1), ChunkIndex(1)});
  EXPECT_EQ(to_text(chunked), "F0.0 B12.0 F1.1");
  EXPECT_EQ(to_text(std::vector<StageAction>{}), "");
}

TEST(Schedule, TextShowsSlices) {
  const std::vector<StageAction> sliced{{ActionKind::Forward, MicrobatchIndex(0), ChunkIndex(0), SliceIndex(1)},
                                        {ActionKind::Backward, MicrobatchIndex(3), ChunkIndex(1), SliceIndex(0)}};
  EXPECT_EQ(to_text(sliced), "F0@1.0 B3@0.1");
}

// Those that know of whole samples alone say so, with the number and what to do.
TEST(Schedule, SlicesAreRefusedByName) {
  for (const char* name : {"interleaved", "zb-1p", "zb-2p", "zbv", "v-half", "v-min", "dualpipev"}) {
    const Schedule& schedule = *find_schedule(name);
    PipelineShape shape{.stages = 4, .microbatches = 8};
    if (schedule.why_unsupported(shape)) shape.chunks = 2;
    ASSERT_FALSE(schedule.why_unsupported(shape)) << name;
    shape.slices = 4;
    const auto why = schedule.why_unsupported(shape);
    ASSERT_TRUE(why) << name;
    EXPECT_THAT(*why, ::testing::HasSubstr("not 4 slices")) << name;
  }
}

}  // namespace
}  // namespace sim
