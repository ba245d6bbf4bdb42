#include "sim/cost/context_balance.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/units/random_bits.h"

namespace sim {
namespace {

constexpr ContextPool kPool{.ranks = 8, .context = 4, .room = 100};

TEST(ContextBalance, AsFewRanksAsHaveRoom) {
  for (const auto& [length, ranks] :
       std::map<std::int64_t, std::int32_t>{{1, 1}, {100, 1}, {101, 2}, {200, 2}, {201, 4}, {400, 4}, {900, 4}})
    EXPECT_EQ(ranks_that_share(length, kPool), ranks) << length;
  EXPECT_EQ(ranks_that_share(900, {.ranks = 6, .context = 6, .room = 100}), 6) << "as many as there are";
}

TEST(ContextBalance, EqualDocumentsAreEvenlyDealtOut) {
  EXPECT_DOUBLE_EQ(fullest_over_mean(std::vector<PooledDocument>(16, {50, 3}), kPool), 1);
  EXPECT_DOUBLE_EQ(fullest_over_mean(std::vector<PooledDocument>(9, {50, 3}), kPool), 2.0 * 8 / 9) << "one rank has two";
  EXPECT_DOUBLE_EQ(fullest_over_mean({{400, 8}, {400, 8}}, kPool), 1) << "four ranks each";
  EXPECT_DOUBLE_EQ(fullest_over_mean({{400, 8}}, kPool), 2) << "four wait";
}

// By hand: 4 on each of ranks 0 to 3; then 3 on each of 4 to 7, and once more on one of these. Short ones first would make it 7.
TEST(ContextBalance, LongDocumentsFirst) {
  EXPECT_DOUBLE_EQ(fullest_over_mean({{20, 3}, {20, 3}, {400, 16}, {20, 3}, {20, 3}, {20, 3}}, kPool), 6.0 * 8 / 31);
}

// Of any documents the fullest has between the mean and the mean with the largest one on top.
TEST(ContextBalance, TheFullestIsWithinOneDocumentOfTheMean) {
  for (std::uint64_t round = 0; round < 50; ++round) {
    std::vector<PooledDocument> documents;
    double work = 0, largest = 0;
    for (std::uint64_t at = 0; at < 5 + round; ++at) {
      const auto length = static_cast<std::int64_t>(1 + random_bits(RandomKey{round}, at) % 400);
      documents.push_back({length, static_cast<double>(length * length)});
      work += documents.back().work;
      largest = std::max(largest, documents.back().work / ranks_that_share(length, kPool));
    }
    const double ratio = fullest_over_mean(documents, kPool);
    EXPECT_GE(ratio, 1 - 1e-9);
    EXPECT_LE(ratio * work / kPool.ranks, 2 * work / kPool.ranks + largest + 1e-9) << round;
  }
}

TEST(ContextBalance, ShortDocumentsStayWhereTheyAre) {
  EXPECT_DOUBLE_EQ(share_that_travels(std::vector<PooledDocument>{{400, 0}}, kPool), 1);
  EXPECT_DOUBLE_EQ(share_that_travels(std::vector<PooledDocument>{{100, 0}, {90, 0}}, kPool), 0);
  EXPECT_DOUBLE_EQ(share_that_travels(std::vector<PooledDocument>{{200, 0}, {100, 0}, {100, 0}}, kPool), 200.0 / (400 * 3));
}

}  // namespace
}  // namespace sim
