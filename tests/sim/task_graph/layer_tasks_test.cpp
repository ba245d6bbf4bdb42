#include "sim/task_graph/layer_tasks.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using ::testing::ElementsAre;

std::vector<Operation> operations(const std::vector<Piece>& pieces) {
  std::vector<Operation> all;
  for (const Piece& piece : pieces) all.push_back(piece.operation);
  return all;
}

TEST(LayerTasks, OnlyCommunicationCarriesAPayload) {
  const ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
  for (const LayerIndex layer : {LayerIndex(0), LayerIndex(1), LayerIndex(5)})
    for (const Piece& piece : forward_pieces(make_model_graph(plan), plan, layer))
      EXPECT_EQ(piece.payload > Bytes(0), is_communication(piece.operation));
}

TEST(LayerTasks, TheLossCrossesTheTensorGroupTwice) {
  const ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
  const std::vector<Piece> pieces = forward_pieces(make_model_graph(plan), plan, LayerIndex(5));
  EXPECT_THAT(operations(pieces),
              ElementsAre(Operation::Head, Operation::AllReduce, Operation::HeadExponentials, Operation::AllReduce, Operation::HeadLoss));
  EXPECT_EQ(pieces[1].payload, Bytes(32 * 4));      // the maximum of each token
  EXPECT_EQ(pieces[3].payload, Bytes(2 * 32 * 4));  // the sum of exponentials and the target's logit
}

TEST(LayerTasks, SequenceParallelGathersBeforeAndScattersAfter) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
  plan.sequence_parallel = true;
  EXPECT_THAT(operations(backward_pieces(make_model_graph(plan), plan, LayerIndex(1))),
              ElementsAre(Operation::MlpResidual, Operation::AllGather, Operation::Mlp, Operation::ReduceScatter, Operation::MlpNorm,
                          Operation::AttentionResidual, Operation::AllGather, Operation::Attention, Operation::ReduceScatter,
                          Operation::AttentionNorm));
}

// 32 tokens of 64 numbers in fp32 on each of 2 ranks; towards the experts a weight for each of 8 comes with a token, and forward a byte that says whether.
TEST(LayerTasks, AllTokensAreGatheredHoweverManyExpertsTheyHave) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.mesh.expert = 2;
  plan.token_dispatcher = TokenDispatcher::AllGather;
  for (const std::int64_t topk : {1, 4}) {
    plan.model.experts = ExpertForm{.experts = 8, .topk = topk, .expert_ffn = 64};
    const ModelGraph model = make_model_graph(plan);
    const std::vector<Piece> forward = forward_pieces(model, plan, LayerIndex(1)), backward = backward_pieces(model, plan, LayerIndex(1));
    EXPECT_THAT(operations(forward), ElementsAre(Operation::Attention, Operation::ExpertInput, Operation::AllGather, Operation::Experts,
                                                 Operation::ReduceScatter, Operation::ExpertOutput));
    EXPECT_THAT(operations(backward), ElementsAre(Operation::ExpertOutput, Operation::AllGather, Operation::Experts,
                                                  Operation::ReduceScatter, Operation::ExpertInput, Operation::Attention));
    EXPECT_EQ(forward[2].payload, Bytes(2 * 32 * ((64 + 8) * 4 + 8)));
    EXPECT_EQ(forward[4].payload, Bytes(2 * 32 * 64 * 4));
    EXPECT_EQ(backward[1].payload, Bytes(2 * 32 * 64 * 4));
    EXPECT_EQ(backward[3].payload, Bytes(2 * 32 * (64 + 8) * 4));
  }
}

// Two samples of 16 tokens, in fp32, on each of 2 ranks. Mamba-2: values, gate and a step of 4 heads, B and C of 1 group for both ranks. Gated delta: 2 groups,
// and how much is written. Attention passes keys round a ring meanwhile.
TEST(LayerTasks, ContextRanksDealOutTheHeadsOfAScan) {
  using enum Operation;
  ParallelPlan plan = testing::tiny_plan({.context = 2});
  plan.model = testing::tiny_llama();
  plan.microbatch_size = 2;
  plan.model.linear_layers = {true, true, true, false};
  plan.model.linear = LinearForm{.rule = LinearRule::StateSpace, .heads = 4, .groups = 1, .key = 16, .value = 8};
  for (const bool is_delta : {false, true}) {
    if (is_delta) plan.model.linear = LinearForm{.rule = LinearRule::GatedDelta, .heads = 4, .groups = 2, .key = 16, .value = 8};
    EXPECT_TRUE(violations(plan).empty());
    const ModelGraph model = make_model_graph(plan);
    const std::vector<Piece> forward = forward_pieces(model, plan, LayerIndex(1)), backward = backward_pieces(model, plan, LayerIndex(1));
    EXPECT_THAT(operations(forward),
                ElementsAre(LinearAttentionInput, AllToAll, LinearAttentionScan, AllToAll, LinearAttentionOutput, Mlp));
    EXPECT_THAT(operations(backward),
                ElementsAre(Mlp, LinearAttentionOutput, AllToAll, LinearAttentionScan, AllToAll, LinearAttentionInput));
    const Bytes in(4 * 32 * (4 * (2 * 8 + (is_delta ? 2 : 1)) + 2 * 2 * 16)), out(4 * 32 * 4 * 8);
    EXPECT_EQ(forward[1].payload, in);
    EXPECT_EQ(forward[3].payload, out);
    EXPECT_EQ(backward[2].payload, out);
    EXPECT_EQ(backward[4].payload, in);
    EXPECT_EQ(forward[1].group, MeshAxis::Context);
    EXPECT_EQ(forward_pieces(model, plan, LayerIndex(4))[1].operation, RingHop);
  }
}

TEST(LayerTasks, RecomputeLeavesOutTheLastSum) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
  plan.recompute = Recompute::Full;
  EXPECT_THAT(operations(recompute_pieces(make_model_graph(plan), plan, LayerIndex(1))),
              ElementsAre(Operation::Attention, Operation::AllReduce, Operation::AttentionResidual, Operation::Mlp));
}

// Recomputed, a block asks again; the sum behind it is left out.
TEST(LayerTasks, ScalesOfShardsAreAskedForBehindTheirComputation) {
  using enum Operation;
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
  plan.recompute = Recompute::Full;
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Tensorwise, false);
  const ModelGraph model = make_model_graph(plan);
  const LayerIndex block(1);
  EXPECT_THAT(operations(forward_pieces(model, plan, block)), ElementsAre(Attention, AllReduce, AllReduce, AllReduce, AttentionResidual,
                                                                          Mlp, AllReduce, AllReduce, AllReduce, MlpResidual));
  EXPECT_THAT(operations(recompute_pieces(model, plan, block)),
              ElementsAre(Attention, AllReduce, AllReduce, AllReduce, AttentionResidual, Mlp, AllReduce, AllReduce));
  EXPECT_THAT(operations(backward_pieces(model, plan, block)),
              ElementsAre(Mlp, AllReduce, AllReduce, MlpNorm, Attention, AllReduce, AllReduce, AttentionNorm));
  EXPECT_EQ(forward_pieces(model, plan, block)[2].payload, Bytes(8));
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Rowwise, false);
  EXPECT_EQ(forward_pieces(model, plan, block)[1].payload, Bytes(4 * (32 + 64)));
  EXPECT_THAT(operations(forward_pieces(model, plan, LayerIndex(5))), ElementsAre(Head, AllReduce, HeadExponentials, AllReduce, HeadLoss));
}

// Context ranks have parts of what each product reads; shared experts and those of tensor ranks ask within their own computations.
TEST(LayerTasks, ContextRanksAndExpertsAskForScales) {
  using enum Operation;
  ParallelPlan plan = testing::tiny_plan({.context = 2});
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Tensorwise, false);
  const LayerIndex block(1);
  const auto backward = backward_pieces(make_model_graph(plan), plan, block);
  EXPECT_EQ(backward[0].operation, Mlp);
  EXPECT_EQ(backward[1].group, MeshAxis::Context);
  EXPECT_EQ(std::ranges::count_if(backward, [](const Piece& piece) { return piece.within; }), 4);
  plan.mesh = {.tensor = 2};
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 64, .shared_ffn = 64};
  plan.recompute = Recompute::Full;
  const ModelGraph routed = make_model_graph(plan);
  const auto forward = forward_pieces(routed, plan, block), again = recompute_pieces(routed, plan, block);
  EXPECT_THAT(operations(forward), ElementsAre(Attention, AllReduce, AllReduce, AllReduce, AttentionResidual, ExpertInput, AllReduce,
                                               AllReduce, Experts, AllReduce, AllReduce, ExpertOutput, AllReduce, MlpResidual));
  EXPECT_EQ(forward[10].payload, Bytes(4 * 4 * 2));
  EXPECT_TRUE(again.back().within);
  EXPECT_TRUE(ends_recompute(again, /*is_by_module=*/false, Experts));
}

// The core alone, from what its norm put out.
TEST(LayerTasks, AModuleIsRecomputedFromItsNorm) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
  const auto again = [&](LayerIndex layer) { return recompute_pieces(make_model_graph(plan), plan, layer); };
  EXPECT_TRUE(again(LayerIndex(1)).empty());
  plan.recompute = Recompute::Selective;
  EXPECT_TRUE(again(LayerIndex(1)).empty());
  plan.recompute_scope.modules = Module::Mlp;
  EXPECT_THAT(operations(again(LayerIndex(1))), ElementsAre(Operation::Mlp));
  EXPECT_EQ(again(LayerIndex(1)).front().parts.first, 1);
  EXPECT_TRUE(again(LayerIndex(0)).empty());
  plan.sequence_parallel = true;
  EXPECT_THAT(operations(again(LayerIndex(1))), ElementsAre(Operation::AllGather, Operation::Mlp));
  plan.recompute_scope.modules = Module::LayerNorm;  // within its part's backward
  EXPECT_TRUE(again(LayerIndex(1)).empty());
}

}  // namespace
}  // namespace sim
