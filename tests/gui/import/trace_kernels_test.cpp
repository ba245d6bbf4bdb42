#include "gui/import/trace_kernels.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"
#include "tests/sim/timeline/timelines.h"

namespace gui {
namespace {

// Steps on the host, which runs ahead, and on the device; a kernel in each.
SharedTrace threeSteps(bool on_device) {
  std::string text = R"({"distributedInfo": {"rank": 3}, "traceEvents": [)";
  for (int step = 0; step < 4; ++step) {
    const int length = 10 + step;
    text +=
        fmt::format(R"({{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{0}", "pid": 1, "tid": 1, "ts": {1}, "dur": {2}}},)",
                    step, 100 * step, length);
    if (on_device)
      text += fmt::format(
          R"({{"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#{0}", "pid": 0, "tid": 8, "ts": {1}, "dur": {2}}},)", step,
          100 * step + 50, length);
    text += fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "gemm{0}", "pid": 0, "tid": 7, "ts": {1}, "dur": 4}},)", step,
                        100 * step + (on_device ? 52 : 2));
  }
  text.back() = ']';
  const sim::testing::TemporaryFolder folder;
  sim::testing::put(folder.file("a.json"), text + "}");
  Progress progress;
  return importTrace({folder.file("a.json")}, progress);
}

TEST(TraceKernels, AreThoseOfTheMedianStepAfterTheFirst) {
  for (const bool on_device : {true, false}) {
    const std::vector<TracedRank> ranks = kernelsOfStep(*threeSteps(on_device));
    ASSERT_EQ(ranks.size(), 1u);
    EXPECT_EQ(ranks[0].rank, sim::Rank(3));
    ASSERT_EQ(ranks[0].kernels.size(), 1u) << on_device;
    EXPECT_EQ(ranks[0].kernels[0].name, "gemm2");
    EXPECT_EQ(ranks[0].kernels[0].kind, WorkKind::Product);
    EXPECT_EQ(ranks[0].kernels[0].start, sim::SimTime(2'000'000));
    EXPECT_EQ(ranks[0].length, sim::SimTime(12'000'000));
  }
}

// GPT-2 of Hugging Face (profiles/models/tiny-gpt2.json), two steps of 8 x 64 tokens on a CPU, as torch.profiler of PyTorch 2.11 wrote them, without
// arguments: its products, attentions and norms are those of the plan, one by one.
TEST(TraceKernels, OfARunWithoutAGpuAreItsOperatorsAndJoinWithThePlan) {
  Progress progress;
  const std::vector<TracedRank> ranks = kernelsOfStep(*importTrace({"tests/gui/import/gpt2_on_cpu.json.gz"}, progress));
  ASSERT_EQ(ranks.size(), 1u);
  const auto count = [&](WorkKind kind) {
    return std::count_if(ranks[0].kernels.begin(), ranks[0].kernels.end(), [kind](const TracedKernel& one) { return one.kind == kind; });
  };
  EXPECT_EQ(count(WorkKind::Product), 3 * (4 * 4 + 1));  // four a layer and the head: forward, and two of each backward
  EXPECT_EQ(count(WorkKind::Attention), 2 * 4);
  EXPECT_EQ(count(WorkKind::Norm), 2 * (2 * 4 + 1));
  for (std::size_t at = 1; at < ranks[0].kernels.size(); ++at)
    EXPECT_GE(ranks[0].kernels[at].start, ranks[0].kernels[at - 1].end) << ranks[0].kernels[at].name << ": nested ones count once";
  sim::ParallelPlan plan = test::runnablePlan();
  plan.mesh = {.data = 1, .pipeline = 1, .tensor = 1};
  plan.cluster.devices = 1;
  plan.microbatch_size = 8;
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  const SharedTraceStep step = joinTrace(*simulatePlan(plan), "gpt2_on_cpu", ranks);
  EXPECT_TRUE(step->why_not.empty()) << step->why_not.front();
  EXPECT_GT(step->timeline.spans.size(), 16u);
  EXPECT_GT(step->joined.count(), step->all.count() / 2);
}

}  // namespace
}  // namespace gui
