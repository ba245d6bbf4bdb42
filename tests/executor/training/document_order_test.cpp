#include "executor/training/document_order.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "executor/model/random.h"
#include "sim/units/at.h"

namespace executor {
namespace {

std::vector<DocumentRows> row_of(const std::vector<std::int64_t>& lengths) {
  std::vector<DocumentRows> rows;
  for (const std::int64_t length : lengths) rows.push_back({.begin = rows.empty() ? 0 : rows.back().end(), .count = length});
  return rows;
}

std::vector<std::int64_t> lengths_of(const std::vector<DocumentRows>& documents) {
  std::vector<std::int64_t> lengths;
  for (const DocumentRows& one : documents) lengths.push_back(one.count);
  return lengths;
}

struct Shared {
  std::vector<double> pairs;   // by rank, of a query and a key in front of it
  std::int64_t cut_short = 0;  // documents that would fit one rank, and lie on two
};
Shared shared_by(const std::vector<DocumentRows>& order, std::int64_t ranks) {
  std::int64_t all = 0, at = 0;
  for (const DocumentRows& one : order) all += one.count;
  Shared result{.pairs = std::vector<double>(sim::count_of(ranks))};
  for (const DocumentRows& one : order) {
    std::set<std::int64_t> on;
    for (std::int64_t token = 0; token < one.count; ++token, ++at) {
      const std::int64_t rank = at / (all / ranks);
      on.insert(rank);
      sim::at(result.pairs, rank) += static_cast<double>(token + 1);
    }
    result.cut_short += one.count <= all / ranks && on.size() > 1 ? 1 : 0;
  }
  return result;
}

TEST(DocumentOrder, AsItsHeaderDraws) {
  EXPECT_THAT(lengths_of(order_of(row_of({2, 1, 6, 3, 4}), 2)), testing::ElementsAre(6, 2, 4, 3, 1));
}

TEST(DocumentOrder, LongOnesBeginWithARank) {
  EXPECT_THAT(lengths_of(order_of(row_of({1, 8, 3, 4}), 4)), testing::ElementsAre(8, 4, 3, 1));
  EXPECT_THAT(lengths_of(order_of(row_of({16}), 4)), testing::ElementsAre(16));
  EXPECT_THAT(lengths_of(order_of(row_of({3, 3, 3, 3}), 3)), testing::ElementsAre(3, 3, 3, 3)) << "no other order is better";
}

TEST(DocumentOrder, EachDocumentOnceAndFewAreCut) {
  double as_dealt = 0, as_filed = 0;  // pairs of the rank that has most
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    const std::int64_t ranks = 2 << draw % 3, room = 64;
    std::vector<std::int64_t> lengths;
    for (std::int64_t left = ranks * room; left > 0; left -= lengths.back())
      lengths.push_back(std::min(left, 1 + static_cast<std::int64_t>(random_bits(random_key({draw}), lengths.size()) % 40)));
    const std::vector<DocumentRows> row = row_of(lengths);
    std::vector<DocumentRows> order = order_of(row, ranks);
    const Shared shared = shared_by(order, ranks);
    EXPECT_LE(shared.cut_short, ranks - 1);
    as_dealt += std::ranges::max(shared.pairs);
    as_filed += std::ranges::max(shared_by(row, ranks).pairs);
    std::ranges::sort(order, {}, &DocumentRows::begin);
    EXPECT_EQ(order, row);
  }
  EXPECT_LT(as_dealt, 0.95 * as_filed);
}

}  // namespace
}  // namespace executor
