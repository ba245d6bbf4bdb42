#include "sim/timeline/tracks.h"

#include <gmock/gmock.h>

#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

using testing::span;
using testing::transfer_key;
using testing::us;

TEST(Tracks, RoundsPicosecondsToTheNearestNanosecond) {
  EXPECT_EQ(to_nanoseconds(SimTime(1499)), Nanoseconds(1));
  EXPECT_EQ(to_nanoseconds(SimTime(1500)), Nanoseconds(2));
  EXPECT_EQ(to_nanoseconds(SimTime(-1499)), Nanoseconds(-1));
  EXPECT_EQ(to_nanoseconds(SimTime(-1501)), Nanoseconds(-2));
  EXPECT_EQ(to_nanoseconds(SimTime(0)), Nanoseconds(0));
}

TEST(Tracks, OverlappingSpansOfAStreamTakeLanes) {
  const TaskKey key{};
  const std::vector<Span> spans{span(0, key, us(10), us(20), Stream::Reduce), span(0, key, us(0), us(15), Stream::Reduce),
                                span(0, key, us(12), us(14), Stream::Compute), span(0, key, us(15), us(16), Stream::Reduce)};
  EXPECT_EQ(lanes_of(spans), (std::vector<std::int32_t>{1, 0, 0, 0}));
}

TEST(Tracks, BothEndsOfATransferHaveOneFlow) {
  const StageIndex first(0), second(1);
  const auto id = [](const TaskKey& key, std::int32_t line = 0) { return flow_id(key, 7, {line}); };
  // Stage 0 ends with layer 1, stage 1 begins with layer 2.
  EXPECT_EQ(id(transfer_key(first, 1, Phase::Forward, Operation::Send)), id(transfer_key(second, 2, Phase::Forward, Operation::Receive)));
  EXPECT_EQ(id(transfer_key(second, 2, Phase::Backward, Operation::Send)), id(transfer_key(first, 1, Phase::Backward, Operation::Receive)));
  EXPECT_NE(id(transfer_key(first, 1, Phase::Forward, Operation::Send)), id(transfer_key(first, 1, Phase::Backward, Operation::Receive)));
  EXPECT_NE(id(transfer_key(first, 1, Phase::Forward, Operation::Send)), id(transfer_key(first, 1, Phase::Forward, Operation::Send), 1));
  // Stages 0 and 3 are no neighbours: the number says which stage reads.
  const auto straight = [&](StageIndex stage, std::int32_t layer, Phase phase, Operation operation, std::int32_t reader) {
    TaskKey key = transfer_key(stage, layer, phase, operation);
    key.sequence = reader;
    return id(key);
  };
  EXPECT_EQ(straight(first, 1, Phase::Forward, Operation::Send, 3), straight(StageIndex(3), 7, Phase::Forward, Operation::Receive, 3));
  EXPECT_NE(straight(first, 1, Phase::Forward, Operation::Send, 3), straight(first, 1, Phase::Forward, Operation::Send, 4));
  EXPECT_EQ(id(testing::compute_key(first, 0, Phase::Forward)), 0u);
}

TEST(Tracks, APipelineIsThePositionOfARankInItsStage) {
  const std::vector<GraphDevice> devices = {
      {Rank(0), StageIndex(0)}, {Rank(1), StageIndex(0)}, {Rank(2), StageIndex(1)}, {Rank(3), StageIndex(1), 3}};
  std::vector<std::int32_t> lines;
  for (const PipelineLine line : pipeline_lines(devices)) lines.push_back(line.value);
  EXPECT_EQ(lines, (std::vector<std::int32_t>{0, 1, 0, 1}));
  EXPECT_EQ(track_name(devices[3]), "stage 1, rank 3 and 2 like it");
}

}  // namespace
}  // namespace sim
