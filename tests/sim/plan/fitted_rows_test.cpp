#include "sim/plan/fitted_rows.h"

#include <gmock/gmock.h>

#include <numeric>
#include <set>

namespace sim {
namespace {

using ::testing::ElementsAre;

TEST(FittedRows, TheLongestComeFirstAndEachFillsARowBest) {
  const std::int64_t lengths[] = {3, 7, 2, 5, 8, 2};
  EXPECT_THAT(fitted_rows(lengths, 10), ElementsAre(ElementsAre(4, 2), ElementsAre(1, 0), ElementsAre(3, 5)));
}

TEST(FittedRows, HoldEveryDocumentOnce) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t document = 0; document < 200; ++document) lengths.push_back(1 + document * 37 % 64);
  std::multiset<std::size_t> seen;
  for (const std::vector<std::size_t>& row : fitted_rows(lengths, 64)) {
    seen.insert(row.begin(), row.end());
    EXPECT_LE(
        std::accumulate(row.begin(), row.end(), std::int64_t{0}, [&](std::int64_t sum, std::size_t one) { return sum + lengths[one]; }),
        64);
  }
  EXPECT_EQ(seen.size(), lengths.size());
  EXPECT_EQ(std::set<std::size_t>(seen.begin(), seen.end()).size(), lengths.size());
}

TEST(FittedRows, OfNothingAreNone) { EXPECT_TRUE(fitted_rows({}, 8).empty()); }

}  // namespace
}  // namespace sim
