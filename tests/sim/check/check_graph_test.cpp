// check_graph accepts what lower() makes, over every kind of plan, and refuses wrong devices.
#include "tests/sim/check/graph_parts.h"

namespace sim {
namespace {

using testing::GraphParts;
using testing::interleaved_plan;
using ::testing::IsEmpty;
using testing::says;
using testing::tiny_plan;

// Every value of every field that lower() looks at, over several meshes.
std::vector<ParallelPlan> many_plans() {
  std::vector<ParallelPlan> plans;
  for (const DeviceMesh mesh :
       {DeviceMesh{}, DeviceMesh{.data = 2}, DeviceMesh{.pipeline = 2}, DeviceMesh{.tensor = 2}, DeviceMesh{.data = 2, .pipeline = 2},
        DeviceMesh{.data = 4, .tensor = 2}, DeviceMesh{.pipeline = 4, .tensor = 2}, DeviceMesh{.data = 2, .pipeline = 2, .tensor = 2}})
    for (const std::int32_t zero : {0, 1, 2, 3})
      for (const Accumulation accumulation : {Accumulation::ReduceLast, Accumulation::ReduceEach})
        for (const bool varied : {false, true}) {
          ParallelPlan plan = tiny_plan(mesh);
          plan.zero_stage = zero;
          plan.accumulation = accumulation;
          plan.bucket_size = Bytes(varied ? 1 << 12 : 25 << 20);
          plan.recompute = varied ? Recompute::Full : Recompute::None;
          plan.sequence_parallel = varied && mesh.tensor > 1;
          plan.reshard_after_forward = !varied;
          plan.prefetch = varied ? 2 : 1;
          plan.layers_per_unit = varied == (accumulation == Accumulation::ReduceEach) ? 2 : 1;
          plan.schedule = varied ? "gpipe" : "1f1b";
          plan.cluster.hardware.overlaps_communication = varied;
          plans.push_back(plan);
          plan.offload_optimizer = true;
          plan.offload_activations = varied;
          plans.push_back(plan);
        }
  for (const DeviceMesh mesh : {DeviceMesh{.pipeline = 2}, DeviceMesh{.data = 2, .pipeline = 2}, DeviceMesh{.pipeline = 2, .tensor = 2}})
    for (const std::int32_t zero : {0, 3}) {
      plans.push_back(interleaved_plan(mesh, 2));
      plans.back().zero_stage = zero;
      plans.push_back(plans.back());
      plans.back().schedule = "looped-bfs";
    }
  for (const std::string schedule : {"gpipe", "1f1b", "looped-bfs"})
    for (const DeviceMesh mesh :
         {DeviceMesh{.pipeline = 2}, DeviceMesh{.data = 2, .pipeline = 2, .tensor = 2}, DeviceMesh{.pipeline = 2, .tensor = 4}})
      for (const std::int32_t zero : {0, 1, 2, 3}) {
        plans.push_back(schedule == "looped-bfs" ? interleaved_plan(mesh, 2) : tiny_plan(mesh));
        plans.back().schedule = schedule;
        plans.back().zero_stage = zero;
        plans.back().slices = zero == 1 ? 4 : 2;
        plans.back().microbatch_size = zero == 1 ? 2 : 1;
        if (mesh.tensor == 4) plans.back().model = testing::tiny_llama();  // whose key/value heads they share
        plans.back().sequence_parallel = mesh.tensor > 1 && zero != 2;
        plans.back().model.residual_dropout = zero == 3 ? 0.1 : 0;
      }
  for (const std::string schedule : {"zb-1p", "zb-2p", "zbv", "v-half", "v-min", "dualpipev"})
    for (const DeviceMesh mesh : {DeviceMesh{.pipeline = 2}, DeviceMesh{.data = 2, .pipeline = 2, .tensor = 2}})
      for (const std::int32_t zero : {0, 1, 2, 3}) {
        plans.push_back(find_schedule(schedule)->placement == ChunkPlacement::V ? interleaved_plan(mesh, 2) : tiny_plan(mesh));
        plans.back().schedule = schedule;
        plans.back().zero_stage = zero;
        plans.back().recompute = zero == 2 ? Recompute::Full : Recompute::None;
        plans.back().sequence_parallel = zero == 3 && mesh.tensor > 1;
        plans.back().offload_optimizer = zero == 1;
        plans.back().offload_activations = zero == 2;
        const PrecisionPolicy scaled =
            PrecisionPolicy(Precision::Fp32).with(zero == 2 ? ScaleRecipe::Rowwise : ScaleRecipe::Tensorwise, /*gathers_scaled=*/false);
        if (zero > 1) plans.back().workload.precision = scaled;  // tensor ranks agree on scales
      }
  plans.push_back(tiny_plan({.data = 2, .pipeline = 4}));
  plans.back().model = testing::tiny_llama();
  plans.back().microbatch_size = 4;  // one microbatch on four stages
  return plans;
}

std::string name(const ParallelPlan& plan) {
  return plan.schedule + " D" + std::to_string(plan.mesh.data) + " P" + std::to_string(plan.mesh.pipeline) + " T" +
         std::to_string(plan.mesh.tensor) + " zero" + std::to_string(plan.zero_stage) +
         (plan.sequence_parallel ? " sequence parallel" : "");
}

TEST(CheckGraph, AcceptsWhatLowerMakes) {
  const Fold first_apart{.data = {.all_apart = false, .apart = {0}}, .tensor = {}};
  for (const ParallelPlan& plan : many_plans()) {
    ASSERT_THAT(violations(plan), IsEmpty()) << name(plan);
    const ModelGraph model = make_model_graph(plan);
    for (const Fold& fold : {Fold::Symmetric, Fold::None, first_apart})
      EXPECT_THAT(check_graph(model, plan, lower(model, plan, fold)), IsEmpty()) << name(plan);
  }
}

TEST(CheckGraph, TakingAGraphApartChangesNothing) {
  for (const Fold& fold : {Fold::Symmetric, Fold::None})
    EXPECT_THAT(GraphParts(tiny_plan({.data = 2, .pipeline = 2, .tensor = 2}), fold).findings(), IsEmpty());
}

TEST(CheckGraph, WrongDevices) {
  const ParallelPlan plan = tiny_plan({.data = 2, .pipeline = 2});
  GraphParts parts(plan);
  parts.devices[0].multiplicity = 1;
  EXPECT_THAT(parts.findings(), says("stand for 1 ranks instead of 2"));
  parts = GraphParts(plan);
  parts.devices[1].stage = StageIndex(0);
  EXPECT_THAT(parts.findings(), says("stands on stage 0"));
  parts = GraphParts(plan);
  parts.devices[1].representative = Rank(99);
  EXPECT_THAT(parts.findings(), says("rank 99"));
  parts = GraphParts(plan);
  parts.devices.push_back(parts.devices.back());
  EXPECT_THAT(parts.findings(), says("or twice"));
  parts = GraphParts(plan);
  parts.buckets.pop_back();
  EXPECT_THAT(parts.findings(), says("buckets of 1 stages"));
}

}  // namespace
}  // namespace sim
