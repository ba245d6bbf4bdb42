#include "executor/model/token_stretches.h"

#include <gtest/gtest.h>

#include <set>

namespace executor {
namespace {

TEST(TokenStretches, OneRankHoldsTheMicrobatch) {
  EXPECT_EQ(tokens_of({.samples = 3, .sequence = 5}), (TokenStretches{{.begin = 0, .first = 0, .count = 15}}));
}

TEST(TokenStretches, MirroredPiecesStandInTheOrderOfTheirPositions) {
  const ContextCut cut{.samples = 2, .sequence = 8, .ranks = 2, .rank = 1, .is_mirrored = true};
  const TokenStretches expected{{0, 2, 2}, {2, 4, 2}, {4, 10, 2}, {6, 12, 2}};
  EXPECT_EQ(tokens_of(cut), expected);
}

// Every token of the microbatch once, and under the causal mask as many pairs of query and key on each rank.
TEST(TokenStretches, RanksShareTokensAndWork) {
  for (const std::int64_t ranks : {2, 3, 4})
    for (const bool is_mirrored : {false, true}) {
      std::multiset<std::int64_t> tokens;
      std::set<std::int64_t> pairs;
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        std::int64_t seen = 0, rows = 0;
        for (const TokenStretch& stretch :
             tokens_of({.samples = 2, .sequence = 24, .ranks = ranks, .rank = rank, .is_mirrored = is_mirrored})) {
          EXPECT_EQ(stretch.begin, rows) << "without gaps";
          rows += stretch.count;
          for (std::int64_t at = stretch.first; at < stretch.first + stretch.count; ++at) {
            tokens.insert(at);
            seen += at % 24 + 1;
          }
        }
        pairs.insert(seen);
      }
      EXPECT_EQ(tokens.size(), 48U);
      EXPECT_EQ((std::set<std::int64_t>(tokens.begin(), tokens.end()).size()), 48U);
      EXPECT_EQ(pairs.size() == 1, is_mirrored);
    }
}

TEST(TokenStretches, RowsOfAStretchKnowWhereTheyStand) {
  const TokenStretches whole{{0, 2, 2}, {2, 4, 2}, {4, 10, 2}};
  EXPECT_EQ(rows_of(whole, {.begin = 1, .count = 4}), (TokenStretches{{0, 3, 1}, {1, 4, 2}, {3, 10, 1}}));
  EXPECT_EQ(rows_of(whole, {.begin = 2, .count = 0}), TokenStretches{});
}

}  // namespace
}  // namespace executor
