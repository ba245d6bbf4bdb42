#include "planner/replay.h"

#include <gtest/gtest.h>

#include "sim/engine/simulate.h"
#include "tests/planner/every_plan.h"

namespace planner {
namespace {

sim::SimTime replay_of(const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
  const sim::TaskGraph devices = devices_of(model, plan);
  const Pricer pricer(model, plan, devices);
  const auto layers = pricer.layers();
  const auto transfers = pricer.transfers();
  const auto steps = pricer.steps();
  return replay(model, plan, {layers, transfers, steps}, stage_orders(plan));
}

TEST(Replay, IsNeverAboveTheSimulation) {
  on_every_small_plan([](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    EXPECT_LE(replay_of(model, plan).count(), simulate(model, plan).step_time.count());
  });
}

// Links so wide that nobody waits for another: what remains is order and prices, and they are the same.
TEST(Replay, IsTheSimulationWhereNothingSharesALink) {
  for (SearchRequest request : small_requests()) {
    if (request.cluster.hardware.kind == sim::DeviceKind::Cpu) request.cluster.hardware.cores_per_node = 0;
    request.cluster.hardware.intra_node.bandwidth = sim::BytesPerSecond(1e30);
    request.cluster.hardware.inter_node.bandwidth = sim::BytesPerSecond(1e30);
    const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
    for (const PlanCandidate& candidate : enumerate(request).candidates) {
      SCOPED_TRACE(to_text(candidate));
      const sim::ParallelPlan plan = make_plan(request, candidate);
      if (plan.offload_activations || plan.expert_overlap || plan.mesh.cuts_experts_apart())
        continue;  // copies of inputs, and exchanges beside another microbatch, are not replayed
      if (plan.splits_backward() && plan.mesh.cuts_experts_apart()) continue;  // the last sums of experts' gradients are replayed too early
      EXPECT_EQ(replay_of(model, plan).count(), simulate(model, plan).step_time.count());
    }
  }
}

}  // namespace
}  // namespace planner
