#include "sim/cost/operator_memory.h"

#include <gtest/gtest.h>

#include "sim/cost/activation_memory.h"
#include "sim/cost/memory_effects.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

ParallelPlan eager_llama() {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.model = testing::tiny_llama();
  plan.zero_stage = 3;
  plan.workload.precision = Precision::Bf16;
  plan.cluster.software = load_software("torchtitan-2026");
  return plan;
}

Bytes total_of(const std::vector<MemoryChange>& changes) {
  Bytes all{};
  for (const MemoryChange& change : changes) all += change.amount;
  return all;
}

Bytes left_of(const std::vector<MemoryChange>& changes, MemoryCategory category) {
  Bytes all{};
  for (const MemoryChange& change : changes)
    if (change.category == category) all += change.amount;
  return all;
}

TEST(OperatorMemory, ABackwardFreesWhatItsSegmentKeptAndLeavesItsGradients) {
  const ParallelPlan plan = eager_llama();
  const ModelGraph model = make_model_graph(plan);
  Bytes gradients{};
  for (const SegmentGraph& segment : model.layer(LayerIndex(1)).segments) {
    const SegmentMemory memory = segment_memory(model, plan, segment);
    const MemoryEffect effect = effect_of(backward_by_operator(model, plan, segment, SegmentRun::Whole).inside);
    EXPECT_EQ(left_of(effect.at_end, MemoryCategory::Activations), -(memory.kept + memory.statistics + memory.stream));
    EXPECT_EQ(left_of(effect.at_end, MemoryCategory::Temporaries), Bytes(0));
    gradients += left_of(effect.at_end, MemoryCategory::Gradients);
  }
  std::int64_t elements = 0;
  for (const Parameter& parameter : model.layer(LayerIndex(1)).parameters) elements += parameter.elements();
  EXPECT_EQ(gradients, Bytes(2) * elements);
}

// Many tokens: at the gated product, whose two gradients come beside both factors and the gradient that they share, once the last product's input is gone.
TEST(OperatorMemory, AnMlpIsFullestAtItsGatedProduct) {
  ParallelPlan plan = eager_llama();
  plan.workload.sequence = plan.model.max_positions = 4096;
  const ModelGraph model = make_model_graph(plan);
  const MemoryEffect effect =
      effect_of(backward_by_operator(model, plan, model.layer(LayerIndex(1)).segments.back(), SegmentRun::Whole).inside);
  EXPECT_EQ(total_of(effect.temporary), Bytes(2) * (2 * 4096 * plan.model.ffn + plan.model.ffn * plan.model.hidden));
}

// torch has twelve bytes of a logit at its fullest: the softmax's logarithm, its gradient and that of what it read, all in fp32.
TEST(OperatorMemory, ALossHoldsThreeLogitsInFp32) {
  const ParallelPlan plan = eager_llama();
  const ModelGraph model = make_model_graph(plan);
  const OperatorSteps steps = backward_by_operator(model, plan, model.layer(model.head()).segments.back(), SegmentRun::Whole);
  const Bytes wide = Bytes(4) * (plan.shard_shape().tokens() * model.padded_vocabulary);
  EXPECT_EQ(total_of(effect_of(steps.loss).temporary), wide * std::int64_t{2}) << "beside the one that is kept";
  EXPECT_EQ(total_of(effect_of(head_forward_by_operator(model, plan, SegmentRun::Whole).loss).temporary), wide * std::int64_t{2});
}

// A part of the vocabulary: the place of the gradient, the exponentials and their sum beside the logarithm.
TEST(OperatorMemory, ALossOfTensorRanksHoldsFourOfItsLogitsInFp32) {
  ParallelPlan plan = eager_llama();
  plan.mesh.tensor = 2;
  plan.sequence_parallel = true;
  const ModelGraph model = make_model_graph(plan);
  const OperatorSteps steps = backward_by_operator(model, plan, model.layer(model.head()).segments.back(), SegmentRun::Core);
  const Bytes wide = Bytes(2) * (plan.shard_shape().tokens() * model.padded_vocabulary);
  EXPECT_EQ(total_of(effect_of(steps.loss).temporary), wide * std::int64_t{3}) << "beside the one that is kept";
}

// However its tasks are cut, what a step leaves is what the table of segments says.
TEST(OperatorMemory, LeavesWhatTheTableOfSegmentsLeaves) {
  for (const std::int32_t tensor : {1, 2}) {
    ParallelPlan plan = eager_llama();
    plan.mesh.tensor = tensor;
    plan.sequence_parallel = tensor > 1;
    const ModelGraph model = make_model_graph(plan);
    const TaskGraph graph = lower(model, plan);
    const MemoryEffects effects(model, plan);
    Bytes by_steps{}, by_table{};
    for (const Task& task : graph.tasks()) {
      const std::optional<OperatorSteps> steps = effects.steps_of(task.key);
      if (!steps) continue;
      for (const MemorySteps* some : {&steps->inside, &steps->loss})
        for (const MemoryChange& change : some->all())
          if (change.category != MemoryCategory::Gradients) by_steps += change.amount;
      const MemoryEffect effect = effects.of(task, graph);
      by_table += total_of(effect.at_start) + total_of(effect.at_end);
    }
    EXPECT_EQ(by_steps, by_table) << tensor << " tensor ranks";
    EXPECT_LT(by_table, Bytes(0)) << "mostly backward";
  }
}

TEST(OperatorMemory, OtherProgramsAndOtherBlocksDoNotRunSo) {
  ParallelPlan plan = eager_llama();
  const auto come = [](const ParallelPlan& of) {
    const ModelGraph model = make_model_graph(of);
    return gradients_come(model, of, model.layer(LayerIndex(1)));
  };
  EXPECT_EQ(come(plan), GradientsCome::ByOperator);
  ParallelPlan biased = plan;
  biased.model.attention_bias = true;
  EXPECT_EQ(come(biased), GradientsCome::AtOnce);
  plan.cluster.software = load_software("megatron-core");
  EXPECT_EQ(come(plan), GradientsCome::AtOnce);
}

}  // namespace
}  // namespace sim
