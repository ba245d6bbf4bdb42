#include "sim/task_graph/task.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

TaskKey sample() {
  return {.stage = StageIndex(1),
          .chunk = ChunkIndex(0),
          .microbatch = MicrobatchIndex(3),
          .layer = LayerIndex(2),
          .phase = Phase::Backward,
          .operation = Operation::AllReduce,
          .group = MeshAxis::Tensor,
          .sequence = 1};
}

TEST(TaskKey, TextNamesEveryField) {
  EXPECT_EQ(to_text(sample()), "s1.c0.m3.l2.backward.all_reduce.tensor.1");
  EXPECT_EQ(to_text(TaskKey{.stage = StageIndex(0), .phase = Phase::Step, .operation = Operation::NormPart}),
            "s0.c-.m-.l-.step.norm_part.none.0");
}

TEST(TaskKey, TextReadsBack) {
  TaskKey key;
  ASSERT_TRUE(parse_task_key(to_text(sample()), key));
  EXPECT_EQ(key, sample());
}

// Old texts have no slice, and read as they did; the phase stays in front.
TEST(TaskKey, TextNamesTheSlice) {
  TaskKey sliced = sample(), key;
  sliced.slice = SliceIndex(2);
  EXPECT_EQ(to_text(sliced), "s1.c0.m3.l2.backward@2.all_reduce.tensor.1");
  ASSERT_TRUE(parse_task_key(to_text(sliced), key));
  EXPECT_EQ(key, sliced);
  ASSERT_TRUE(parse_task_key(to_text(sample()), key));
  EXPECT_EQ(key, sample());
  EXPECT_EQ(kind_text(sliced), kind_text(sample()));
  for (const char* text : {"s1.c0.m3.l2.backward@.all_reduce.tensor.1", "s1.c0.m3.l2.backward@-.all_reduce.tensor.1",
                           "s1.c0.m3.l2.@1.all_reduce.tensor.1", "s1.c0.m3.l2.backward@1@1.all_reduce.tensor.1"})
    EXPECT_FALSE(parse_task_key(text, key)) << text;
}

TEST(StreamOrder, SaysWhichStreamsAreOneQueue) {
  EXPECT_EQ(queue_of(StreamOrder::Overlapping, Stream::Reduce), Stream::Reduce);
  EXPECT_EQ(queue_of(StreamOrder::ReduceInOrder, Stream::Reduce), Stream::Compute);
  EXPECT_EQ(queue_of(StreamOrder::ReduceInOrder, Stream::Gather), Stream::Gather);
  EXPECT_EQ(queue_of(StreamOrder::InOrder, Stream::Gather), Stream::Compute);
}

TEST(TaskKey, RefusesWhatIsNoKey) {
  TaskKey key;
  for (const char* text : {"", "s1", "s1.c0.m3.l2.backward.all_reduce.tensor", "s1.c0.m3.l2.sideways.all_reduce.tensor.1",
                           "s1.c0.m3.l2.backward.all_reduce.tensor.-", "sx.c0.m3.l2.backward.all_reduce.tensor.1",
                           "s1.c0.m3.l2.backward.all_reduce.tensor.1.2"})
    EXPECT_FALSE(parse_task_key(text, key)) << text;
}

TEST(TaskKey, KindLeavesOutWhereItRan) { EXPECT_EQ(kind_text(sample()), "backward.all_reduce.tensor"); }

}  // namespace
}  // namespace sim
