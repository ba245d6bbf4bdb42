#include "sim/task_graph/meetings.h"

#include <gmock/gmock.h>

#include "sim/collective/collective.h"
#include "sim/model/map_families.h"
#include "sim/task_graph/task_graph.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using ::testing::ElementsAre;

ParallelPlan cut(ContextAlgorithm algorithm, std::int32_t ranks) {
  ParallelPlan plan = testing::tiny_plan({.context = ranks});
  plan.context_algorithm = algorithm;
  return plan;
}

std::vector<Operation> names_of(const std::vector<Piece>& pieces) {
  std::vector<Operation> all;
  for (const Piece& piece : pieces) all.push_back(piece.operation);
  return all;
}

std::int32_t count_of_group(const ParallelPlan& plan, MeshAxis axis) {
  return static_cast<std::int32_t>(plan.mesh.group(Rank(0), axis).size());
}

// Sent by one rank between the context ranks, in one block and one phase of a lowered plan.
Bytes sent(const ParallelPlan& plan, Phase phase) {
  const CollectiveAlgorithm& direct = *find_collective_algorithm("direct");
  Bytes all{};
  for (const Task& task : rank_slice(lower(make_model_graph(plan), plan), plan, Rank(0))) {
    const bool is_of_samples =
        task.key.group == MeshAxis::Context || task.key.group == MeshAxis::ContextInner || task.key.group == MeshAxis::ContextOuter;
    if (!is_of_samples || task.key.phase != phase || task.key.layer != LayerIndex(2) || task.key.microbatch != MicrobatchIndex(0)) continue;
    const CollectiveKind kind = task.key.operation == Operation::RingHop         ? CollectiveKind::RingHop
                                : task.key.operation == Operation::AllToAll      ? CollectiveKind::AllToAll
                                : task.key.operation == Operation::ReduceScatter ? CollectiveKind::ReduceScatter
                                                                                 : CollectiveKind::AllGather;
    all += bytes_on_wire(direct, {kind, count_of_group(plan, task.key.group), task.payload});
  }
  return all;
}

TEST(Meetings, EachAlgorithmHasItsParts) {
  const ModelGraph model = make_model_graph(cut(ContextAlgorithm::Ring, 2));
  const auto forward = [&](ContextAlgorithm algorithm) { return names_of(forward_pieces(model, cut(algorithm, 2), LayerIndex(1))); };
  const auto backward = [&](ContextAlgorithm algorithm) { return names_of(backward_pieces(model, cut(algorithm, 2), LayerIndex(1))); };
  constexpr Operation in = Operation::AttentionInput, scores = Operation::AttentionScores, out = Operation::AttentionOutput,
                      mlp = Operation::Mlp;
  constexpr Operation hop = Operation::RingHop, gather = Operation::AllGather, scatter = Operation::ReduceScatter,
                      deal = Operation::AllToAll;
  EXPECT_THAT(forward(ContextAlgorithm::Ring), ElementsAre(in, hop, scores, scores, out, mlp));
  EXPECT_THAT(backward(ContextAlgorithm::Ring), ElementsAre(mlp, out, hop, scores, hop, scores, hop, in));
  EXPECT_THAT(forward(ContextAlgorithm::AllGather), ElementsAre(in, gather, scores, out, mlp));
  EXPECT_THAT(backward(ContextAlgorithm::AllGather), ElementsAre(mlp, out, gather, scores, scatter, in));
  EXPECT_THAT(forward(ContextAlgorithm::AllToAll), ElementsAre(in, deal, scores, deal, out, mlp));
  EXPECT_THAT(backward(ContextAlgorithm::AllToAll), ElementsAre(mlp, out, deal, scores, deal, in));
}

// A row of means, squared deviations and a count from each of 2 ranks; then two sums a channel. In numbers of 4 bytes.
TEST(Meetings, DataRanksShareTheStatisticsOfABatch) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.model = convolutional_model("resnet", {.image = 32, .stem = 24, .widths = {64}, .depths = {1}}, 10);
  constexpr LayerIndex kNorm(1);
  const ModelGraph model = make_model_graph(plan);
  EXPECT_THAT(names_of(forward_pieces(model, plan, kNorm)), ElementsAre(Operation::Pointwise));
  plan.sync_batch_norm = true;
  const std::vector<Piece> forward = forward_pieces(model, plan, kNorm), backward = backward_pieces(model, plan, kNorm);
  EXPECT_THAT(names_of(forward), ElementsAre(Operation::Pointwise, Operation::AllGather, Operation::BatchNorm));
  EXPECT_THAT(names_of(backward), ElementsAre(Operation::BatchNorm, Operation::AllReduce, Operation::Pointwise));
  EXPECT_EQ(forward[1].payload, Bytes(4 * 2 * (2 * 24 + 1)));
  EXPECT_EQ(backward[1].payload, Bytes(4 * 2 * 24));
  EXPECT_EQ(forward[1].group, MeshAxis::Data);
}

TEST(Meetings, WholeSamplesHaveNoParts) {
  const ParallelPlan plan = cut(ContextAlgorithm::Ring, 1);
  EXPECT_THAT(names_of(forward_pieces(make_model_graph(plan), plan, LayerIndex(1))), ElementsAre(Operation::Attention, Operation::Mlp));
}

// A block b = n keys and values of one rank, n = b s / C: keys and values go round C - 1 times, their gradients C times.
TEST(Meetings, TheRingSendsABlockAHop) {
  for (const std::int32_t ranks : {2, 4, 8}) {
    const ParallelPlan plan = cut(ContextAlgorithm::Ring, ranks);
    const Bytes block(4 * (32 / ranks) * 2 * 64);
    EXPECT_EQ(sent(plan, Phase::Forward), block * (ranks - 1));
    EXPECT_EQ(sent(plan, Phase::Backward), block * (2 * ranks - 1));
  }
}

TEST(Meetings, TheGatherSendsTheRingsVolumeForward) {
  for (const std::int32_t ranks : {2, 4, 8}) {
    const ParallelPlan plan = cut(ContextAlgorithm::AllGather, ranks);
    EXPECT_EQ(sent(plan, Phase::Forward), sent(cut(ContextAlgorithm::Ring, ranks), Phase::Forward));
    EXPECT_EQ(sent(plan, Phase::Backward), sent(plan, Phase::Forward) * 2);
  }
}

// Ulysses: four exchanges of b s h / C each way, of which a rank keeps its own C-th.
TEST(Meetings, UlyssesSendsFourTimesItsTokens) {
  for (const std::int32_t ranks : {2, 4}) {
    const ParallelPlan plan = cut(ContextAlgorithm::AllToAll, ranks);
    const Bytes each(4 * 32 * 64 / ranks);
    EXPECT_EQ(sent(plan, Phase::Forward), each * 4 * std::int64_t{ranks - 1} / std::int64_t{ranks});
    EXPECT_EQ(sent(plan, Phase::Backward), sent(plan, Phase::Forward));
  }
}

ParallelPlan in_two_levels(std::int32_t inner, std::int32_t outer) {
  ParallelPlan plan = cut(ContextAlgorithm::Hierarchical, inner * outer);
  plan.mesh.context_inner = inner;
  return plan;
}

TEST(Meetings, NeighboursExchangeHeadsAroundTheRingOfNeighbourhoods) {
  const ParallelPlan plan = in_two_levels(2, 2);
  const ModelGraph model = make_model_graph(plan);
  constexpr Operation deal = Operation::AllToAll, hop = Operation::RingHop, scores = Operation::AttentionScores;
  const std::vector<Piece> forward = forward_pieces(model, plan, LayerIndex(1));
  EXPECT_THAT(names_of(forward),
              ElementsAre(Operation::AttentionInput, deal, hop, scores, scores, deal, Operation::AttentionOutput, Operation::Mlp));
  EXPECT_THAT(
      names_of(backward_pieces(model, plan, LayerIndex(1))),
      ElementsAre(Operation::Mlp, Operation::AttentionOutput, deal, hop, scores, hop, scores, hop, deal, Operation::AttentionInput));
  EXPECT_EQ(forward[1].group, MeshAxis::ContextInner);
  EXPECT_EQ(forward[2].group, MeshAxis::ContextOuter);
}

// Ulysses' exchanges among A neighbours, and blocks as large as a ring's of all ranks, but B - 1 of them.
TEST(Meetings, TwoLevelsSendFewerBlocksThanOneRing) {
  for (const auto& [inner, outer] : {std::pair(2, 2), std::pair(2, 4), std::pair(4, 2)}) {
    const ParallelPlan plan = in_two_levels(inner, outer);
    const Bytes each(4 * 32 * 64 / (inner * outer)), block(4 * (32 / (inner * outer)) * 2 * 64);
    const Bytes dealt = each * 4 * std::int64_t{inner - 1} / std::int64_t{inner};
    EXPECT_EQ(sent(plan, Phase::Forward), dealt + block * (outer - 1)) << inner << " x " << outer;
    EXPECT_EQ(sent(plan, Phase::Backward), dealt + block * (2 * outer - 1)) << inner << " x " << outer;
  }
}

TEST(Meetings, GroupedKeysMakeTheBlockSmaller) {
  ParallelPlan plan = cut(ContextAlgorithm::Ring, 2), grouped = plan;
  grouped.model.kv_heads = 1;
  EXPECT_EQ(sent(plan, Phase::Forward), sent(grouped, Phase::Forward) * 4);
}

// Two heads of keys and values for four tensor ranks: all gather [n, q + k + v], and scatter its gradients.
TEST(Meetings, RanksThatShareKeyHeadsGatherAllHeads) {
  ParallelPlan plan = testing::tiny_plan({.tensor = 4});
  const auto shared = [&](Phase phase) {
    std::vector<Piece> found;
    for (const Piece& piece : pieces_of(make_model_graph(plan), plan, LayerIndex(1), phase))
      if (piece.operation == Operation::AllGather || piece.operation == Operation::ReduceScatter) found.push_back(piece);
    return found;
  };
  EXPECT_TRUE(shared(Phase::Forward).empty());
  plan.model.kv_heads = 2;
  const Bytes all(4 * 32 * (4 + 2 + 2) * 16);  // fp32, a sample of 32 tokens, heads of 16
  ASSERT_EQ(shared(Phase::Forward).size(), 1u);
  EXPECT_EQ(shared(Phase::Forward)[0].payload, all * plan.microbatch_size);
  ASSERT_EQ(shared(Phase::Backward).size(), 1u);
  EXPECT_EQ(shared(Phase::Backward)[0].payload, all * plan.microbatch_size);
  EXPECT_THAT(names_of(forward_pieces(make_model_graph(plan), plan, LayerIndex(1))),
              ElementsAre(Operation::AttentionInput, Operation::AllGather, Operation::Attention, Operation::AllReduce,
                          Operation::AttentionResidual, Operation::Mlp, Operation::AllReduce, Operation::MlpResidual));
}

TEST(ChainTime, TakesTheLongerOfWhatIsSideBySide) {
  const ParallelPlan plan = cut(ContextAlgorithm::Ring, 4);
  const std::vector<Piece> pieces = forward_pieces(make_model_graph(plan), plan, LayerIndex(1));
  const auto with = [&](std::int64_t hop, std::int64_t scores) {
    return chain_time<std::int64_t>(pieces, [&](const Piece& piece) {
      return piece.operation == Operation::RingHop ? hop : piece.operation == Operation::AttentionScores ? scores : 100;
    });
  };
  EXPECT_EQ(with(7, 5), 300 + 3 * 7 + 5);  // input, output, mlp
  EXPECT_EQ(with(2, 5), 300 + 4 * 5);
}

}  // namespace
}  // namespace sim
