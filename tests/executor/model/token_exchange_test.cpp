#include "executor/model/token_exchange.h"

#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace executor {
namespace {

using testing::ElementsAre;

// Two ranks, four experts: rank 1 holds the last two.
TEST(TokenExchange, BringsRowsIntoTheOrderOfExperts) {
  const at::Tensor counts = at::tensor({5, 0, 1, 2, 0, 3, 2, 0}, at::kLong).view({2, 4});
  const TokenExchange here = make_exchange(counts, {.expert_degree = 2, .expert_rank = 1}, at::kCPU);
  EXPECT_THAT(here.to, ElementsAre(3, 2));    // rank 1's own rows
  EXPECT_THAT(here.from, ElementsAre(3, 2));  // of rank 0: 1 and 2; of rank 1: 2 and 0
  EXPECT_THAT(here.held, ElementsAre(3, 2));
  EXPECT_THAT(here.by_batch, ElementsAre(1, 2, 2, 0));
  EXPECT_EQ(here.rows_here(), 5);
  const at::Tensor arrived = at::tensor({2, 3, 3, 2, 2}, at::kLong);  // whose row
  EXPECT_TRUE(arrived.index_select(0, here.sorted).equal(at::tensor({2, 2, 2, 3, 3}, at::kLong)));
  EXPECT_TRUE(arrived.index_select(0, here.sorted).index_select(0, here.arrived).equal(arrived));
}

// Two ranks with the same two experts: what came to each, and all of it by expert.
TEST(TokenExchange, OfRanksThatShareExperts) {
  const at::Tensor counts = at::tensor({2, 1, 1, 3}, at::kLong).view({2, 1, 2});
  const TokenExchange here = make_exchange(counts, {.expert_cut = 2, .expert_part = 1}, at::kCPU);
  EXPECT_THAT(here.to, ElementsAre(4));
  EXPECT_THAT(here.from, ElementsAre(4));
  EXPECT_THAT(here.shared, ElementsAre(3, 4));
  EXPECT_THAT(here.held, ElementsAre(3, 4));
  const at::Tensor arrived = at::tensor({0, 0, 1, 0, 1, 1, 1}, at::kLong);
  EXPECT_TRUE(arrived.index_select(0, here.sorted).equal(at::tensor({0, 0, 0, 1, 1, 1, 1}, at::kLong)));
}

// Two data ranks of two tensor ranks, which route apart: their stretches are one microbatch, in the order of tokens.
TEST(TokenExchange, TensorRanksHaveStretchesOfAMicrobatch) {
  const at::Tensor counts = at::tensor({1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0}, at::kLong).view({4, 4});
  const TokenExchange here = make_exchange(counts, {.degree = 2, .expert_degree = 4, .expert_cut = 1}, at::kCPU);
  EXPECT_THAT(here.held, ElementsAre(10));
  EXPECT_THAT(here.by_batch, ElementsAre(3, 7));
}

// Context ranks, too, have tokens of one microbatch; a copy of an expert may get those of some of them.
TEST(TokenExchange, ContextRanksHaveTokensOfAMicrobatch) {
  const at::Tensor counts = at::tensor({1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0}, at::kLong).view({4, 4});
  EXPECT_THAT(make_exchange(counts, {.expert_degree = 4, .context = 2}, at::kCPU).by_batch, ElementsAre(3, 7));
  EXPECT_THAT(make_exchange(counts, {.expert_degree = 4, .context = 8}, at::kCPU).by_batch, ElementsAre(10));
}

// Of ranks that share experts the rows of one come in front of the next rank's, whoever handed them on.
TEST(TokenExchange, RowsStandInTheOrderOfTheirRanks) {
  const at::Tensor counts = at::tensor({1, 1, 2, 2, 3, 3, 4, 4}, at::kLong).view({2, 2, 2});  // sharer, rank, expert
  const TokenExchange here = make_exchange(counts, {.degree = 4, .expert_degree = 2, .expert_cut = 2}, at::kCPU);
  EXPECT_THAT(here.held, ElementsAre(10));
  EXPECT_TRUE(here.sorted.equal(at::tensor({0, 3, 4, 5, 1, 2, 6, 7, 8, 9}, at::kLong)));
}

TEST(TokenExchange, LeavesRowsAloneThatAreInOrder) {
  EXPECT_FALSE(make_exchange(at::tensor({1, 2}, at::kLong).view({1, 2}), {}, at::kCPU).sorted.defined());
  EXPECT_FALSE(
      make_exchange(at::tensor({1, 2, 3, 4}, at::kLong).view({2, 2}), {.expert_degree = 2, .expert_rank = 0}, at::kCPU).sorted.defined());
}

}  // namespace
}  // namespace executor
