#include "sim/timeline/comparison.h"

#include <gmock/gmock.h>

#include "sim/timeline/ledger.h"
#include "sim/units/input_error.h"
#include "tests/sim/plan/plans.h"
#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::us;

// A folded timeline of a real graph, each task taking its turn for 1 us, and the traces of ranks that kept to it.
struct PerfectRun {
  explicit PerfectRun(DeviceMesh mesh = {.data = 2, .pipeline = 2}) : plan(testing::tiny_plan(mesh)) {
    for (std::size_t device = 0; device < graph.devices().size(); ++device) {
      timeline.devices.push_back(graph.devices()[device]);
      SimTime now{};
      for (const TaskId id : graph.issue_order(DeviceId(static_cast<std::int32_t>(device)))) {
        timeline.spans.push_back(
            {DeviceId(static_cast<std::int32_t>(device)), graph.task(id).stream, graph.task(id).key, now, now + us(1)});
        now += us(1);
      }
    }
    for (const Span& span : timeline.spans) step = std::max(step, span.end);
    timeline.memory = testing::two_stages().memory;
    for (Rank rank(0); rank.value() < plan.mesh.ranks(); ++rank) traces.push_back(perfect(rank));
  }

  RankTrace perfect(Rank rank) const {
    RankTrace trace = testing::trace_of(timeline, DeviceId(plan.mesh.coordinate(rank).stage.value()));
    trace.rank = rank;
    for (MeasuredStep& measured : trace.steps) {
      measured.duration = step;
      measured.ledger = predicted_ledger(graph, plan, rank);
    }
    return trace;
  }
  Comparison compared(WarmUp warm_up = {1}) const { return compare(graph, plan, timeline, traces, warm_up); }

  ParallelPlan plan;
  ModelGraph model = make_model_graph(plan);
  TaskGraph graph = lower(model, plan);
  Timeline timeline;
  SimTime step{};
  std::vector<RankTrace> traces;
};

TEST(Comparison, ARightRunMeetsItsSimulation) {
  const Comparison result = PerfectRun().compared();
  EXPECT_EQ(result.step.error(), 0.0);
  EXPECT_EQ(result.step.samples, 2);
  for (const ErrorRow& kind : result.kinds) EXPECT_EQ(kind.error(), 0.0) << kind.name;
  EXPECT_EQ(result.stages.size(), 2u);
  for (const ErrorRow& stage : result.stages) EXPECT_EQ(stage.error(), 0.0) << stage.name;
  EXPECT_THAT(result.only_simulated, IsEmpty());
  EXPECT_THAT(result.only_measured, IsEmpty());
  EXPECT_TRUE(result.ledger_equal);
  EXPECT_EQ(result.ledger_difference, "");
  EXPECT_EQ(result.bubble_simulated, result.bubble_measured);
  EXPECT_EQ(result.overlap_simulated, result.overlap_measured);
  EXPECT_GT(result.bubble_simulated, 0.0);
  EXPECT_EQ(result.memory_simulated, Bytes(150));
  EXPECT_EQ(result.memory_composition[static_cast<std::size_t>(MemoryCategory::Activations)], Bytes(50));
  EXPECT_EQ(result.memory_measured, Bytes(150));
  EXPECT_EQ(result.noise, 0.0);
}

TEST(Comparison, EveryCombinationOfDegreesHasPartners) {
  for (const DeviceMesh mesh :
       {DeviceMesh{}, DeviceMesh{.tensor = 2}, DeviceMesh{.data = 2, .tensor = 2}, DeviceMesh{.data = 2, .pipeline = 4, .tensor = 2}}) {
    const Comparison result = PerfectRun(mesh).compared();
    EXPECT_THAT(result.only_simulated, IsEmpty());
    EXPECT_THAT(result.only_measured, IsEmpty());
    EXPECT_TRUE(result.ledger_equal) << result.ledger_difference;
  }
}

TEST(Comparison, TheSlowestRankMakesTheStep) {
  PerfectRun fixture;
  for (MeasuredStep& measured : fixture.traces[2].steps) measured.duration = 2 * fixture.step;
  const Comparison result = fixture.compared();
  EXPECT_EQ(result.step.measured, to_seconds(2 * fixture.step));
  EXPECT_EQ(result.step.error(), -0.5);
}

TEST(Comparison, WarmUpCountsForNothingButTheLedger) {
  PerfectRun fixture;
  for (RankTrace& trace : fixture.traces) {
    trace.steps[0].duration = 100 * fixture.step;
    trace.steps[0].peak_memory = Bytes(1 << 30);
  }
  EXPECT_EQ(fixture.compared().step.error(), 0.0);
  EXPECT_EQ(fixture.compared().memory_measured, Bytes(150));
  EXPECT_NE(fixture.compared({0}).noise, 0.0);
  fixture.traces[1].steps[0].ledger.pop_back();
  EXPECT_FALSE(fixture.compared().ledger_equal);
  EXPECT_THAT(fixture.compared().ledger_difference, HasSubstr("rank 1, step 0"));
}

TEST(Comparison, TasksWithoutAPartnerAreNamed) {
  PerfectRun fixture;
  const TaskKey lost = fixture.traces[3].steps[2].spans.back().key;
  fixture.traces[3].steps[2].spans.pop_back();
  fixture.traces[0].steps[1].spans.push_back(fixture.traces[0].steps[1].spans.front());  // twice is once too often
  const Comparison result = fixture.compared();
  EXPECT_THAT(result.only_simulated, ::testing::ElementsAre("rank 3: " + to_text(lost)));
  EXPECT_THAT(result.only_measured, ::testing::ElementsAre("rank 0: " + to_text(fixture.traces[0].steps[1].spans.front().key)));
}

TEST(Comparison, KindsAreSumsOfOneRank) {
  PerfectRun fixture(DeviceMesh{});
  for (MeasuredStep& measured : fixture.traces[0].steps)
    for (Span& span : measured.spans)
      if (span.key.operation == Operation::Update) span.end += us(3);
  const Comparison result = fixture.compared();
  const auto update = std::find_if(result.kinds.begin(), result.kinds.end(), [](const ErrorRow& row) { return row.name == "step.update"; });
  ASSERT_NE(update, result.kinds.end());
  EXPECT_EQ(update->samples, 2 * static_cast<std::int64_t>(fixture.graph.buckets()[0].size()));  // two steps after the warm-up
  EXPECT_DOUBLE_EQ(update->measured / update->simulated, 4.0);
  for (std::size_t at = 1; at < result.kinds.size(); ++at) EXPECT_GE(result.kinds[at - 1].measured, result.kinds[at].measured);
}

TEST(Comparison, TokensOfExpertsAreThoseOfAllRanks) {
  PerfectRun fixture;
  EXPECT_EQ(fixture.compared().expert_spread, std::nullopt);
  for (RankTrace& trace : fixture.traces) {
    trace.steps[0].expert_rows.add(1000);  // warm-up
    for (std::size_t step : {1, 2}) trace.steps[step].expert_rows.add(trace.rank.value() % 2 == 0 ? 6 : 10);
  }
  EXPECT_DOUBLE_EQ(fixture.compared().expert_spread.value(), 0.25);
}

TEST(Comparison, TracesOfAnotherRunAreRefused) {
  PerfectRun fixture;
  EXPECT_THROW(fixture.compared({3}), InputError);
  EXPECT_THROW(compare(fixture.graph, fixture.plan, fixture.timeline, {}, {1}), InputError);
  fixture.traces[0].steps.pop_back();
  EXPECT_THROW(fixture.compared(), InputError);
  fixture.traces[0] = fixture.traces[1];
  fixture.traces[0].rank = Rank(4);
  EXPECT_THROW(fixture.compared(), InputError);
}

}  // namespace
}  // namespace sim
