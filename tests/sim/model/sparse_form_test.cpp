#include "sim/model/sparse_form.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

TEST(SparseForm, AShortSampleIsAttendedToWhole) {
  EXPECT_EQ(chosen_pairs({100, 2048}), 5050);
  EXPECT_EQ(chosen_pairs({4, 2}), 1 + 2 + 2 + 2);
}

TEST(SparseForm, AttentionIsLinearAndItsIndexerSquare) {
  const auto attention = [](std::int64_t tokens) {
    return sparse_flops({.samples = 1, .heads = 128, .sequence = tokens, .key = 576, .value = 512, .topk = 2048}, false).value();
  };
  const auto scores = [](std::int64_t tokens) { return index_flops({1, 64, tokens, 128, 2048}, false).value(); };
  EXPECT_NEAR(attention(262'144) / attention(131'072), 2, 0.02);
  EXPECT_NEAR(scores(262'144) / scores(131'072), 4, 0.01);
  EXPECT_EQ(scores(1000), 2.0 * 64 * 128 * 500'500);
}

// Per pair and head: 576 + 512 forward, three products as wide as keys and two as wide as values backward.
TEST(SparseForm, ProductsOfAPair) {
  const SparseAttention shape{.samples = 2, .heads = 4, .sequence = 64, .key = 576, .value = 512, .topk = 8};
  EXPECT_EQ(sparse_flops(shape, false).value(), 2.0 * 2 * 4 * chosen_pairs({64, 8}) * 1088);
  EXPECT_EQ(sparse_flops(shape, true).value(), 2.0 * 2 * 4 * chosen_pairs({64, 8}) * (3 * 576 + 2 * 512));
  EXPECT_GT(sparse_bytes(shape, Bytes(2), true), sparse_bytes(shape, Bytes(2), false));
}

// Forward writes scores of all pairs in fp32 and reads them again; backward knows the chosen ones.
TEST(SparseForm, ScoresAreMoved) {
  const IndexScores shape{1, 2, 64, 16, 8};
  const std::int64_t numbers = 64 * (2 * 17 + 16), pairs = 64 * 65 / 2, chosen = static_cast<std::int64_t>(chosen_pairs({64, 8}));
  EXPECT_EQ(index_bytes(shape, Bytes(2), false).value(), 2 * numbers + 8 * pairs + 4 * chosen);
  EXPECT_EQ(index_bytes(shape, Bytes(2), true).value(), 4 * numbers + 8 * chosen);
  EXPECT_EQ(index_flops(shape, true).value(), 3 * 2.0 * 2 * 16 * static_cast<double>(chosen));
}

}  // namespace
}  // namespace sim
