#include "sim/timeline/ledger.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

struct LedgerFixture {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 2});
  ModelGraph model = make_model_graph(plan);
  TaskGraph graph = lower(model, plan);

  std::vector<RankTrace> perfect() const {
    std::vector<RankTrace> traces;
    for (Rank rank(0); rank.value() < plan.mesh.ranks(); ++rank) {
      RankTrace trace;
      trace.rank = rank;
      for (const std::int64_t number : {0, 1}) {
        trace.steps.emplace_back();
        trace.steps.back().step = number;
        trace.steps.back().ledger = predicted_ledger(graph, plan, rank);
      }
      traces.push_back(trace);
    }
    return traces;
  }
};

TEST(Ledger, PredictsEveryCommunicationWithItsGroup) {
  const LedgerFixture fixture;
  const auto ledger = predicted_ledger(fixture.graph, fixture.plan, Rank(0));
  std::size_t expected = 0;
  for (const Task& task : rank_slice(fixture.graph, fixture.plan, Rank(0))) expected += is_communication(task.key.operation);
  EXPECT_EQ(ledger.size(), expected);
  for (const LedgerEntry& entry : ledger) {
    EXPECT_EQ(entry.group_size, entry.key.group == MeshAxis::World ? 8 : 2) << to_text(entry);
    EXPECT_GT(entry.payload, Bytes(0)) << to_text(entry);
  }
}

TEST(Ledger, ARightRunIsEqual) {
  const LedgerFixture fixture;
  EXPECT_EQ(why_ledgers_differ(fixture.graph, fixture.plan, fixture.perfect()), std::nullopt);
}

// Parts of gradients start in another order than that of the slice; each once.
TEST(Ledger, SumsByPriorityHaveAnOrderOfTheirOwn) {
  LedgerFixture fixture;
  fixture.plan = testing::tiny_plan({.data = 2});
  fixture.plan.partition_size = fixture.plan.credit_size = Bytes(4096);
  fixture.graph = lower(fixture.model, fixture.plan);
  auto traces = fixture.perfect();
  std::vector<LedgerEntry>& ledger = traces[1].steps[1].ledger;
  ASSERT_GT(ledger.size(), 2U);
  std::ranges::reverse(ledger);
  EXPECT_EQ(why_ledgers_differ(fixture.graph, fixture.plan, traces), std::nullopt);
  ledger.front() = ledger.back();
  EXPECT_TRUE(why_ledgers_differ(fixture.graph, fixture.plan, traces).has_value());
  fixture.plan.partition_size = fixture.plan.credit_size = {};
  fixture.graph = lower(fixture.model, fixture.plan);
  auto in_order = fixture.perfect();
  ASSERT_GT(in_order[1].steps[1].ledger.size(), 1U);
  std::ranges::reverse(in_order[1].steps[1].ledger);
  EXPECT_TRUE(why_ledgers_differ(fixture.graph, fixture.plan, in_order).has_value());
}

// Of rows that experts may drop the prediction is the most; of others it is exact.
TEST(Ledger, DroppedRowsAreNotSent) {
  for (const ExpertDispatch dispatch : {ExpertDispatch::Drop, ExpertDispatch::Padded, ExpertDispatch::Dropless}) {
    LedgerFixture fixture;
    fixture.plan.mesh.expert = 2;
    fixture.plan.model.experts =
        ExpertForm{.experts = 4, .topk = 2, .expert_ffn = fixture.plan.model.ffn, .capacity_factor = 1, .dispatch = dispatch};
    fixture.model = make_model_graph(fixture.plan);
    fixture.graph = lower(fixture.model, fixture.plan);
    auto traces = fixture.perfect();
    EXPECT_EQ(why_ledgers_differ(fixture.graph, fixture.plan, traces), std::nullopt);
    for (LedgerEntry& entry : traces[1].steps[0].ledger)
      if (entry.key.group == MeshAxis::Expert) entry.payload -= Bytes(4);
    EXPECT_EQ(why_ledgers_differ(fixture.graph, fixture.plan, traces).has_value(), dispatch != ExpertDispatch::Drop);
  }
}

TEST(Ledger, TellsTheFirstDifference) {
  const LedgerFixture fixture;
  auto traces = fixture.perfect();
  std::vector<LedgerEntry>& ledger = traces[3].steps[1].ledger;
  ledger[2].payload += Bytes(1);
  EXPECT_THAT(*why_ledgers_differ(fixture.graph, fixture.plan, traces), HasSubstr("rank 3, step 1, entry 2: predicted"));
  ledger[2].payload -= Bytes(1);
  std::swap(ledger[4], ledger[6]);
  EXPECT_THAT(*why_ledgers_differ(fixture.graph, fixture.plan, traces), HasSubstr("entry 4"));
  std::swap(ledger[4], ledger[6]);
  const LedgerEntry last = ledger.back();
  ledger.pop_back();
  EXPECT_THAT(*why_ledgers_differ(fixture.graph, fixture.plan, traces), HasSubstr("measured nothing more"));
  ledger.push_back(last);
  ledger.push_back(last);
  EXPECT_THAT(*why_ledgers_differ(fixture.graph, fixture.plan, traces), HasSubstr("predicted nothing more"));
}

}  // namespace
}  // namespace sim
