#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/task_graph/task_graph.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using ::testing::ElementsAre;

TaskGraph lowered(const ParallelPlan& plan, Fold fold = Fold::Symmetric) { return lower(make_model_graph(plan), plan, fold); }

// The phase and operation of the tasks of one device in one microbatch's visit of a layer.
std::vector<std::string> kinds(const TaskGraph& graph, const ParallelPlan& plan, MicrobatchIndex microbatch, LayerIndex layer) {
  std::vector<std::string> texts;
  for (const Task& task : rank_slice(graph, plan, Rank(0)))
    if (task.key.microbatch == microbatch && task.key.layer == layer) texts.push_back(kind_text(task.key));
  return texts;
}

std::int64_t count(const TaskGraph& graph, Phase phase, Operation operation) {
  return std::count_if(graph.tasks().begin(), graph.tasks().end(),
                       [&](const Task& task) { return task.key.phase == phase && task.key.operation == operation; });
}

TEST(Lower, ABlockAloneIsTwoTasksEachWay) {
  const ParallelPlan plan = testing::tiny_plan();
  EXPECT_THAT(kinds(lowered(plan), plan, MicrobatchIndex(0), LayerIndex(2)),
              ElementsAre("forward.attention", "forward.mlp", "backward.mlp", "backward.attention"));
}

TEST(Lower, TensorParallelSumsInBothDirections) {
  const ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
  EXPECT_THAT(kinds(lowered(plan), plan, MicrobatchIndex(0), LayerIndex(2)),
              ElementsAre("forward.attention", "forward.all_reduce.tensor", "forward.attention_residual", "forward.mlp",
                          "forward.all_reduce.tensor", "forward.mlp_residual", "backward.mlp", "backward.all_reduce.tensor",
                          "backward.mlp_norm", "backward.attention", "backward.all_reduce.tensor", "backward.attention_norm"));
}

TEST(Lower, RecomputeRunsTheBlockAgainBeforeItsBackward) {
  ParallelPlan plan = testing::tiny_plan();
  plan.recompute = Recompute::Full;
  EXPECT_THAT(
      kinds(lowered(plan), plan, MicrobatchIndex(1), LayerIndex(1)),
      ElementsAre("forward.attention", "forward.mlp", "recompute.attention", "recompute.mlp", "backward.mlp", "backward.attention"));
  EXPECT_THAT(kinds(lowered(plan), plan, MicrobatchIndex(1), LayerIndex(5)), ElementsAre("forward.head", "backward.head"));
}

TEST(Lower, InputsOfBlocksGoToTheHostAndComeBackBeforeTheyAreNeeded) {
  ParallelPlan plan = testing::tiny_plan();
  plan.recompute = Recompute::Full;
  plan.offload_activations = true;
  plan.prefetch = 0;
  EXPECT_THAT(kinds(lowered(plan), plan, MicrobatchIndex(1), LayerIndex(1)),
              ElementsAre("forward.attention", "forward.mlp", "forward.copy_to_host", "backward.copy_to_device", "recompute.attention",
                          "recompute.mlp", "backward.mlp", "backward.attention"));
  plan.prefetch = 1;  // beside the backward of the layer above
  const TaskGraph graph = lowered(plan);
  const std::vector<Task> slice = rank_slice(graph, plan, Rank(0));
  const auto back = std::find_if(slice.begin(), slice.end(), [](const Task& task) {
    return task.key.operation == Operation::CopyToDevice && task.key.layer == LayerIndex(1) && task.key.microbatch == MicrobatchIndex(0);
  });
  ASSERT_NE(back, slice.end());
  EXPECT_EQ(std::next(back)->key.layer, LayerIndex(2));
}

TEST(Lower, StageThreeGathersJustInTimeAndFrees) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.zero_stage = 3;
  plan.prefetch = 0;
  EXPECT_THAT(kinds(lowered(plan), plan, MicrobatchIndex(3), LayerIndex(2)),
              ElementsAre("forward.all_gather.data", "forward.attention", "forward.mlp", "forward.reshard", "backward.all_gather.data",
                          "backward.mlp", "backward.attention", "backward.reshard", "gradients.reduce_scatter.data"));
}

// Two blocks a unit: what starts a unit gathers it and the next one, what ends it frees it.
TEST(Lower, BlocksOfAUnitComeAndGoTogether) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.zero_stage = 3;
  plan.layers_per_unit = 2;
  const TaskGraph graph = lowered(plan);
  EXPECT_THAT(kinds(graph, plan, MicrobatchIndex(3), LayerIndex(1)),
              ElementsAre("forward.all_gather.data", "forward.attention", "forward.mlp", "forward.reshard", "backward.all_gather.data",
                          "backward.mlp", "backward.attention", "backward.reshard", "gradients.reduce_scatter.data"));
  EXPECT_THAT(kinds(graph, plan, MicrobatchIndex(3), LayerIndex(2)),
              ElementsAre("forward.attention", "forward.mlp", "backward.mlp", "backward.attention"));
  std::vector<std::string> order;
  for (const Task& task : rank_slice(graph, plan, Rank(0)))
    if (task.key.microbatch == MicrobatchIndex(0) && task.key.phase == Phase::Forward && task.key.operation != Operation::Mlp)
      order.push_back(std::string(kOperationNames[static_cast<std::size_t>(task.key.operation)]) + std::to_string(task.key.layer.value()));
  EXPECT_THAT(order, ElementsAre("all_gather0", "all_gather1", "embedding0", "reshard0", "all_gather3", "attention1", "attention2",
                                 "reshard1", "all_gather5", "all_gather5", "attention3", "attention4", "reshard3",
                                 "head5"));  // the head reads the embedding, too
  EXPECT_EQ(count(graph, Phase::Gradients, Operation::ReduceScatter), 4);
}

// Forward leaves a part with each of two neighbours, who gather it for the backward; the next forward gathers from all.
TEST(Lower, WhatNeighboursKeepIsGatheredFromThem) {
  ParallelPlan plan = testing::tiny_plan({.data = 4, .pipeline = 1, .tensor = 1, .reshard = 2});
  plan.zero_stage = 3;
  ASSERT_TRUE(violations(plan).empty());
  for (const MicrobatchIndex microbatch : {MicrobatchIndex(0), MicrobatchIndex(1)})
    EXPECT_THAT(kinds(lowered(plan), plan, microbatch, LayerIndex(2)),
                ::testing::IsSupersetOf({"forward.all_gather.data", "forward.reshard", "backward.all_gather.reshard", "backward.reshard"}));
  EXPECT_EQ(count(lowered(plan), Phase::Backward, Operation::AllGather), 5 * plan.num_microbatches());  // the head is still there
}

// The second copy is made by the first forward of a step; every gather behind it is of neighbours.
TEST(Lower, ASecondCopyIsGatheredFromNeighboursUntilTheStep) {
  ParallelPlan plan = testing::tiny_plan({.data = 4, .pipeline = 1, .tensor = 1, .reshard = 2});
  plan.zero_stage = 3;
  plan.kept_until = KeptUntil::Step;
  ASSERT_TRUE(violations(plan).empty());
  const TaskGraph graph = lowered(plan);
  EXPECT_THAT(kinds(graph, plan, MicrobatchIndex(0), LayerIndex(2)),
              ::testing::IsSupersetOf({"forward.all_gather.data", "forward.reshard", "backward.all_gather.reshard", "backward.reshard"}));
  EXPECT_THAT(
      kinds(graph, plan, MicrobatchIndex(1), LayerIndex(2)),
      ::testing::IsSupersetOf({"forward.all_gather.reshard", "forward.reshard", "backward.all_gather.reshard", "backward.reshard"}));
}

TEST(Lower, WithoutReshardingAUnitIsGatheredOnceAStep) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.zero_stage = 3;
  plan.reshard_after_forward = false;
  const TaskGraph graph = lowered(plan);
  EXPECT_EQ(count(graph, Phase::Forward, Operation::AllGather), 6);
  EXPECT_EQ(count(graph, Phase::Backward, Operation::AllGather), 0);
  EXPECT_EQ(count(graph, Phase::Backward, Operation::Reshard), 6);
}

TEST(Lower, ABackwardGivesWeightsUpWithEachMicrobatchOrTheLast) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.zero_stage = 3;
  plan.model.tied_embeddings = false;
  const std::int64_t microbatches = plan.num_microbatches(), units = 6;
  const auto gathers = [&](bool reshard, ReshardAfterBackward when) {
    plan.reshard_after_forward = reshard, plan.reshard_after_backward = when;
    EXPECT_THAT(violations(plan), ::testing::IsEmpty());
    const TaskGraph graph = lowered(plan);
    return std::pair(count(graph, Phase::Forward, Operation::AllGather), count(graph, Phase::Backward, Operation::AllGather));
  };
  EXPECT_EQ(gathers(false, ReshardAfterBackward::Last), std::pair(units, std::int64_t{0}));
  EXPECT_EQ(gathers(false, ReshardAfterBackward::Each), std::pair(units * microbatches, std::int64_t{0}));
  const auto [forward, backward] = gathers(true, ReshardAfterBackward::Last);
  EXPECT_EQ(forward, units) << "a later forward reads what the backward in front of it left";
  EXPECT_EQ(backward, (units - 1) * microbatches) << "the head's is there";
}

// Between them and the head go the streams of all depths; the copy of the token table is theirs.
TEST(Lower, PredictionsApartHandAllDepthsToTheHead) {
  const ParallelPlan plan = testing::plan_with_predictions_apart({.data = 2, .pipeline = 4}, 2);
  const TaskGraph graph = lowered(plan);
  std::map<std::pair<std::int32_t, Phase>, Bytes> received;
  std::set<std::int32_t> tied;
  for (const Task& task : graph.tasks()) {
    if (task.key.operation == Operation::Receive) received[{task.key.stage.value(), task.key.phase}] = task.payload;
    if (task.key.group == MeshAxis::Embedding) tied.insert(task.key.stage.value());
  }
  const Bytes stream = plan.message_into(LayerIndex(1));
  EXPECT_EQ((received[{3, Phase::Forward}]), stream * std::int64_t{3});
  EXPECT_EQ((received[{2, Phase::Backward}]), stream * std::int64_t{3});
  EXPECT_EQ((received[{2, Phase::Forward}]), stream);
  EXPECT_EQ((received[{1, Phase::Backward}]), stream);
  EXPECT_EQ(tied, (std::set{0, 2}));
}

// Two stages, the first one frozen: it computes forward alone, and nobody sends it a gradient.
TEST(Lower, NothingGoesBackInFrontOfWhatIsTrained) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2});
  plan.zero_stage = 3;
  plan.model.tied_embeddings = false;
  plan.model.frozen.first = 2;
  ASSERT_TRUE(violations(plan).empty());
  const auto phases = [&](Rank rank) {
    std::set<Phase> all;
    for (const Task& task : rank_slice(lowered(plan), plan, rank)) all.insert(task.key.phase);
    return all;
  };
  EXPECT_EQ(phases(Rank(0)), (std::set{Phase::Forward, Phase::Step}));
  EXPECT_EQ(phases(Rank(2)), (std::set{Phase::Forward, Phase::Backward, Phase::Gradients, Phase::Step}));
  const std::vector<Task> second = rank_slice(lowered(plan), plan, Rank(2));
  EXPECT_EQ(std::ranges::count(second, Operation::Send, [](const Task& task) { return task.key.operation; }), 0);
}

// Of a program that synchronises its device in front of each.
TEST(Lower, GathersByListsWaitForTheReductionsBeforeThem) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.zero_stage = 3, plan.prefetch = 0;
  const auto waiting = [&](bool lists) {
    plan.cluster.software.unit_lists = lists;
    const TaskGraph graph = lowered(plan);
    return std::ranges::count_if(boost::make_iterator_range(boost::edges(graph.edges())), [&](const auto& edge) {
      const Task& from = graph.tasks()[boost::source(edge, graph.edges())];
      const Task& to = graph.tasks()[boost::target(edge, graph.edges())];
      return from.stream == Stream::Reduce && to.stream == Stream::Gather && to.key.phase != Phase::Step;
    });
  };
  EXPECT_EQ(waiting(false), 0);
  EXPECT_GT(waiting(true), 0);
}

TEST(Lower, EveryGatherIsFreed) {
  for (std::int32_t prefetch = 0; prefetch <= kMostPrefetched; ++prefetch)
    for (const auto& [reshard, last] : {std::pair(false, false), {true, false}, {true, true}}) {
      ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 1});
      plan.zero_stage = 3;
      plan.prefetch = prefetch;
      plan.reshard_after_forward = reshard;
      if (last) plan.reshard_after_backward = ReshardAfterBackward::Last;
      std::set<BucketIndex> alive;
      for (const Task& task : rank_slice(lowered(plan), plan, Rank(2))) {
        if (task.key.operation == Operation::AllGather) {
          EXPECT_TRUE(alive.insert(task.bucket).second) << to_text(task.key);
        }
        if (task.key.operation == Operation::Reshard) {
          EXPECT_EQ(alive.erase(task.bucket), 1u) << to_text(task.key);
        }
      }
      EXPECT_TRUE(alive.empty());
    }
}

TEST(Lower, ReduceEachReducesEveryMicrobatch) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  EXPECT_EQ(count(lowered(plan), Phase::Gradients, Operation::AllReduce), 1);
  plan.accumulation = Accumulation::ReduceEach;
  EXPECT_EQ(count(lowered(plan), Phase::Gradients, Operation::AllReduce), 4);
  EXPECT_EQ(count(lowered(plan), Phase::Gradients, Operation::Accumulate), 4);
}

TEST(Lower, OptimizerShardsGatherTheirWeights) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.zero_stage = 1;
  EXPECT_EQ(count(lowered(plan), Phase::Gradients, Operation::ReduceScatter), 1);
  EXPECT_EQ(count(lowered(plan), Phase::Step, Operation::AllGather), 1);
}

// What becomes of one bucket on the way to new weights.
std::vector<std::string> way_of_a_bucket(const ParallelPlan& plan) {
  std::vector<std::string> texts;
  for (const Task& task : rank_slice(lowered(plan), plan, Rank(0)))
    if (task.key.phase >= Phase::Gradients && task.bucket == BucketIndex(0))
      texts.push_back(kind_text(task.key) + " " + std::string(kStreamNames[static_cast<std::size_t>(task.stream)]));
  return texts;
}

TEST(Lower, AnOffloadedOptimizerTakesGradientsAndGivesWeights) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.zero_stage = 2;
  plan.offload_optimizer = true;
  EXPECT_THAT(way_of_a_bucket(plan), ElementsAre("gradients.reduce_scatter.data reduce", "gradients.copy_to_host to_host",
                                                 "step.host_update host", "step.copy_to_device to_device", "step.all_gather.data gather"));
  plan.zero_stage = 3;
  EXPECT_THAT(way_of_a_bucket(plan).back(), "step.copy_to_device to_device");
}

TEST(Lower, GradientsGoToTheHostBesideTheBackwardOfTheLayersBelow) {
  ParallelPlan plan = testing::tiny_plan();
  plan.offload_optimizer = true;
  plan.bucket_size = Bytes(1);  // a bucket a parameter
  const std::vector<Task> slice = rank_slice(lowered(plan), plan, Rank(0));
  const auto of = [](Operation operation) { return [=](const Task& task) { return task.key.operation == operation; }; };
  const auto first_copy = std::find_if(slice.begin(), slice.end(), of(Operation::CopyToHost));
  ASSERT_NE(first_copy, slice.end());
  EXPECT_GT(std::count_if(first_copy, slice.end(), [](const Task& task) { return task.key.phase == Phase::Backward; }), 6);
  EXPECT_EQ(std::count_if(slice.begin(), slice.end(), of(Operation::CopyToHost)),
            std::count_if(slice.begin(), slice.end(), of(Operation::HostUpdate)));
}

TEST(Lower, SendsMeetReceives) {
  for (const Fold& fold : {Fold::Symmetric, Fold::None}) {
    const ParallelPlan plan = testing::interleaved_plan({.data = 2, .pipeline = 2, .tensor = 1}, 2);
    const TaskGraph graph = lowered(plan, fold);
    const int lines = fold == Fold::Symmetric ? 1 : 2;
    EXPECT_EQ(count(graph, Phase::Forward, Operation::Send), 3 * 4 * lines);
    for (const auto edge : boost::make_iterator_range(boost::edges(graph.edges()))) {
      const Task& from = graph.tasks()[boost::source(edge, graph.edges())];
      const Task& to = graph.tasks()[boost::target(edge, graph.edges())];
      if (from.key.operation != Operation::Send) continue;
      EXPECT_EQ(to.key.operation, Operation::Receive);
      EXPECT_EQ(from.key.microbatch, to.key.microbatch);
      EXPECT_EQ(from.peer, to.device);
      EXPECT_EQ(std::abs(from.key.layer.value() - to.key.layer.value()), 1);
    }
  }
}

TEST(Lower, UnfoldedHasADeviceARankWithTheTasksOfItsSlice) {
  const ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 2});
  const TaskGraph folded = lowered(plan), unfolded = lowered(plan, Fold::None);
  ASSERT_EQ(unfolded.devices().size(), 8u);
  for (Rank rank{0}; rank.value() < 8; ++rank) {
    const std::vector<Task> slice = rank_slice(folded, plan, rank);
    const auto order = unfolded.issue_order(DeviceId(rank.value()));
    ASSERT_EQ(order.size(), slice.size());
    for (std::size_t at = 0; at < slice.size(); ++at) EXPECT_EQ(unfolded.task(order[at]).key, slice[at].key);
  }
}

TEST(Lower, GroupsMeetInFull) {
  const ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 2});
  const TaskGraph graph = lowered(plan, Fold::None);
  for (const Task& task : graph.tasks()) {
    if (task.rendezvous < 0) continue;
    const std::size_t members = plan.mesh.group(graph.devices()[task.device.position()].representative, task.key.group).size();
    EXPECT_EQ(graph.rendezvous_sizes()[static_cast<std::size_t>(task.rendezvous)], static_cast<std::int32_t>(members)) << to_text(task.key);
  }
}

TEST(Lower, KeysAreUniqueOnADevice) {
  for (const std::int32_t zero : {0, 1, 3}) {
    ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 2});
    plan.zero_stage = zero;
    plan.bucket_size = Bytes(40'000);
    plan.recompute = Recompute::Full;
    plan.accumulation = Accumulation::ReduceEach;
    for (Rank rank{0}; rank.value() < 8; ++rank) {
      std::set<TaskKey> keys;
      for (const Task& task : rank_slice(lowered(plan), plan, rank)) EXPECT_TRUE(keys.insert(task.key).second) << to_text(task.key);
    }
  }
}

// Each bucket by both at once: what the host has made comes up when the device has stepped its part, too.
TEST(Lower, AShareOfTheOptimizerIsSteppedOnTheDevice) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.zero_stage = 2;
  plan.offload_optimizer = true;
  plan.offload_share = 0.25;
  EXPECT_THAT(way_of_a_bucket(plan),
              ElementsAre("gradients.reduce_scatter.data reduce", "gradients.copy_to_host to_host", "step.update compute",
                          "step.host_update host", "step.copy_to_device to_device", "step.all_gather.data gather"));
  const TaskGraph graph = lowered(plan);
  for (const Task& task : rank_slice(graph, plan, Rank(0))) {
    const bool is_copy = task.key.operation == Operation::CopyToHost || task.key.operation == Operation::CopyToDevice;
    if (!is_copy) continue;
    const Bucket& bucket = graph.buckets()[0][task.bucket.position()];
    EXPECT_EQ(task.payload, Bytes(4) * ((bucket.shard_elements + 3) / 4)) << kind_text(task.key);
  }
}

}  // namespace
}  // namespace sim
