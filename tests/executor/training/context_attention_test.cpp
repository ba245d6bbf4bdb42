#include "executor/training/context_attention.h"

#include <ATen/ops/cat.h>

#include "executor/model/attention.h"
#include "executor/model/rotary.h"
#include "executor/training/token_share.h"
#include "tests/executor/model/random_tensors.h"
#include "tests/executor/training/context_ranks.h"

namespace executor {
namespace {

using sim::ContextAlgorithm;

struct ContextCase {
  ContextAlgorithm algorithm;
  std::int32_t ranks;
  std::int64_t samples;
};

class ContextRanks : public testing::TestWithParam<ContextCase> {
 protected:
  ContextRanks()
      : plan_(context_plan(GetParam().ranks, GetParam().algorithm, GetParam().samples)),
        whole_{.heads = plan_.model.heads,
               .kv_heads = plan_.model.kv_heads,
               .head_dim = plan_.model.head_dim,
               .sequence = plan_.workload.sequence},
        table_(rotary_table(unscaled_turns(whole_.head_dim, {1e4}), whole_.sequence, at::kDouble)) {
    for (sim::Rank rank{0}; rank.value() < plan_.mesh.context; ++rank) {
      shapes_.push_back(context_shape(plan_, rank, {plan_.model, rotary_rows(table_, plan_, rank)}));
      tokens_.push_back(rank_tokens(plan_, rank));
    }
    for (const ContextShape& shape : shapes_)
      ranks_.push_back(
          make_context_attention(plan_.context_algorithm, shape, {.mixed = [this](const at::Tensor& joint) { return mixed(joint); }}));
  }

  at::Tensor mixed(const at::Tensor& joint) const {
    HeadShape dealt = whole_;
    dealt.heads /= GetParam().ranks, dealt.kv_heads /= GetParam().ranks;
    return attend_heads(split_heads(joint, dealt, table_), {}, {});
  }
  at::Tensor rows(const at::Tensor& microbatch, std::size_t rank) const {
    std::vector<at::Tensor> parts;
    for (const TokenStretch& stretch : tokens_[rank]) parts.push_back(microbatch.narrow(0, stretch.first, stretch.count));
    return at::cat(parts);
  }
  // Exchanges and scores of the first block's attention in one phase, as the graph has them.
  void perform(sim::Phase phase) {
    for (const sim::Task& task : tasks_of(plan_)) {
      if (task.key.phase != phase || task.key.layer != sim::LayerIndex(1) || task.key.microbatch != sim::MicrobatchIndex(0)) continue;
      if (task.key.operation == sim::Operation::AttentionScores)
        for (ContextAttention& rank : ranks_) std::visit([&](auto& attention) { attention.attend(task.key); }, rank);
      if (sim::is_communication(task.key.operation)) exchange(task);
    }
  }
  void exchange(const sim::Task& task) {
    std::vector<Exchange> exchanges;
    for (ContextAttention& rank : ranks_)
      exchanges.push_back(std::visit([&](auto& attention) { return attention.exchange(task.key); }, rank));
    const bool scatters = task.key.operation == sim::Operation::ReduceScatter, gathers = task.key.operation == sim::Operation::AllGather;
    const at::Tensor& buffer = gathers ? exchanges.front().to : exchanges.front().from;
    EXPECT_EQ(static_cast<std::int64_t>(buffer.nbytes()), task.payload.value()) << sim::to_text(task.key) << (scatters ? " (whole)" : "");
    exchange_in_groups(plan_.mesh, exchanges, task.key);
  }

  const sim::ParallelPlan plan_;
  const HeadShape whole_;
  const at::Tensor table_;
  std::vector<ContextShape> shapes_;
  std::vector<TokenStretches> tokens_;
  std::vector<ContextAttention> ranks_;
};

// All tokens on one rank give the same outputs, and the same gradients.
TEST_P(ContextRanks, AttendAsOneRankDoes) {
  const std::int64_t tokens = plan_.microbatch_size * plan_.workload.sequence;
  const at::Tensor joint = random_tensor({tokens, whole_.width()}, 1), slope = random_tensor({tokens, whole_.heads * whole_.head_dim}, 2);
  const at::Tensor leaf = recorded(joint);
  const at::Tensor expected = attend_heads(split_heads(leaf.clone(), whole_, table_), {}, {});
  expected.backward(slope);
  const auto each = [&](const auto& call) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) std::visit([&](auto& attention) { call(attention, rank); }, ranks_[rank]);
  };
  each([&](auto& attention, std::size_t rank) { attention.begin(rows(joint, rank)); });
  perform(sim::Phase::Forward);
  each([&](auto& attention, std::size_t rank) { EXPECT_LT(relative_error(attention.output(), rows(expected.detach(), rank)), 1e-13); });
  each([&](auto& attention, std::size_t rank) { attention.begin_backward(rows(slope, rank)); });
  perform(sim::Phase::Backward);
  each([&](auto& attention, std::size_t rank) { EXPECT_LT(relative_error(attention.joint_gradient(), rows(leaf.grad(), rank)), 1e-13); });
}

INSTANTIATE_TEST_SUITE_P(All, ContextRanks,
                         testing::Values(ContextCase{ContextAlgorithm::Ring, 2, 1}, ContextCase{ContextAlgorithm::Ring, 2, 3},
                                         ContextCase{ContextAlgorithm::Ring, 3, 1}, ContextCase{ContextAlgorithm::Ring, 5, 2},
                                         ContextCase{ContextAlgorithm::AllGather, 2, 1}, ContextCase{ContextAlgorithm::AllGather, 4, 2},
                                         ContextCase{ContextAlgorithm::AllToAll, 2, 1}, ContextCase{ContextAlgorithm::AllToAll, 2, 3},
                                         ContextCase{ContextAlgorithm::AllToAll, 4, 2}, ContextCase{ContextAlgorithm::Hierarchical, 4, 1},
                                         ContextCase{ContextAlgorithm::Hierarchical, 6, 2}),
                         [](const auto& each) {
                           return fmt::format("{}_{}_ranks_{}_samples",
                                              sim::kContextAlgorithmNames[static_cast<std::size_t>(each.param.algorithm)], each.param.ranks,
                                              each.param.samples);
                         });

}  // namespace
}  // namespace executor
