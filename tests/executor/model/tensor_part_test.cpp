#include "executor/model/tensor_part.h"

#include <gtest/gtest.h>

#include <set>

namespace executor {
namespace {

sim::Parameter matrix(sim::TensorSplit split, std::vector<std::int64_t> row_blocks) {
  std::int64_t rows = 0;
  for (const std::int64_t block : row_blocks) rows += block;
  return {.name = "m", .rows = rows, .columns = 6, .split = split, .row_blocks = std::move(row_blocks)};
}

TEST(TensorPart, RowsAreCutBlockByBlock) {
  const sim::Parameter qkv = matrix(sim::TensorSplit::Rows, {8, 4, 4});
  const TensorPart second(qkv, {.degree = 2, .rank = 1});
  EXPECT_EQ(second.rows(), 8);
  const std::int64_t expected[] = {4, 5, 6, 7, 10, 11, 14, 15};  // second half of q, of k, of v
  for (std::int64_t row = 0; row < 8; ++row) EXPECT_EQ(second.global_row(row), expected[row]);
  EXPECT_EQ(second.global_element(6 * 4 + 2), 10 * 6 + 2);
}

TEST(TensorPart, ColumnsAreCutInOnePiece) {
  const sim::Parameter projection = matrix(sim::TensorSplit::Columns, {5});
  const TensorPart second(projection, {.degree = 3, .rank = 1});
  EXPECT_EQ(second.columns(), 2);
  EXPECT_EQ(second.global_element(3), 1 * 6 + 2 + 1);
}

TEST(TensorPart, RanksTogetherHoldEachElementOnce) {
  for (const auto split : {sim::TensorSplit::Rows, sim::TensorSplit::Columns}) {
    const sim::Parameter parameter = matrix(split, {6, 3, 3});
    std::set<std::int64_t> seen;
    for (std::int64_t rank = 0; rank < 3; ++rank) {
      const TensorPart part(parameter, {.degree = 3, .rank = rank});
      for (std::int64_t element = 0; element < part.elements(); ++element) EXPECT_TRUE(seen.insert(part.global_element(element)).second);
    }
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), parameter.elements());
  }
}

// Four experts of gate and up, three rows each: a rank holds a third of each of two experts' halves.
TEST(TensorPart, ExpertsAreDealtOutToNeighboursAndCutBesides) {
  for (const auto split : {sim::TensorSplit::Rows, sim::TensorSplit::Columns}) {
    sim::Parameter parameter = matrix(split, {3, 3, 3, 3, 3, 3, 3, 3});
    parameter.expert = true;
    std::set<std::int64_t> seen;
    for (std::int64_t rank = 0; rank < 3; ++rank)
      for (std::int64_t experts = 0; experts < 2; ++experts) {
        const TensorPart part(parameter, {.degree = 3, .rank = rank, .expert_degree = 2, .expert_rank = experts});
        for (std::int64_t element = 0; element < part.elements(); ++element) EXPECT_TRUE(seen.insert(part.global_element(element)).second);
      }
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), parameter.elements());
  }
  sim::Parameter up = matrix(sim::TensorSplit::Rows, {3, 3, 3, 3, 3, 3, 3, 3});
  up.expert = true;
  EXPECT_EQ(TensorPart(up, {.degree = 3, .rank = 1, .expert_degree = 2, .expert_rank = 1}).global_row(1), 12 + 3 + 1);
}

// What tensor ranks cut is cut as before; an expert is whole, or cut by fewer ranks.
TEST(TensorPart, ExpertsAreCutByADegreeOfTheirOwn) {
  sim::Parameter up = matrix(sim::TensorSplit::Rows, {4, 4, 4, 4});
  const TensorPosition whole{.degree = 4, .rank = 3, .expert_degree = 2, .expert_rank = 1, .expert_cut = 1};
  TensorPosition halves = whole;
  halves.expert_cut = 2, halves.expert_part = 1;
  EXPECT_EQ(TensorPart(up, whole).rows(), 4);
  up.expert = true;
  EXPECT_EQ(TensorPart(up, whole).rows(), 8);
  EXPECT_EQ(TensorPart(up, whole).global_row(1), 8 + 1);
  EXPECT_EQ(TensorPart(up, halves).rows(), 4);
  EXPECT_EQ(TensorPart(up, halves).global_row(1), 8 + 2 + 1);
  up.split = sim::TensorSplit::Columns;
  EXPECT_EQ(TensorPart(up, whole).global_element(1), 8 * up.columns + 1);
}

TEST(TensorPart, UnsplitIsWholeOnEveryRank) {
  const sim::Parameter norm = matrix(sim::TensorSplit::None, {4});
  EXPECT_EQ(TensorPart(norm, {.degree = 2, .rank = 1}).global_element(5), 5);
}

}  // namespace
}  // namespace executor
