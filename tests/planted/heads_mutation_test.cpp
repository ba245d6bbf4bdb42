// Planted bugs of blocks that are made again together, of heads that tensor ranks meet for, of keys that come block by block, of products in 8 bit of experts and beside adapters, and of Muon's parts.
#include "tests/parity/muon_of_parts.h"
#include "tests/planted/mutations.h"

namespace parity {
namespace {

using HeadMutations = OnTwoRanks;

sim::ParallelPlan on_tensor_ranks(const sim::ModelConfig& model, bool sequence = false) {
  sim::ParallelPlan plan = tiny_plan(model, {.tensor = 2});
  plan.sequence_parallel = sequence;
  return plan;
}

sim::ModelConfig normed_together() {
  sim::ModelConfig model = tiny_llama();
  model.qk_norm = sim::QkNorm::Joint;
  return model;
}
TEST_F(HeadMutations, NormsOfAllHeads) {
  for (const bool sequence : {false, true})
    for (const PlantedBug bug : {PlantedBug::LocalSquares, PlantedBug::MissingTensorSum})
      expect_caught_in_fp64(on_tensor_ranks(normed_together(), sequence), bug);
}

// Without sequence parallelism nothing but the shared head's gradients is scattered.
TEST_F(HeadMutations, SharedKeyHeads) {
  sim::ModelConfig model = tiny_llama();
  model.kv_heads = 1;
  for (const bool sequence : {false, true}) expect_caught_in_fp64(on_tensor_ranks(model, sequence), PlantedBug::MissingTensorSum);
}

TEST_F(HeadMutations, KeysBlockByBlock) {
  sim::ParallelPlan plan = tiny_plan(tiny_llama(), {.context = 2});
  plan.model.window = 3;
  plan.model.sinks = true;
  for (const sim::ContextAlgorithm algorithm : {kRing, kAllGather})
    for (const PlantedBug bug :
         {PlantedBug::SinkOfEachBlock, PlantedBug::BlocksPositions, PlantedBug::UntaughtSinks, PlantedBug::UnscaledMerge}) {
      plan.context_algorithm = algorithm;
      expect_caught_in_fp64(plan, bug);
    }
  sim::ParallelPlan slopes = context(kRing);
  slopes.model.position = sim::Position::Alibi;
  expect_caught_in_fp64(slopes, PlantedBug::BlocksPositions);
}

TEST_F(HeadMutations, HeadsOfTheirOwn) {
  sim::ParallelPlan plan = tiny_plan(tiny_llama(), {.context = 2});
  plan.model.attention_gate = true;
  plan.model.value_factor = 0.5;
  for (const sim::ContextAlgorithm algorithm : {kRing, kAllGather}) {
    plan.context_algorithm = algorithm;
    expect_caught_in_fp64(plan, PlantedBug::UntaughtGates);
    expect_caught_in_fp64(plan, PlantedBug::PlainValues);
  }
  plan.context_algorithm = kAllToAll;
  expect_caught_in_fp64(plan, PlantedBug::UntaughtGates);
}

sim::ParallelPlan in_eight_bits(sim::ParallelPlan plan, sim::ScaleRecipe recipe = sim::ScaleRecipe::Delayed) {
  plan.workload.precision = plan.workload.precision.with(recipe, /*gathers_scaled=*/false);
  return plan;
}
TEST_F(HeadMutations, ScalesOfExpertsAndBesideAdapters) {
  sim::ParallelPlan experts = tiny_plan(tiny_mixtral(), {.data = 2, .expert = 2});
  experts.model.experts->balance_loss = 0;
  const sim::ParallelPlan adapters = with_adapters(tiny_plan(tiny_llama(), {.tensor = 2}));
  for (const sim::ParallelPlan& plan : {experts, adapters})
    for (const PlantedBug bug : {PlantedBug::StaleScales, PlantedBug::LocalMaximum}) expect_caught_in_fp64(in_eight_bits(plan), bug);
}

// Rows of an expert come from two ranks, whose scales are their own; products that tensor or context ranks have parts of have one scale.
TEST_F(HeadMutations, ScalesOfThisStep) {
  sim::ParallelPlan experts = tiny_plan(tiny_mixtral(), {.data = 2, .expert = 2});
  experts.model.experts->balance_loss = 0;
  for (const sim::ScaleRecipe recipe : {sim::ScaleRecipe::Tensorwise, sim::ScaleRecipe::Rowwise}) {
    expect_caught_in_fp64(in_eight_bits(experts, recipe), PlantedBug::SharedScales);
    for (const sim::ParallelPlan& plan : {on_tensor_ranks(tiny_mixtral()), on_tensor_ranks(normed_together()),
                                          with_adapters(on_tensor_ranks(tiny_llama())), tiny_plan(tiny_llama(), {.context = 2})})
      expect_caught_in_fp64(in_eight_bits(plan, recipe), PlantedBug::LocalMaximum);
  }
}

TEST_F(HeadMutations, PartsOfMuon) { EXPECT_GT(distance_of_parts(muon_of_parts({.tensor = 2}), PlantedBug::WholeColumns), 1e-10); }

// Of a network with dropout.
TEST_F(HeadMutations, BlocksTogether) {
  for (sim::ParallelPlan plan : {tiny_plan(tiny_gpt2(), {.data = 2}), tiny_plan(tiny_gpt2(), {.tensor = 2})}) {
    plan.recompute = sim::Recompute::Full;
    plan.recompute_scope.together = 2;
    expect_caught_in_fp64(plan, PlantedBug::OtherMasksAgain);
  }
}

}  // namespace
}  // namespace parity
