// Planted bugs of scores that are not plain ones: sinks and slopes, by head.
#include "tests/planted/mutations.h"

namespace parity {
namespace {

using ScoreMutations = OnTwoRanks;

TEST_F(ScoreMutations, NeighboursHeads) {
  sim::ParallelPlan slopes = context(kAllToAll), sinks = tiny_plan(tiny_llama(), {.context = 2});
  slopes.model.position = sim::Position::Alibi;
  sinks.context_algorithm = kAllToAll;
  sinks.model.sinks = true;
  for (const sim::ParallelPlan& plan : {slopes, sinks}) expect_caught_in_fp64(plan, PlantedBug::NeighboursHeads);
}
sim::ModelConfig windows_and_sinks() {
  sim::ModelConfig model = tiny_llama();
  model.kv_heads = model.heads;
  model.sinks = true;
  model.window = 3;
  return model;
}
sim::ParallelPlan dealt(sim::DeviceMesh mesh) {
  sim::ParallelPlan plan = tiny_plan(windows_and_sinks(), mesh);
  plan.context_algorithm = kAllToAll;
  plan.sequence_parallel = mesh.tensor > 1;
  return plan;
}

// Alone: scores, and what else is trained, are right in the first step.
TEST_F(ScoreMutations, UntaughtSinks) {
  for (const sim::ParallelPlan& plan :
       {dealt({.context = 2}), tiny_plan(windows_and_sinks(), {.tensor = 2}), with_zero(tiny_plan(windows_and_sinks(), {.data = 2}), 3)})
    expect_caught_in_fp64(plan, PlantedBug::UntaughtSinks);
}
TEST_F(ScoreMutations, BoundaryCrossed) { expect_caught_in_fp64(with_documents(dealt({.context = 2})), PlantedBug::BoundaryCrossed); }

TEST(ScoreMutationsOnFourRanks, OfDealtHeads) {
  if (num_ranks() != 4) GTEST_SKIP() << "needs 4 ranks";
  sim::ParallelPlan each = dealt({.data = 2, .context = 2});
  each.accumulation = sim::Accumulation::ReduceEach;
  for (const PlantedBug bug : {PlantedBug::LostMicrobatch, PlantedBug::NeighboursHeads}) expect_caught_in_fp64(each, bug);
  for (const PlantedBug bug : {PlantedBug::MissingReplicatedSum, PlantedBug::NeighboursHeads, PlantedBug::UntaughtSinks})
    expect_caught_in_fp64(dealt({.tensor = 2, .context = 2}), bug);
  const sim::ParallelPlan split = with_schedule(dealt({.pipeline = 2, .context = 2}), "zb-1p", 1);
  for (const PlantedBug bug : {PlantedBug::ForgottenWeights, PlantedBug::NeighboursHeads}) expect_caught_in_fp64(split, bug);
}

}  // namespace
}  // namespace parity
