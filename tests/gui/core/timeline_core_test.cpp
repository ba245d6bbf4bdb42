#include "gui/core/timeline_core.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

using sim::SimTime;

struct Piece {
  std::int64_t start = 0, end = 0;
  WorkKind kind = WorkKind::Forward;
};
TimelineCore coreOf(const std::vector<Piece>& pieces) {
  SliceRow row{.device = "stage 0", .stream = "compute", .opens_device = true};
  for (const Piece& piece : pieces) {
    row.slices->span.push_back(static_cast<std::uint32_t>(row.size()));
    row.slices->start.push_back(piece.start);
    row.slices->end.push_back(piece.end);
    row.slices->kind.push_back(piece.kind);
  }
  return TimelineCore(std::vector<SliceRow>{row});
}

std::vector<gui::Run> runsOf(const TimelineCore& core, const TimeAxis& axis) {
  std::vector<gui::Run> runs;
  core.visit({0}, axis, [&](const gui::Run& run) { runs.push_back(run); });
  return runs;
}

TEST(TimelineCore, WideSlicesAreRunsOfTheirOwn) {
  const TimelineCore core = coreOf({{0, 100}, {100, 300, WorkKind::Backward}, {500, 1000}});
  const std::vector<gui::Run> runs = runsOf(core, {core.range(), {100}});
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[1].left, 10);
  EXPECT_EQ(runs[1].right, 30);
  EXPECT_EQ(runs[1].kind, WorkKind::Backward);
  EXPECT_EQ(runs[1].count, 1u);
}

TEST(TimelineCore, SlicesBelowAPixelFoldAndNoneIsLost) {
  std::vector<Piece> pieces;
  for (std::int64_t at = 0; at < 10'000; ++at) pieces.push_back({at * 10, at * 10 + 9});
  const TimelineCore core = coreOf(pieces);
  const std::vector<gui::Run> runs = runsOf(core, {core.range(), {100}});
  std::uint32_t sum = 0;
  for (std::size_t at = 0; at < runs.size(); ++at) {
    sum += runs[at].count;
    EXPECT_GE(runs[at].left, at > 0 ? runs[at - 1].right : 0);
  }
  EXPECT_EQ(sum, 10'000u);
  EXPECT_LE(runs.size(), 100u);
}

// However many are folded, the one that takes the most room shows.
TEST(TimelineCore, TheLongestOfAPixelShows) {
  std::vector<Piece> pieces;
  for (std::int64_t at = 0; at < 100'000; ++at)
    pieces.push_back({at * 10, at * 10 + (at % 1000 == 517 ? 9 : 4), at % 1000 == 517 ? WorkKind::Optimizer : WorkKind::Forward});
  const TimelineCore core = coreOf(pieces);
  for (const gui::Run& run : runsOf(core, {core.range(), {100}})) EXPECT_EQ(run.kind, WorkKind::Optimizer) << run.left;
}

TEST(TimelineCore, AShortSliceBetweenLongOnesStaysVisible) {
  const TimelineCore core = coreOf({{0, 40'000}, {50'000, 50'001, WorkKind::Optimizer}, {60'000, 100'000}});
  const std::vector<gui::Run> runs = runsOf(core, {core.range(), {100}});
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[1].kind, WorkKind::Optimizer);
}

TEST(TimelineCore, PaintsTheSameAsItVisits) {
  const TimelineCore core = coreOf({{0, 100}, {500, 1000, WorkKind::Backward}});
  std::vector<std::uint32_t> line(100, 0);
  core.paint({0}, {core.range(), {100}}, line);
  EXPECT_EQ(line[5], lookOf(WorkKind::Forward).color.value);
  EXPECT_EQ(line[20], 0u);
  EXPECT_EQ(line[99], lookOf(WorkKind::Backward).color.value);
}

TEST(TimelineCore, HitIsWhatIsPainted) {
  const TimelineCore core = coreOf({{0, 100}, {500, 1000}});
  const TimeAxis axis(core.range(), {100});
  EXPECT_EQ(core.at({0}, 75, axis), (Slice{{0}, 1}));
  EXPECT_FALSE(core.at({0}, 30, axis).has_value());
}

TEST(TimelineCore, TheNearestEdgeIsABeginningOrAnEnd) {
  const TimelineCore core = coreOf({{10, 20}, {50, 90}});
  const auto nearest = [&](std::int64_t time) { return core.nearestEdge({0}, sim::SimTime(time)); };
  EXPECT_EQ(nearest(0), sim::SimTime(10));
  EXPECT_EQ(nearest(19), sim::SimTime(20));
  EXPECT_EQ(nearest(34), sim::SimTime(20));
  EXPECT_EQ(nearest(36), sim::SimTime(50));
  EXPECT_EQ(nearest(1000), sim::SimTime(90));
  EXPECT_FALSE(TimelineCore({SliceRow{}}).nearestEdge({0}, sim::SimTime(5)));
}

TEST(TimelineCore, ZoomedInItSeesOnlyWhatIsInRange) {
  const TimelineCore core = coreOf({{0, 100}, {200, 300}, {500, 1000}});
  const std::vector<gui::Run> runs = runsOf(core, {{SimTime(210), SimTime(290)}, {100}});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].left, 0);
  EXPECT_EQ(runs[0].right, 100);
}

TEST(TimelineCore, NeighborsEndAtTheRow) {
  const TimelineCore core = coreOf({{0, 1}, {2, 3}});
  EXPECT_EQ(core.neighbor({{0}, 0}, 1), (Slice{{0}, 1}));
  EXPECT_FALSE(core.neighbor({{0}, 1}, 1).has_value());
  EXPECT_FALSE(core.neighbor({{0}, 0}, -1).has_value());
}

TEST(TimelineCore, OfASimulationEveryTimedSpanHasOneSlice) {
  const SharedPlan simulated = test::exampleSimulation();
  const sim::Timeline& timeline = simulated->result.timeline;
  const TimelineCore core(timeline);
  std::size_t timed = 0;
  for (std::size_t at = 0; at < timeline.spans.size(); ++at) {
    if (timeline.spans[at].end <= timeline.spans[at].start) continue;
    ++timed;
    const std::optional<Slice> slice = core.find(static_cast<std::uint32_t>(at));
    ASSERT_TRUE(slice.has_value());
    EXPECT_EQ(core.extent(*slice), (TimeRange{timeline.spans[at].start, timeline.spans[at].end}));
  }
  EXPECT_EQ(core.numSlices(), timed);
  EXPECT_EQ(core.range().end, simulated->result.step_time);
  EXPECT_EQ(core.rows().front().device, "stage 0  \u00d72");
}

}  // namespace
}  // namespace gui
