#include "gui/core/step_picture.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"
#include "tests/sim/cost/random_plans.h"

namespace gui {
namespace {

void expectSameRows(const TimelineCore& shown, const TimelineCore& simulated) {
  ASSERT_EQ(shown.rows().size(), simulated.rows().size());
  for (std::size_t at = 0; at < shown.rows().size(); ++at) {
    const SliceRow &one = shown.rows()[at], &other = simulated.rows()[at];
    ASSERT_EQ(one.repeats, other.repeats);
    if (one.repeats) continue;  // the critical path may run through another rank of the class
    EXPECT_EQ(one.device, other.device);
    EXPECT_EQ(one.stream, other.stream);
    EXPECT_EQ(one.opens_device, other.opens_device);
    EXPECT_EQ(one.slices->start, other.slices->start);
    EXPECT_EQ(one.slices->end, other.slices->end);
    EXPECT_EQ(one.slices->kind, other.slices->kind);
    for (std::size_t slice = 0; slice < one.size(); ++slice) {
      EXPECT_EQ(one.spanOf(slice), other.spanOf(slice));
      EXPECT_EQ(shown.find(one.spanOf(slice)), (Slice{{at}, static_cast<std::uint32_t>(slice)}));
    }
  }
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> sorted(const std::vector<Flow>& flows) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const Flow& flow : flows) pairs.emplace_back(flow.from, flow.to);
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

void expectSameCounters(const std::vector<CounterRow>& shown, const std::vector<CounterRow>& simulated) {
  ASSERT_EQ(shown.size(), simulated.size());
  for (std::size_t at = 0; at < shown.size(); ++at) {
    EXPECT_EQ(shown[at].device, simulated[at].device);
    EXPECT_EQ(shown[at].counter->name, simulated[at].counter->name);
    EXPECT_EQ(shown[at].counter->time, simulated[at].counter->time);
    EXPECT_EQ(shown[at].counter->value, simulated[at].counter->value);
  }
}

TEST(StepPicture, EveryRankLooksAsIfItWereSimulated) {
  for (const sim::DeviceKind kind : {sim::DeviceKind::Cpu, sim::DeviceKind::Gpu}) {
    sim::testing::PlanGenerator generator(41);
    for (int i = 0; i < 25; ++i) {
      const sim::ParallelPlan plan = generator.next(kind);
      SCOPED_TRACE(sim::testing::describe(plan));
      const SharedPlan one = simulatePlan(plan, Ranks::OneByOne), all = simulatePlan(plan, Ranks::Simulated);
      expectSameRows(*one->shown().core, *all->shown().core);
      EXPECT_EQ(sorted(one->shown().flows), sorted(all->shown().flows));
      expectSameCounters(one->shown().counters, all->shown().counters);
    }
  }
}

TEST(StepPicture, RanksOfAClassShareTheirSlices) {
  const SharedPlan plan = test::exampleSimulation(Ranks::OneByOne);
  const std::span<const SliceRow> rows = plan->shown().core->rows();
  const auto rank0 = std::find_if(rows.begin(), rows.end(), [](const SliceRow& row) { return row.device == "rank 0"; });
  const auto rank1 = std::find_if(rows.begin(), rows.end(), [](const SliceRow& row) { return row.device == "rank 1"; });
  ASSERT_NE(rank1, rows.end());
  EXPECT_EQ(rank0->slices, rank1->slices);
  EXPECT_NE(rank0->first, rank1->first);
}

// Of the critical path every slice is found below, on the ranks that stand for their class.
TEST(StepPicture, TheCriticalPathLeadsToRanks) {
  const SharedPlan plan = test::exampleSimulation(Ranks::OneByOne);
  const TimelineCore& core = *plan->shown().core;
  ASSERT_TRUE(core.rows().front().repeats);
  for (std::size_t at = 0; at < core.rows().front().size(); ++at) {
    const std::optional<Slice> below = core.find(core.rows().front().spanOf(at));
    ASSERT_TRUE(below.has_value());
    EXPECT_EQ(core.extent(*below), core.extent({{0}, static_cast<std::uint32_t>(at)}));
  }
}

}  // namespace
}  // namespace gui
