// The rules on a device's tasks, each shown able to fail.
#include "tests/sim/check/graph_parts.h"

namespace sim {
namespace {

using testing::GraphParts;
using ::testing::IsEmpty;
using testing::says;
using testing::tiny_plan;

TEST(CheckWork, AMissingTask) {
  GraphParts parts(tiny_plan({.data = 2, .pipeline = 2}));
  parts.drop(parts.find("m3.l2.forward.mlp"));
  EXPECT_THAT(parts.findings(), says("m3.l2.forward.mlp.none.0 of rank 0 is missing"));
}

TEST(CheckWork, TheLastBucketIsNotFlushed) {
  GraphParts parts(tiny_plan({.data = 2}));
  parts.drop(parts.find("gradients.all_reduce.data"));
  EXPECT_THAT(parts.findings(), says("gradients.all_reduce.data.0 of rank 0 is missing"));
}

TEST(CheckWork, ATaskTwice) {
  GraphParts parts(tiny_plan());
  Task copy = parts.task("m1.l1.backward.mlp");
  parts.tasks.push_back(copy);
  EXPECT_THAT(parts.findings(), says("m1.l1.backward.mlp.none.0 of rank 0 is not in the plan, or is there twice"));
}

TEST(CheckWork, ATaskOfAnotherStage) {
  GraphParts parts(tiny_plan({.pipeline = 2}));
  parts.task("m0.l1.forward.mlp").key.layer = LayerIndex(4);
  EXPECT_THAT(parts.findings(), says("m0.l4.forward.mlp.none.0 of rank 0 is not in the plan"));
}

TEST(CheckWork, AMissingTensorSum) {
  GraphParts parts(tiny_plan({.tensor = 2}));
  parts.drop(parts.find("m2.l1.backward.all_reduce.tensor.1"));
  EXPECT_THAT(parts.findings(), says("m2.l1.backward.all_reduce.tensor.1 of rank 0 is missing"));
}

TEST(CheckWork, WrongBytes) {
  GraphParts parts(tiny_plan({.data = 2}));
  parts.task("gradients.all_reduce.data").payload += Bytes(4);
  EXPECT_THAT(parts.findings(), says("B instead of"));
}

ParallelPlan context_plan(ContextAlgorithm algorithm) {
  ParallelPlan plan = tiny_plan({.context = 4});
  plan.context_algorithm = algorithm;
  return plan;
}

ParallelPlan expert_plan() {
  ParallelPlan plan = tiny_plan({.data = 4, .expert = 2});
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 64};
  return plan;
}

TEST(CheckWork, TheGradientsOfTheLastBlockDoNotGoHome) {
  GraphParts parts(context_plan(ContextAlgorithm::Ring));
  EXPECT_THAT(parts.findings(), ::testing::IsEmpty());
  parts.drop(parts.find("m0.l1.backward.ring_hop.context.4"));
  EXPECT_THAT(parts.findings(), says("m0.l1.backward.ring_hop.context.4 of rank 0 is missing"));
}

TEST(CheckWork, AHopWithoutTheGradients) {
  GraphParts parts(context_plan(ContextAlgorithm::Ring));
  Task& hop = parts.task("m0.l1.backward.ring_hop.context.2");
  hop.payload = hop.payload / std::int64_t{2};
  EXPECT_THAT(parts.findings(), says("B instead of"));
}

TEST(CheckWork, ScoresThatDoNotWaitForTheirBlock) {
  GraphParts parts(context_plan(ContextAlgorithm::Ring));
  const std::size_t hop = parts.find("m0.l1.forward.ring_hop.context.0");
  std::erase_if(parts.edges, [&](const auto& edge) { return edge.first == hop; });
  EXPECT_THAT(parts.findings(), says("attention_scores.none.1 of rank 0 does not wait for"));
}

TEST(CheckWork, HeadsThatDoNotComeBackFromNeighbours) {
  ParallelPlan plan = context_plan(ContextAlgorithm::Hierarchical);
  plan.mesh.context_inner = 2;
  GraphParts parts(plan);
  EXPECT_THAT(parts.findings(), ::testing::IsEmpty());
  parts.drop(parts.find("m0.l1.forward.all_to_all.context_inner.1"));
  EXPECT_THAT(parts.findings(), says("m0.l1.forward.all_to_all.context_inner.1 of rank 0 is missing"));
}

TEST(CheckWork, TokensThatDoNotComeBackFromTheirExperts) {
  GraphParts parts(expert_plan());
  EXPECT_THAT(parts.findings(), ::testing::IsEmpty());
  parts.drop(parts.find("m0.l1.forward.all_to_all.expert.1"));
  EXPECT_THAT(parts.findings(), says("m0.l1.forward.all_to_all.expert.1 of rank 0 is missing"));
}

TEST(CheckWork, ExpertsSummedOverRanksThatHoldOthers) {
  GraphParts parts(expert_plan());
  parts.task("gradients.all_reduce.expert_data").key.group = MeshAxis::Data;
  EXPECT_THAT(parts.findings(), says("is not in the plan"));
}

TEST(CheckWork, AnotherOrderThanTheSchedules) {
  ParallelPlan plan = tiny_plan({.pipeline = 2});
  GraphParts parts(plan);
  parts.plan.schedule = "gpipe";
  EXPECT_THAT(parts.findings(), says("instead of 'F0 F1 F2"));
}

TEST(CheckWork, BackwardBeforeForward) {
  GraphParts parts(tiny_plan());
  parts.swap(parts.find("m0.l1.forward.mlp"), parts.find("m0.l1.backward.mlp"));
  EXPECT_THAT(parts.findings(), says("does not wait for"));
}

TEST(CheckWork, AnUpdateBeforeItsNorm) {
  GraphParts parts(tiny_plan({.data = 2}));
  const std::size_t update = parts.find("step.update");
  parts.cut_edges_to(update);
  EXPECT_THAT(parts.findings(), says("step.update.none.0 of rank 0 does not wait for s0.c-.m-.l-.step.all_reduce.world.0"));
}

TEST(CheckWork, AReductionOfUnfinishedGradients) {
  GraphParts parts(tiny_plan({.data = 2}));
  parts.cut_edges_to(parts.find("gradients.all_reduce.data"));
  EXPECT_THAT(parts.findings(), says("gradients.all_reduce.data.0 of rank 0 does not wait for s0.c0.m"));
}

TEST(CheckWork, ASendBeforeItsForward) {
  GraphParts parts(tiny_plan({.pipeline = 2}));
  parts.cut_edges_to(parts.find("m2.l2.forward.send"));
  EXPECT_THAT(parts.findings(), says("m2.l2.forward.send.pipeline.0 of rank 0 does not wait for s0.c0.m2.l2.forward.mlp.none.0"));
}

// A plan of each way in which steps cross.
ParallelPlan gathered_plan() {
  ParallelPlan plan = tiny_plan({.data = 2});
  plan.zero_stage = 1;
  plan.bucket_size = Bytes(50'000);
  plan.overlap_weight_gather = true;
  return plan;
}
ParallelPlan validated_plan() {
  ParallelPlan plan = tiny_plan({.pipeline = 2});
  plan.cluster.hardware.overlaps_communication = true;
  plan.post_validation = PostValidation::InPlace;
  return plan;
}
ParallelPlan prioritized_plan() {
  ParallelPlan plan = tiny_plan({.data = 2});
  plan.cluster.hardware.overlaps_communication = true;
  plan.partition_size = Bytes(65'536);
  plan.credit_size = Bytes(131'072);
  plan.training.gradient_clip = 0;
  return plan;
}

TEST(CheckWork, AcceptsStepsThatCross) {
  for (const ParallelPlan& plan : {gathered_plan(), validated_plan(), prioritized_plan()})
    for (const Fold& fold : {Fold::Symmetric, Fold::None}) EXPECT_THAT(GraphParts(plan, fold).findings(), IsEmpty());
}

TEST(CheckWork, FindsWeightsOfTheStepBeforeLast) {
  GraphParts unordered(gathered_plan());
  unordered.between_steps.pop_back();  // of the bucket that is stepped last and read first
  EXPECT_THAT(unordered.findings(), says("of the step before"));
  GraphParts unread(gathered_plan());
  std::erase_if(unread.edges, [&](const auto& edge) { return unread.tasks[edge.first].key.operation == Operation::AllGather; });
  EXPECT_THAT(unread.findings(), says("l0.forward.embedding.none.0 of rank 0 does not wait for s0.c-.m-.l0.step.all_gather"));
}

TEST(CheckWork, FindsASumThatItsUpdateDoesNotWaitFor) {
  GraphParts early(prioritized_plan());
  early.between_steps.pop_back();
  EXPECT_THAT(early.findings(), says("of the step before"));
  GraphParts forgotten(prioritized_plan());  // the last part, which nobody flushes
  forgotten.drop(forgotten.between_steps.back().first);
  EXPECT_THAT(forgotten.findings(), says("is missing"));
}

TEST(CheckWork, FindsStepsThatCrossWithoutBeingAsked) {
  GraphParts parts(gathered_plan());
  parts.plan.overlap_weight_gather = false;
  EXPECT_THAT(parts.findings(), says("steps end at a barrier"));
  GraphParts apart(gathered_plan());
  apart.between_steps.clear();
  EXPECT_THAT(apart.findings(), says("steps end at a barrier"));
}

TEST(CheckWork, FindsAStageThatIsNotToldWhatAllFound) {
  GraphParts parts(validated_plan());
  parts.drop(parts.find("step.receive.pipeline.1"));
  EXPECT_THAT(parts.findings(), says("is missing"));
}

}  // namespace
}  // namespace sim
