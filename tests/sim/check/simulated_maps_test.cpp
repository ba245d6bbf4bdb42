// Both checkers over what lower() and the engine make of convolutional networks.
#include <gmock/gmock.h>

#include <utility>

#include "sim/check/checkers.h"
#include "sim/engine/simulate.h"
#include "sim/model/map_families.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

using ::testing::IsEmpty;

ModelConfig small_residual() {
  return convolutional_model("resnet", {.image = 32, .widths = {64, 128}, .depths = {1, 2}, .squeeze = true}, 10);
}

ParallelPlan plan_of_maps(DeviceMesh mesh, DeviceKind kind) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  if (kind == DeviceKind::Gpu) plan.cluster = testing::described({testing::small_gpu(), mesh.ranks(), {}}, true);
  plan.model = small_residual();
  plan.workload.sequence = 1;
  plan.cut = even_cut(plan.model.layers, {.stages = mesh.pipeline, .microbatches = 1, .chunks = 1});
  return plan;
}

TEST(SimulatedMaps, PassTheCheckers) {
  for (const DeviceKind kind : {DeviceKind::Cpu, DeviceKind::Gpu})
    for (const auto& [data, pipeline] : {std::pair{1, 1}, {2, 1}, {1, 4}, {2, 2}})
      for (const std::int32_t zero : {0, 1, 2, 3})
        for (const auto& [recompute, sync] :
             {std::pair{Recompute::None, false}, {Recompute::Full, false}, {Recompute::None, true}, {Recompute::Full, true}}) {
          ParallelPlan plan = plan_of_maps({.data = data, .pipeline = pipeline}, kind);
          if (sync && data == 1) continue;
          plan.sync_batch_norm = sync;
          plan.zero_stage = zero;
          plan.recompute = recompute;
          plan.schedule = zero == 1 ? "gpipe" : "1f1b";
          plan.recompute_scope.but_last = recompute == Recompute::Full && zero < 2;
          ASSERT_THAT(violations(plan), IsEmpty());
          SCOPED_TRACE(testing::describe(plan));
          const ModelGraph model = make_model_graph(plan);
          SimulationResult results[2];
          for (const Fold& fold : {Fold::Symmetric, Fold::None}) {
            const TaskGraph graph = lower(model, plan, fold);
            ASSERT_THAT(check_graph(model, plan, graph), IsEmpty());
            SimulationResult& result = results[fold == Fold::None ? 1 : 0];
            result = simulate(model, plan, graph, Detail::Timeline);
            ASSERT_THAT(check_timeline(graph, result.timeline), IsEmpty());
          }
          EXPECT_EQ(results[0].step_time, results[1].step_time);
          EXPECT_EQ(results[0].peak_memory, results[1].peak_memory);
        }
}

// What a microbatch took it gives back: a longer step holds more images, labels and losses, and nothing else.
TEST(SimulatedMaps, AreFreed) {
  ParallelPlan plan = plan_of_maps({}, DeviceKind::Gpu);
  plan.microbatch_size = 1;
  const auto peak = [&](std::int64_t batch) {
    plan.workload.global_batch = batch;
    return simulate(make_model_graph(plan), plan).peak_memory;
  };
  for (const Recompute recompute : {Recompute::None, Recompute::Full}) {
    plan.recompute = recompute;
    EXPECT_EQ(peak(8) - peak(4), Bytes(4 * (16 + 4)) + plan.bytes(Numbers::Activations) * std::int64_t{4 * 3 * 32 * 32});
  }
}

// A part that is recomputed keeps what it received of each microbatch.
TEST(SimulatedMaps, KeepLessWhereTheyAreRecomputed) {
  ParallelPlan plan = plan_of_maps({.pipeline = 4}, DeviceKind::Gpu);
  plan.schedule = "gpipe";
  const auto peak = [&](Recompute recompute) {
    plan.recompute = recompute;
    return simulate(make_model_graph(plan), plan).peak_memory;
  };
  EXPECT_LT(peak(Recompute::Full), peak(Recompute::None));
}

}  // namespace
}  // namespace sim
