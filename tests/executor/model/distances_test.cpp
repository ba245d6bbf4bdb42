#include "executor/model/distances.h"

#include <gtest/gtest.h>

#include <vector>

namespace executor {
namespace {

std::vector<std::int64_t> row_of(const at::Tensor& buckets, std::int64_t query) {
  std::vector<std::int64_t> row;
  for (std::int64_t key = 0; key < buckets.size(1); ++key) row.push_back(buckets[query][key].item<std::int64_t>());
  return row;
}

// 8 columns: distances 0 to 3 have their own, then 3 + 1 + floor(4 log(d / 4) / log(4)) up to the last one.
TEST(Distances, NearOnesHaveAColumnEachAndFarOnesShare) {
  const at::Tensor buckets = distance_buckets({.buckets = 8, .farthest = 16}, 20, at::kCPU);
  EXPECT_EQ(row_of(buckets, 19), (std::vector<std::int64_t>{7, 7, 7, 7, 7, 7, 7, 7, 6, 6, 6, 6, 5, 5, 4, 4, 3, 2, 1, 0}));
  EXPECT_EQ(row_of(buckets, 0), std::vector<std::int64_t>(20, 0));  // what a decoder does not see
}

// Of an encoder half of the columns are of keys behind the query.
TEST(Distances, BothWaysHaveTheirOwnColumns) {
  const at::Tensor buckets = distance_buckets({.buckets = 8, .farthest = 8, .both_ways = true}, 7, at::kCPU);
  EXPECT_EQ(row_of(buckets, 3), (std::vector<std::int64_t>{2, 2, 1, 0, 5, 6, 6}));
}

}  // namespace
}  // namespace executor
