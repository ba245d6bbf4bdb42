// Whole tensors by owner: traffic and memory as FairScale's OSS and ShardedDDP have them (docs of fairscale; Rajbhandari et al., ZeRO, SC 2020).
//
//                   gradients            weights             resident, 16-bit Adam
//   OSS + DDP       all-reduce of all    broadcasts of all   4 P + 12 P / N
//   ShardedDDP      reduced to owners    broadcasts of all   2 P + 14 P / N
#include <gtest/gtest.h>

#include <map>

#include "sim/collective/collective.h"
#include "sim/cost/resident_memory.h"
#include "sim/sharding/sharding.h"
#include "sim/task_graph/task_graph.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

constexpr std::int32_t kRanks = 4;

ParallelPlan dealt(std::int32_t stage, std::int32_t ranks = kRanks) {
  ParallelPlan plan = testing::tiny_plan({.data = ranks});
  plan.cluster.hardware.peak.fill(FlopsPerSecond(1e12));
  plan.workload.precision = Precision::Bf16;
  plan.zero_stage = stage;
  plan.state_shards = StateShards::Tensors;
  plan.weight_sync = WeightSync::Broadcast;
  if (stage == 1) plan.gradient_sync = GradientSync::AllReduce;
  return plan;
}

struct Parameters {
  std::int64_t all = 0, largest = 0, tensors = 0;
};
Parameters parameters_of(const ModelGraph& model) {
  Parameters found;
  for (const Layer& layer : model.layers)
    for (const Parameter& parameter : layer.parameters)
      found = {found.all + parameter.elements(), std::max(found.largest, parameter.elements()), found.tensors + 1};
  return found;
}

std::map<Operation, Bytes> payloads(const ParallelPlan& plan) {
  std::map<Operation, Bytes> sums;
  for (const Task& task : lower(make_model_graph(plan), plan).tasks())
    if (task.key.group == MeshAxis::Data) sums[task.key.operation] += task.payload;
  return sums;
}

TEST(Owners, GradientsAndWeightsCrossOnce) {
  for (const std::int32_t stage : {1, 2}) {
    const ParallelPlan plan = dealt(stage);
    const ModelGraph model = make_model_graph(plan);
    Bytes whole{};
    for (const Bucket& bucket : make_buckets(model, plan, StageIndex(0))) whole += Bytes(2) * bucket.elements;
    const auto sums = payloads(plan);
    EXPECT_EQ(sums.at(stage == 1 ? Operation::AllReduce : Operation::ReduceScatter), whole);
    EXPECT_EQ(sums.at(Operation::Broadcast), whole);
    EXPECT_EQ(sums.size(), 2);
    const Parameters parameters = parameters_of(model);
    EXPECT_GE(whole, Bytes(2) * parameters.all);
    EXPECT_LE(whole, Bytes(2) * (parameters.all + parameters.tensors * (kSlotAlignment - 1)));  // slots are aligned, nothing else is padded
  }
}

TEST(Owners, OneGatherMovesWhatTheBroadcastsDo) {
  ParallelPlan plan = dealt(2);
  const Bytes sent = payloads(plan).at(Operation::Broadcast);
  plan.weight_sync = WeightSync::AllGather;
  EXPECT_EQ(payloads(plan).at(Operation::AllGather), sent);
  plan.workload.precision = Precision::Fp32;
  EXPECT_EQ(payloads(plan).at(Operation::AllGather), Bytes(2) * (sent.value()));
  plan.weight_sync = WeightSync::BroadcastFp16;
  EXPECT_EQ(payloads(plan).at(Operation::Broadcast), sent);
}

// The fullest owner has at most one tensor more than an even share: whoever was dealt it had least.
TEST(Owners, HoldTheirShareOfTheStates) {
  for (const std::int32_t ranks : {2, 4, 8})
    for (const std::int32_t stage : {1, 2}) {
      const ParallelPlan plan = dealt(stage, ranks);
      const ModelGraph model = make_model_graph(plan);
      const std::vector<Bucket> buckets = make_buckets(model, plan, StageIndex(0));
      const StageElements elements = stage_elements(plan, buckets);
      const Parameters parameters = parameters_of(model);
      EXPECT_GE(elements.owned, parameters.all / ranks);
      EXPECT_LE(elements.owned, parameters.all / ranks + parameters.largest + parameters.tensors * kSlotAlignment);
      const Bytes expected = stage == 1 ? Bytes(4) * elements.all + Bytes(12) * elements.owned  // 4 P + 12 P / N
                                        : Bytes(2) * elements.all + Bytes(14) * elements.owned;
      EXPECT_EQ(total(resident_memory(plan, elements)), expected);
    }
}

// A ring's busiest link carries all parts but the smallest; of equal parts what an even collective carries.
TEST(Owners, UnequalPartsGoRound) {
  const CollectiveAlgorithm &ring = *find_collective_algorithm("ring"), &direct = *find_collective_algorithm("direct");
  for (const CollectiveKind kind : {CollectiveKind::ReduceScatter, CollectiveKind::AllGather}) {
    const CollectiveShape even{kind, 4, Bytes(4000)};
    CollectiveShape parts = even;
    parts.parts = {.largest = Bytes(1000), .smallest = Bytes(1000)};
    for (const CollectiveAlgorithm* algorithm : {&ring, &direct})
      EXPECT_EQ(bytes_on_wire(*algorithm, parts), bytes_on_wire(*algorithm, even));
    parts.parts = {.largest = Bytes(4000), .smallest = Bytes(0)};  // all of it is one rank's
    EXPECT_EQ(bytes_on_wire(ring, parts), Bytes(4002));            // pieces are rounded up
    EXPECT_EQ(bytes_on_wire(direct, parts), Bytes(12'000));        // to, or from, each of the others
  }
}

}  // namespace
}  // namespace sim
