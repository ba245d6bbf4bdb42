#include "executor/training/token_share.h"

#include <ATen/ops/cat.h>

#include "executor/model/rotary.h"
#include "executor/training/token_file.h"
#include "tests/executor/training/context_ranks.h"

namespace executor {
namespace {

using sim::ContextAlgorithm;

TEST(TokenShare, SequenceParallelismCutsTheRanksTokensOnceMore) {
  sim::ParallelPlan plan = context_plan(2, ContextAlgorithm::Ring);  // eight tokens: pieces of two
  plan.mesh.tensor = 2;
  plan.sequence_parallel = true;
  EXPECT_EQ(rank_tokens(plan, sim::Rank(1)), (TokenStretches{{0, 0, 2}, {2, 6, 2}}));
  EXPECT_EQ(stream_tokens(plan, sim::Rank(0)), (TokenStretches{{0, 0, 2}}));
  EXPECT_EQ(stream_tokens(plan, sim::Rank(1)), (TokenStretches{{0, 6, 2}}));
  EXPECT_EQ(stream_tokens(plan, sim::Rank(3)), (TokenStretches{{0, 4, 2}}));
  plan.context_algorithm = ContextAlgorithm::AllToAll;
  EXPECT_EQ(rank_tokens(plan, sim::Rank(2)), (TokenStretches{{0, 4, 4}})) << "neighbours stay neighbours";
}

TEST(TokenShare, RotaryRowsAreThoseOfTheRanksPositions) {
  const sim::ParallelPlan plan = context_plan(2, ContextAlgorithm::AllGather, /*samples=*/2);
  const at::Tensor table = rotary_table(unscaled_turns(4, {1e4}), 8, at::kDouble);
  EXPECT_TRUE(at::equal(rotary_rows(table, plan, sim::Rank(1)), table.narrow(1, 2, 4))) << "pieces 1 and 2 of four";
  EXPECT_TRUE(at::equal(rotary_rows(table, plan, sim::Rank(0)), at::cat({table.narrow(1, 0, 2), table.narrow(1, 6, 2)}, 1)));
  EXPECT_TRUE(at::equal(rotary_rows(table, context_plan(2, ContextAlgorithm::AllToAll), sim::Rank(1)), table))
      << "all tokens of some heads";
}

// Ranks 2 and 3 of four have pieces 2, 5 and 3, 4: together a mirrored half of the sample, whose heads they deal out.
TEST(TokenShare, NeighboursAttendToTheTokensOfAllOfThem) {
  sim::ParallelPlan plan = context_plan(4, ContextAlgorithm::Hierarchical);
  EXPECT_EQ(rank_tokens(plan, sim::Rank(3)), (TokenStretches{{0, 6, 2}, {2, 8, 2}}));
  const at::Tensor table = rotary_table(unscaled_turns(4, {1e4}), 16, at::kDouble);
  EXPECT_TRUE(at::equal(rotary_rows(table, plan, sim::Rank(3)), table.narrow(1, 4, 8)));
  const ContextShape shape = context_shape(plan, sim::Rank(3), {plan.model});
  EXPECT_EQ(shape.heads.heads, 2);
  EXPECT_EQ(shape.heads.sequence, 8);
  EXPECT_EQ(shape.ranks, 2);
  EXPECT_EQ(shape.rank, 1);
  EXPECT_EQ(shape.head_ranks, 2);
}

TEST(TokenShare, SlicesFollowEachOtherInEachSample) {
  sim::ParallelPlan plan = context_plan(1, ContextAlgorithm::Ring, /*samples=*/2);
  plan.workload.sequence = 8;
  plan.slices = 2;
  EXPECT_EQ(rank_tokens(plan, sim::Rank(0), sim::SliceIndex(1)), (TokenStretches{{0, 4, 4}, {4, 12, 4}}));
  EXPECT_EQ(rank_tokens(plan, sim::Rank(0)), (TokenStretches{{0, 0, 16}})) << "all of the rank's";
  const at::Tensor table = rotary_table(unscaled_turns(4, {1e4}), 8, at::kDouble);
  EXPECT_TRUE(at::equal(rotary_rows(table, plan, sim::Rank(0), sim::SliceIndex(1)), table.narrow(1, 4, 4)));
  const ContextShape shape = context_shape(plan, sim::Rank(0), {plan.model}, sim::SliceIndex(1));
  EXPECT_EQ(shape.heads.sequence, 4);
  EXPECT_EQ(shape.ranks, 2);
  EXPECT_EQ(shape.rank, 1);
  EXPECT_FALSE(shape.is_mirrored);
}

// Tokens and their successors: the last token of a piece has its target in another rank's piece.
TEST(TokenShare, ContextRanksShareTheSamplesOfOneRank) {
  const ScratchFolder folder;
  write_tokens(folder.file("t.bin"), 400, 13);
  sim::ParallelPlan plan = context_plan(2, ContextAlgorithm::Ring, /*samples=*/2), whole_plan = plan;
  whole_plan.mesh.context = 1;
  const TokenFile file(folder.file("t.bin"), plan.workload.sequence);
  const StepBatch whole = load_batch(file, whole_plan, sim::Rank(0), 3);
  for (sim::Rank rank{0}; rank.value() < 2; ++rank) {
    const StepBatch own = load_batch(file, plan, rank, 3);
    EXPECT_EQ(own.first_sample, 0);
    for (const TokenStretch& stretch : rank_tokens(plan, rank)) {
      EXPECT_TRUE(at::equal(own.ids.narrow(1, stretch.begin, stretch.count), whole.ids.narrow(1, stretch.first, stretch.count)));
      EXPECT_TRUE(at::equal(own.targets.narrow(1, stretch.begin, stretch.count), whole.targets.narrow(1, stretch.first, stretch.count)));
    }
  }
  plan.mesh.data = 2;
  EXPECT_EQ(load_batch(file, plan, sim::Rank(3), 3).first_sample, 2) << "of four samples, the second data rank's";
}

}  // namespace
}  // namespace executor
