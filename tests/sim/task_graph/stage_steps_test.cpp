#include <gmock/gmock.h>

#include <algorithm>

#include "sim/task_graph/stage_program.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

StageProgram steps_of(const ParallelPlan& plan, StageIndex stage) {
  const ModelGraph model = make_model_graph(plan);
  return make_stage_program(model, plan, stage, make_buckets(model, plan, stage));
}

std::vector<std::size_t> places_of(const StageProgram& program, Operation operation, MeshAxis group = MeshAxis::None) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < program.tasks.size(); ++at)
    if (program.tasks[at].key.operation == operation && program.tasks[at].key.group == group && program.tasks[at].key.phase == Phase::Step)
      places.push_back(at);
  return places;
}

ParallelPlan gathered_plan() {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.zero_stage = 1;
  plan.bucket_size = Bytes(50'000);
  return plan;
}

TEST(StageSteps, NewWeightsAreGatheredBehindTheirUpdate) {
  const StageProgram plain = steps_of(gathered_plan(), StageIndex(0));
  EXPECT_GT(places_of(plain, Operation::AllGather, MeshAxis::Data).front(), places_of(plain, Operation::Update).front());
  EXPECT_TRUE(plain.edges_between_steps.empty());
}

// The bucket that forward reads first comes first, and each stands in front of what reads it, the next one beside that.
TEST(StageSteps, OrBesideTheNextForward) {
  ParallelPlan plan = gathered_plan();
  const std::size_t gathers = places_of(steps_of(plan, StageIndex(0)), Operation::AllGather, MeshAxis::Data).size();
  plan.overlap_weight_gather = true;
  const StageProgram program = steps_of(plan, StageIndex(0));
  const std::vector<std::size_t> places = places_of(program, Operation::AllGather, MeshAxis::Data);
  ASSERT_EQ(places.size(), gathers);
  ASSERT_GT(gathers, 2u);
  EXPECT_EQ(places[0], 0u);
  EXPECT_EQ(places[1], 1u);
  for (std::size_t at = 1; at < places.size(); ++at)
    EXPECT_LE(program.tasks[places[at - 1]].key.layer, program.tasks[places[at]].key.layer);
  EXPECT_EQ(program.edges_between_steps.size(), gathers);
  for (const auto& [update, gather] : program.edges_between_steps)
    EXPECT_EQ(program.tasks[static_cast<std::size_t>(update)].bucket, program.tasks[static_cast<std::size_t>(gather)].bucket);
}

// Chunks 0 and 1 as the step begins; chunk 2 before the first forward of chunk 1, and as many forwards earlier as stages lie in front.
TEST(StageSteps, ChunksAreGatheredAheadOnAllStagesAtOnce) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2});
  plan.model.layers = 6;
  plan.schedule = "interleaved";
  plan.chunks = 3;
  plan.cut = even_cut(6, plan.pipeline_shape());
  plan.zero_stage = 1;
  plan.overlap_weight_gather = true;
  ASSERT_THAT(violations(plan), ::testing::IsEmpty());
  for (StageIndex stage(0); stage.value() < 2; ++stage) {
    const StageProgram program = steps_of(plan, stage);
    std::vector<std::size_t> begun(3, 0);  // by chunk: forwards that began before its first gather
    std::vector<bool> seen(3, false);
    std::int32_t chunk = -1;
    MicrobatchIndex microbatch;
    std::size_t forwards = 0;
    for (const Task& task : program.tasks) {
      if (task.key.phase == Phase::Forward && task.stream == Stream::Compute &&
          (task.key.chunk.value() != chunk || task.key.microbatch != microbatch)) {
        ++forwards;
        chunk = task.key.chunk.value();
        microbatch = task.key.microbatch;
      }
      if (task.key.phase != Phase::Step || task.key.operation != Operation::AllGather) continue;
      const std::size_t gathered = make_buckets(make_model_graph(plan), plan, stage)[task.bucket.position()].chunk.position();
      if (!seen[gathered]) begun[gathered] = forwards;
      seen[gathered] = true;
    }
    EXPECT_THAT(begun, ::testing::ElementsAre(0, 0, 2 - stage.position()));
  }
}

TEST(StageSteps, StagesTellEachOtherOfAStepInTurn) {
  ParallelPlan plan = testing::tiny_plan({.pipeline = 4});
  plan.cluster.hardware.overlaps_communication = true;
  plan.post_validation = PostValidation::InPlace;
  ASSERT_THAT(violations(plan), ::testing::IsEmpty());
  for (StageIndex stage(0); stage.value() < 4; ++stage) {
    const StageProgram program = steps_of(plan, stage);
    const std::size_t first = stage.value() == 0, last = stage.value() == 3;
    EXPECT_TRUE(places_of(program, Operation::AllReduce, MeshAxis::World).empty());
    EXPECT_EQ(places_of(program, Operation::Send, MeshAxis::Pipeline).size(), 2 - first - last);
    EXPECT_EQ(places_of(program, Operation::Receive, MeshAxis::Pipeline).size(), 2 - first - last);
    EXPECT_EQ(program.edges_between_steps.size(), places_of(program, Operation::Update).size() + last);
  }
}

// Parts carry all of a layer's gradients; its update stands in front of its forward, where the step before has summed them.
TEST(StageSteps, SumsByPriorityAreCutIntoParts) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.partition_size = Bytes(65'536);
  plan.credit_size = Bytes(262'144);
  plan.training.gradient_clip = 0;
  ASSERT_THAT(violations(plan), ::testing::IsEmpty());
  const ModelGraph model = make_model_graph(plan);
  const std::vector<Bucket> buckets = make_buckets(model, plan, StageIndex(0));
  const StageProgram program = make_stage_program(model, plan, StageIndex(0), buckets);
  std::vector<Bytes> summed(buckets.size());
  std::size_t parts = 0;
  for (const Task& task : program.tasks) {
    if (task.priority < 0) continue;
    ++parts;
    EXPECT_LE(task.payload, plan.partition_size);
    EXPECT_EQ(task.priority, buckets[task.bucket.position()].ready_after.value());
    summed[task.bucket.position()] += task.payload;
  }
  EXPECT_GT(parts, buckets.size());
  for (std::size_t at = 0; at < buckets.size(); ++at) EXPECT_EQ(summed[at], plan.bytes(Numbers::Wire) * buckets[at].elements);
  EXPECT_EQ(program.edges_between_steps.size(), parts);
  EXPECT_TRUE(places_of(program, Operation::NormPart).empty());
  EXPECT_EQ(places_of(program, Operation::Update).size(), buckets.size());
  EXPECT_EQ(places_of(program, Operation::Update).front(), 0u);
}

ParallelPlan in_backward(DeviceMesh mesh, std::int32_t zero_stage = 0) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.workload.global_batch = mesh.data * plan.microbatch_size;
  plan.training.gradient_clip = 0;
  plan.zero_stage = zero_stage;
  plan.optimizer_in_backward = true;
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
  return plan;
}

std::size_t last_backward_of(const StageProgram& program, LayerIndex layer) {
  std::size_t last = 0;
  for (std::size_t at = 0; at < program.tasks.size(); ++at)
    if (program.tasks[at].key.phase == Phase::Backward && program.tasks[at].key.layer == layer) last = at;
  return last;
}

// One layer after the other, each before the backward of the layers below it; the norm is behind all of them, and asks for nothing.
TEST(StageSteps, WeightsAreSteppedInTheBackward) {
  const ParallelPlan plan = in_backward({});
  const StageProgram program = steps_of(plan, StageIndex(0));
  const std::vector<std::size_t> updates = places_of(program, Operation::Update);
  const ModelGraph model = make_model_graph(plan);
  ASSERT_EQ(updates.size(), model.layers.size());
  for (const std::size_t update : updates) {
    const LayerIndex layer = program.tasks[update].key.layer;
    EXPECT_GT(update, last_backward_of(program, layer));
    if (layer.value() > 0) {
      EXPECT_LT(update, last_backward_of(program, LayerIndex(layer.value() - 1)));
    }
    EXPECT_EQ(program.tasks[update].stream, Stream::Compute);
  }
  EXPECT_EQ(places_of(program, Operation::NormPart), std::vector{program.tasks.size() - 1});
}

// A weight that two layers read is stepped behind both.
TEST(StageSteps, ATiedWeightWaitsForItsLastReader) {
  const ParallelPlan plan = in_backward({});
  ASSERT_TRUE(plan.reads_embedding(plan.head()));
  const StageProgram program = steps_of(plan, StageIndex(0));
  const std::vector<Bucket> buckets = make_buckets(make_model_graph(plan), plan, StageIndex(0));
  for (const std::size_t update : places_of(program, Operation::Update))
    for (const BucketSlot& slot : buckets[program.tasks[update].bucket.position()].slots)
      if (slot.layer == LayerIndex(0)) {
        EXPECT_GT(update, last_backward_of(program, LayerIndex(0)));
      }
}

// Behind the sum of its bucket, in its stream: no backward waits.
TEST(StageSteps, OrBehindTheirSums) {
  for (const std::int32_t stage : {0, 3}) {
    const StageProgram program = steps_of(in_backward({.data = 4, .replicas = stage == 3 ? 2 : 1}, stage), StageIndex(0));
    for (const std::size_t update : places_of(program, Operation::Update)) {
      EXPECT_EQ(program.tasks[update].stream, Stream::Reduce);
      EXPECT_EQ(program.tasks[update - 1].key.phase, Phase::Gradients);
      EXPECT_EQ(program.tasks[update - 1].bucket, program.tasks[update].bucket);
    }
  }
}

}  // namespace
}  // namespace sim
