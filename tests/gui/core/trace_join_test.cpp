#include "gui/core/trace_join.h"

#include <gmock/gmock.h>

#include "gui/core/compared_steps.h"
#include "sim/units/input_error.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/traced_plan.h"

namespace gui {
namespace {

using test::isComputed;
using test::kEach;
using test::traceOf;

std::size_t computedTasks(const SimulatedPlan& plan, sim::Rank rank) {
  std::size_t tasks = 0;
  for (const sim::Span& span : plan.result.timeline.spans)
    tasks +=
        span.device == deviceOf(plan, rank) && isComputed(span) && span.key.layer != sim::LayerIndex(0);  // the embedding has no product
  return tasks;
}

TEST(TraceJoin, EveryTaskOfAProgramThatPerformsThePlanIsFound) {
  const SharedPlan plan = test::exampleSimulation();
  for (const int products : {1, 3}) {
    const SharedTraceStep step = joinTrace(*plan, "a.json", {traceOf(*plan, sim::Rank(0), products)});
    EXPECT_TRUE(step->why_not.empty()) << step->why_not.front();
    std::size_t computed = 0, sums = 0;
    for (const sim::Span& span : step->timeline.spans) {
      computed += isComputed(span);
      sums += span.key.operation == sim::Operation::AllReduce;
    }
    EXPECT_EQ(computed, computedTasks(*plan, sim::Rank(0))) << products;
    EXPECT_GT(sums, 0u);
    ASSERT_FALSE(step->unjoined.empty());
    EXPECT_EQ(step->unjoined.front().name, "multi_tensor_apply_kernel");
    EXPECT_GT(step->joined.count(), step->all.count() * 9 / 10);
    EXPECT_EQ(step->idle.front().computing + step->idle.front().idle(), traceOf(*plan, sim::Rank(0), products).length);
  }
}

TEST(TraceJoin, SaysHowFarItIsAndIsCancelled) {
  const SharedPlan plan = test::exampleSimulation();
  const std::vector<TracedRank> ranks = {traceOf(*plan, sim::Rank(0)), traceOf(*plan, sim::Rank(1))};
  Progress progress;
  joinTrace(*plan, "a.json", ranks, &progress);
  EXPECT_EQ(progress.share(), 1);
  progress.cancelled = true;
  EXPECT_THROW(joinTrace(*plan, "a.json", ranks, &progress), sim::InputError);
}

TEST(TraceJoin, AFeedForwardHasItsFourKernels) {
  const SharedPlan plan = test::exampleSimulation();
  const SharedTraceStep step = joinTrace(*plan, "a.json", {traceOf(*plan, sim::Rank(0))});
  int seen = 0;
  for (const sim::Span& span : step->timeline.spans) {
    if (span.key.operation != sim::Operation::Mlp || span.key.phase != sim::Phase::Forward) continue;
    ++seen;
    EXPECT_EQ(span.end - span.start, 4 * kEach) << sim::to_text(span.key);  // norm, product, activation, product
  }
  EXPECT_GT(seen, 0);
}

TEST(TraceJoin, AnotherNetworkIsSaidAndNothingIsMadeUp) {
  const SharedPlan plan = test::exampleSimulation();
  TracedRank rank = traceOf(*plan, sim::Rank(0));
  const auto product =
      std::find_if(rank.kernels.begin(), rank.kernels.end(), [](const TracedKernel& kernel) { return kernel.kind == WorkKind::Product; });
  rank.kernels.erase(product);
  const SharedTraceStep step = joinTrace(*plan, "a.json", {rank});
  ASSERT_EQ(step->why_not.size(), 1u);
  EXPECT_THAT(step->why_not.front(), testing::HasSubstr("not those of the plan"));
  for (const sim::Span& span : step->timeline.spans) EXPECT_FALSE(isComputed(span));
  EXPECT_EQ(step->unjoined.front().name, "cutlass_gemm");
}

TEST(TraceJoin, IsHeldAgainstThePlan) {
  const SharedPlan plan = test::exampleSimulation();
  const ComparedSteps steps(simulatedSide(plan), tracedSide(joinTrace(*plan, "a.json", {traceOf(*plan, sim::Rank(0))}), plan));
  EXPECT_GE(steps.pairing.pairs.size(), computedTasks(*plan, sim::Rank(0)));
  EXPECT_TRUE(steps.pairing.only_right.empty());
  EXPECT_EQ(steps.wholeRun(), nullptr);
  EXPECT_GT(steps.right.idle().computing, sim::SimTime(0));
}

TEST(TraceJoin, ARankThatIsNoneIsRefused) {
  const SharedPlan plan = test::exampleSimulation();
  TracedRank rank = traceOf(*plan, sim::Rank(0));
  rank.rank = sim::Rank(99);
  EXPECT_THROW(joinTrace(*plan, "a.json", {rank}), sim::InputError);
  EXPECT_THROW(joinTrace(*plan, "a.json", {{sim::Rank(0), {}, {}}}), sim::InputError);
}

}  // namespace
}  // namespace gui
