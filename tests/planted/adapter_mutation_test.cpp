// Planted bugs of adapters, and of the frozen weights in few bits beside them.
#include "tests/planted/mutations.h"

namespace parity {
namespace {

using AdapterMutations = OnTwoRanks;

TEST_F(AdapterMutations, ForgottenScale) {
  for (const sim::ParallelPlan& plan : {data_, tensor_, pipeline_}) expect_caught_in_fp64(with_adapters(plan), PlantedBug::ForgottenScale);
}
sim::ParallelPlan over_four_bits(const sim::ParallelPlan& plan) { return with_adapters(plan, "rank 3 alpha 5 on q,v,o,up,down base nf4"); }
TEST_F(AdapterMutations, OverPackedWeights) {
  for (const PlantedBug bug : {PlantedBug::NeighboursScale, PlantedBug::ForgottenScale}) {
    expect_caught_in_fp64(over_four_bits(data_), bug);
    expect_caught_in_fp64(with_zero(over_four_bits(data_), 3), bug);
    expect_caught_in_fp64(over_four_bits(pipeline_), bug);
  }
}
// Wide enough that tensor ranks cut no block of 64.
TEST_F(AdapterMutations, OverPackedWeightsOfTensorRanks) {
  sim::ParallelPlan plan = over_four_bits(tensor_);
  plan.model.hidden = plan.model.ffn = 128;
  plan.model.head_dim = 32;
  for (const PlantedBug bug : {PlantedBug::NeighboursScale, PlantedBug::ForgottenScale}) expect_caught_in_fp64(plan, bug);
}
TEST_F(AdapterMutations, LocalPairMasks) {
  expect_caught_in_fp64(with_adapters(tensor_, "rank 3 alpha 5 on q,v,o,up,down dropout 0.2"), PlantedBug::LocalPairMasks);
}
TEST_F(AdapterMutations, OtherMasksOfPairsAgain) {
  sim::ParallelPlan plan = with_adapters(data_, "rank 3 alpha 5 on q,v,o,up,down dropout 0.2");
  plan.model.residual_dropout = plan.model.embedding_dropout = plan.model.attention_dropout = 0;
  plan.recompute = sim::Recompute::Full;
  expect_caught_in_fp64(plan, PlantedBug::OtherMasksAgain);
}

}  // namespace
}  // namespace parity
