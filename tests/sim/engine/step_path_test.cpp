#include "sim/engine/step_path.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "sim/engine/simulate.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

struct Constant {
  const char* name;
  std::function<void(ParallelPlan&, double)> scale;
};
const Constant kConstants[] = {
    {"matrix_share", [](ParallelPlan& plan, double by) { plan.cluster.hardware.kernels->matrix_share *= by; }},
    {"network_share", [](ParallelPlan& plan, double by) { plan.cluster.software.network_share *= by; }},
    {"links of a node",
     [](ParallelPlan& plan, double by) { plan.cluster.hardware.intra_node.bandwidth = by * plan.cluster.hardware.intra_node.bandwidth; }},
    {"host_per_kernel", [](ParallelPlan& plan, double by) { plan.cluster.software.host_per_kernel *= by; }},
    {"overlap_slowdown", [](ParallelPlan& plan, double by) { plan.cluster.software.overlap_slowdown *= by; }},
    {"step_overhead", [](ParallelPlan& plan, double by) { plan.cluster.software.step_overhead *= by; }},
};

ParallelPlan described_plan(DeviceMesh mesh) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.cluster.hardware = testing::small_gpu();
  plan.cluster = testing::described(plan.cluster, true);
  plan.cluster.software.step_overhead = Seconds(1e-3);
  plan.workload.precision = Precision::Bf16;
  plan.model.hidden = 1024;
  plan.model.heads = plan.model.kv_heads = 8;
  plan.model.head_dim = 128;
  plan.model.ffn = 4096;
  return plan;
}

struct Named {
  const char* name;
  ParallelPlan plan;
  double tolerance = 0.01;
};
std::vector<Named> varied_plans() {
  std::vector<Named> plans{{"pipelined", described_plan({.data = 2, .pipeline = 4})},
                           {"zero bubble", described_plan({.pipeline = 4})},
                           {"ZeRO-3", described_plan({.data = 8})},
                           {"ZeRO-3 that slows its kernels", described_plan({.data = 4})},
                           {"tensor", described_plan({.data = 2, .tensor = 4})}};
  plans[1].plan.schedule = "zb-1p";
  plans[2].plan.zero_stage = 3;
  plans[2].tolerance = 0.1;  // gathers and reductions share their links
  plans[2].plan.reshard_after_forward = true;
  plans[3].plan.zero_stage = 3;
  plans[3].plan.cluster.software.overlap_slowdown = 0.2;
  plans[3].tolerance = 0.1;
  plans[4].plan.sequence_parallel = true;
  return plans;
}

// Largest difference between slopes along the path and those of whole simulations, in units of the step's largest slope.
double largest_difference(const ParallelPlan& plan, const StepPath& path, const TaskGraph& graph) {
  constexpr double kNudge = 1e-4;
  const ModelGraph model = make_model_graph(plan);
  double largest = 0, difference = 0;
  for (const Constant& constant : kConstants) {
    ParallelPlan up = plan, down = plan;
    constant.scale(up, 1 + kNudge);
    constant.scale(down, 1 - kNudge);
    const auto step = [&](const ParallelPlan& other) {
      return to_seconds(simulate(model, other, graph, Detail::Summary).step_time).count();
    };
    const double simulated = step(up) - step(down);
    const double along = (time_along(path, model, up, graph) - time_along(path, model, down, graph)).count();
    largest = std::max(largest, std::abs(simulated));
    difference = std::max(difference, std::abs(along - simulated));
  }
  return difference / largest;
}

TEST(StepPath, SlopesAreThoseOfTheSimulatedStep) {
  for (const auto& [name, plan, tolerance] : varied_plans()) {
    const ModelGraph model = make_model_graph(plan);
    const TaskGraph graph = lower(model, plan);
    const StepPath path = simulated_path(model, plan, graph);
    EXPECT_EQ(path.step_time, simulate(model, plan, graph, Detail::Summary).step_time) << name;
    EXPECT_LT(largest_difference(plan, path, graph), tolerance) << name;
  }
}

TEST(StepPath, ATaskThatIsCountedTooOftenIsSeen) {
  for (const auto& [name, plan, tolerance] : varied_plans()) {
    const ModelGraph model = make_model_graph(plan);
    const TaskGraph graph = lower(model, plan);
    StepPath path = simulated_path(model, plan, graph);
    for (PathPrice& price : path.prices) price.times += graph.task(price.task).key.phase == Phase::Backward ? 1 : 0;
    EXPECT_GT(largest_difference(plan, path, graph), tolerance) << name;
  }
}

TEST(StepPath, AddsUpToTheStep) {
  testing::PlanGenerator plans(11);
  for (int drawn = 0; drawn < 60; ++drawn) {
    const ParallelPlan plan = plans.next(drawn % 3 == 0 ? DeviceKind::Cpu : DeviceKind::Gpu);
    const ModelGraph model = make_model_graph(plan);
    const TaskGraph graph = lower(model, plan);
    const StepPath path = simulated_path(model, plan, graph);
    EXPECT_NEAR(time_along(path, model, plan, graph) / to_seconds(path.step_time), 1, 1e-9) << testing::describe(plan);
  }
}

}  // namespace
}  // namespace sim
