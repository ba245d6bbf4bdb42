#include "sim/tokenizer/byte_pair.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

using ::testing::ElementsAre;

TokenIds ids_of(const BytePairs& pairs, const std::string& word) {
  TokenIds ids;
  byte_pair_model(pairs)(word, ids);
  return ids;
}

BytePairs small() {
  BytePairs pairs;
  pairs.ids = {{"a", 0}, {"b", 1}, {"c", 2}, {"ab", 3}, {"bc", 4}, {"abc", 5}};
  pairs.merges = {{0ULL << 32 | 1, {1, 3}}, {1ULL << 32 | 2, {0, 4}}, {0ULL << 32 | 4, {2, 5}}};
  return pairs;
}

TEST(BytePair, TheLowestRankFirst) {
  EXPECT_THAT(ids_of(small(), "abc"), ElementsAre(5));  // b c, then a bc
  EXPECT_THAT(ids_of(small(), "abab"), ElementsAre(3, 3));
}

TEST(BytePair, WhatIsNoTokenIsUnknownOrBytesOrLeftOut) {
  BytePairs pairs = small();
  EXPECT_THAT(ids_of(pairs, "a\u00e9b"), ElementsAre(3)) << "left out, as the original does";
  pairs.unknown = 9;
  EXPECT_THAT(ids_of(pairs, "a\u00e9\u00e9b"), ElementsAre(0, 9, 9, 1));
  pairs.fuses_unknown = true;
  EXPECT_THAT(ids_of(pairs, "a\u00e9\u00e9b"), ElementsAre(0, 9, 1));
  pairs.falls_back_to_bytes = true;
  pairs.ids["<0xC3>"] = 10, pairs.ids["<0xA9>"] = 11;
  EXPECT_THAT(ids_of(pairs, "a\u00e9"), ElementsAre(0, 10, 11));
}

TEST(BytePair, AWholeWordBeforeItsMerges) {
  BytePairs pairs = small();
  pairs.ids["cab"] = 7;
  EXPECT_THAT(ids_of(pairs, "cab"), ElementsAre(2, 3));
  pairs.ignores_merges = true;
  EXPECT_THAT(ids_of(pairs, "cab"), ElementsAre(7));
}

}  // namespace
}  // namespace sim
