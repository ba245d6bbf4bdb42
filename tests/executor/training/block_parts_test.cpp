#include "executor/training/block_parts.h"

#include <gmock/gmock.h>

#include <set>
#include <utility>

#include "executor/training/query_share.h"

namespace executor {
namespace {

// Two ranks with two pieces of two tokens each: of rank 0 positions 0, 1, 6, 7, of rank 1 positions 2 to 5.
ContextShape mirrored_shape(std::int64_t rank) { return {.heads = {.sequence = 4}, .ranks = 2, .rank = rank, .rotary = {}}; }
const Documents kDocuments({{.begin = 0, .count = 3}, {.begin = 3, .count = 4}, {.begin = 7, .count = 1}, {.begin = 8, .count = 8}});

std::int64_t position_of(std::int64_t rank, std::int64_t row) { return rank == 0 ? (row < 2 ? row : row + 4) : row + 2; }

// Pairs of positions of the first two samples that parts name, each once.
std::set<std::pair<std::int64_t, std::int64_t>> pairs_of(std::int64_t rank, std::int64_t source) {
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const BlockPart& part : document_parts(mirrored_shape(rank), source, kDocuments)) {
    EXPECT_EQ(part.samples.count, 1);
    for (std::int64_t query = 0; query < part.queries.count; ++query)
      for (std::int64_t key = 0; key < part.keys.count; ++key) {
        if (part.mask == BlockMask::Causal && key > query) continue;
        const std::int64_t from = part.samples.begin * 8;
        EXPECT_TRUE(
            pairs.emplace(from + position_of(rank, part.queries.begin + query), from + position_of(source, part.keys.begin + key)).second);
      }
  }
  return pairs;
}

TEST(BlockParts, EveryPairOfADocumentOnceAndNoOther) {
  std::set<std::pair<std::int64_t, std::int64_t>> all, expected;
  for (const std::int64_t rank : {0, 1})
    for (const std::int64_t source : {0, 1}) all.merge(pairs_of(rank, source));
  for (std::int64_t query = 0; query < 16; ++query)
    for (std::int64_t key = kDocuments.at(query).begin; key <= query; ++key) expected.emplace(query, key);
  EXPECT_EQ(all, expected);
}

}  // namespace
}  // namespace executor
