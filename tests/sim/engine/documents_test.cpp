// Rows of documents: one device that stands for all data ranks, against every rank drawn by itself.
#include <gmock/gmock.h>

#include "sim/check/checkers.h"
#include "sim/cost/document_load.h"
#include "sim/engine/simulate.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

ParallelPlan long_plan(std::string_view samples, DeviceMesh mesh, std::int32_t zero) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.model.max_positions = 1 << 20;
  plan.workload.sequence = 4096;  // attention is most of the work
  plan.workload.global_batch = 8L * mesh.data;
  plan.cluster.hardware.cores_per_node = 64;
  plan.zero_stage = zero;
  plan.workload.samples = testing::samples_of(samples);
  EXPECT_TRUE(violations(plan).empty());
  return plan;
}

double step_of(const ParallelPlan& plan, const Fold& fold = Fold::Symmetric) {
  return to_seconds(simulate(make_model_graph(plan), plan, Detail::Summary, fold).step_time).count();
}

// Over some draws.
double mean_step(ParallelPlan plan, const Fold& fold) {
  constexpr std::uint64_t kDraws = 40;
  double sum = 0;
  for (plan.workload.samples.seed = 100; plan.workload.samples.seed < 100 + kDraws; ++plan.workload.samples.seed)
    sum += step_of(plan, fold);
  return sum / static_cast<double>(kDraws);
}

constexpr const char* kSamples[] = {"packed lognormal mean 1500 spread 1.5", "packed list 64 4096", "padded lognormal mean 2000 spread 0.5",
                                    "fitted list 200*5 3000"};

TEST(Documents, FoldedIsNearTheMeanOfUnfoldedDraws) {
  for (const DeviceMesh& mesh : {DeviceMesh{.data = 4}, DeviceMesh{.data = 8}, DeviceMesh{.data = 4, .pipeline = 2},
                                 DeviceMesh{.data = 4, .pipeline = 4}, DeviceMesh{.data = 2, .tensor = 2}})
    for (const std::int32_t zero : {0, 3})
      for (const char* samples : kSamples) {
        const ParallelPlan plan = long_plan(samples, mesh, zero);
        const double ratio = step_of(plan) / mean_step(plan, Fold::None);
        EXPECT_NEAR(ratio, 1, kFoldError) << samples << " data " << mesh.data << " pipeline " << mesh.pipeline << " zero " << zero;
      }
}

// A mean rank's work would be missed: the bound above is about what the fold says of waiting.
TEST(Documents, WaitingIsMoreThanTheBound) {
  ParallelPlan plan = long_plan("packed list 64 4096", {.data = 8}, 3);
  const double folded = step_of(plan);
  plan.mesh.data = 1;
  plan.cluster.devices = 1;
  plan.workload.global_batch = 8;
  plan.zero_stage = 0;
  EXPECT_GT(folded, step_of(plan) * (1 + 2 * kFoldError));
}

TEST(Documents, TakeLessThanWholeRows) {
  for (const char* samples : kSamples) {
    ParallelPlan plan = long_plan(samples, {.data = 2}, 0);
    const SimulationResult documents = simulate(make_model_graph(plan), plan);
    EXPECT_NEAR(documents.tokens_per_second, real_tokens(plan.workload) / to_seconds(documents.step_time).count(), 1e-6);
    plan.workload.samples = {};
    EXPECT_LT(documents.step_time, simulate(make_model_graph(plan), plan).step_time) << samples;
  }
}

TEST(Documents, OneThatFillsEachRowIsNone) {
  ParallelPlan plan = long_plan("padded fixed 4096", {.data = 2, .pipeline = 2}, 1);
  const double documents = step_of(plan);
  plan.workload.samples = {};
  EXPECT_NEAR(documents, step_of(plan), 1e-9);
}

// Whatever the layout: the graph and the memory are those of whole rows, and the checkers find nothing in the timeline.
TEST(Documents, RandomPlansPassTheCheckers) {
  testing::PlanGenerator generator(23);
  std::int32_t checked = 0;
  for (std::int32_t number = 0; number < 100; ++number) {
    ParallelPlan plan = generator.next(number % 2 == 0 ? DeviceKind::Gpu : DeviceKind::Cpu);
    const ModelGraph model = make_model_graph(plan);
    const Bytes memory = simulate(model, plan).peak_memory;
    plan.workload.samples = testing::samples_of(number % 3 == 0   ? "packed list 2 30"
                                                : number % 3 == 1 ? "padded fixed 5"
                                                                  : "fitted list 3 9*4");
    if (!violations(plan).empty()) continue;
    SCOPED_TRACE(testing::describe(plan));
    for (const Fold& fold : {Fold::Symmetric, Fold::None}) {
      const TaskGraph graph = lower(model, plan, fold);
      ASSERT_THAT(check_graph(model, plan, graph), ::testing::IsEmpty());
      const SimulationResult result = simulate(model, plan, graph, Detail::Timeline);
      ASSERT_THAT(check_timeline(graph, result.timeline), ::testing::IsEmpty());
      if (plan.offload_activations) continue;  // when a copy has gone depends on times
      // Where stages send, what has gone is freed, which depends on times, too: one microbatch's stream more or less.
      const double sent = plan.mesh.pipeline > 1 ? 1e-3 * static_cast<double>(memory.value()) : 0;
      EXPECT_NEAR(static_cast<double>(result.peak_memory.value()), static_cast<double>(memory.value()), sent);
    }
    ++checked;
  }
  EXPECT_GT(checked, 40);
}

TEST(Documents, AreTheSameEveryTime) {
  const ParallelPlan plan = long_plan(kSamples[0], {.data = 4, .pipeline = 2}, 1);
  EXPECT_EQ(step_of(plan), step_of(plan));
  EXPECT_EQ(step_of(plan, Fold::None), step_of(plan, Fold::None));
}

}  // namespace
}  // namespace sim
