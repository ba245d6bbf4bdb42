#include "sim/model/packed_bytes.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

Parameter matrix(std::int64_t rows, std::int64_t columns, TensorSplit split, std::vector<std::int64_t> blocks = {}) {
  return {.name = "w", .rows = rows, .columns = columns, .split = split, .row_blocks = std::move(blocks)};
}

TEST(PackedBytes, AreCodesAndScalesOfScales) {
  const Parameter weight = matrix(4096, 4096, TensorSplit::Rows);
  const std::int64_t elements = 4096 * 4096, blocks = elements / 64;
  EXPECT_EQ(packed_bytes(BaseFormat::Nf4, weight, 1), elements / 2 + blocks + 4 * (blocks / 256) + 4);
  EXPECT_EQ(packed_bytes(BaseFormat::Int8, weight, 1), elements + 4 * 4096);
  EXPECT_NEAR(static_cast<double>(packed_bytes(BaseFormat::Nf4, weight, 1)), base_bytes(BaseFormat::Nf4, 2) * static_cast<double>(elements),
              4);
  EXPECT_EQ(packed_bytes(BaseFormat::Fp8, weight, 1), elements);
}

TEST(PackedBytes, OfATensorRankAreItsBlocksAndAllScalesOfScales) {
  for (const TensorSplit split : {TensorSplit::Rows, TensorSplit::Columns}) {
    const std::int64_t elements = 512 * 512 / 2;
    EXPECT_EQ(packed_bytes(BaseFormat::Nf4, matrix(512, 512, split), 2), elements / 2 + elements / 64 + 4 * 16 + 4);
  }
}

// q | k | v: three weights, whose last blocks may be short.
TEST(PackedBytes, OfPiecesAreTheirSum) {
  const Parameter joint = matrix(48, 24, TensorSplit::Rows, {24, 12, 12});
  std::int64_t sum = 0;
  for (const std::int64_t rows : joint.row_blocks) sum += packed_bytes(BaseFormat::Nf4, matrix(rows, 24, TensorSplit::Rows), 1);
  EXPECT_EQ(packed_bytes(BaseFormat::Nf4, joint, 1), sum);
  EXPECT_EQ(packed_bytes(BaseFormat::Nf4, matrix(12, 24, TensorSplit::Rows), 1), 144 + 5 + 4 + 4 + 3);  // whole words
}

TEST(PackedBytes, BlocksAreCutWhereARanksStretchEndsWithinOne) {
  EXPECT_FALSE(cuts_scaled_blocks(matrix(6, 32, TensorSplit::Rows), 1));
  EXPECT_TRUE(cuts_scaled_blocks(matrix(6, 32, TensorSplit::Rows), 2));
  EXPECT_FALSE(cuts_scaled_blocks(matrix(8, 32, TensorSplit::Rows), 2));
  EXPECT_TRUE(cuts_scaled_blocks(matrix(8, 64, TensorSplit::Columns), 2));
  EXPECT_FALSE(cuts_scaled_blocks(matrix(8, 128, TensorSplit::Columns), 2));
  EXPECT_FALSE(cuts_scaled_blocks(matrix(8, 32, TensorSplit::None), 2));
}

}  // namespace
}  // namespace sim
