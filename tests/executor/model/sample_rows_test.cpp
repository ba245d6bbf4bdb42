#include "executor/model/sample_rows.h"

#include <ATen/ops/arange.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

// Two samples of five rows, of which the second, third and fourth are meant.
constexpr SampleRows kSomeRows{.sequence = 5, .first = 1, .count = 3};

TEST(SampleRows, AreTakenOfEachSampleAndPutBackAmongZeros) {
  const at::Tensor stream = at::arange(20, at::kDouble).view({10, 2});
  const at::Tensor taken = kSomeRows.taken(stream);
  ASSERT_EQ(taken.sizes(), at::IntArrayRef({6, 2}));
  EXPECT_EQ(taken[0][0].item<double>(), 2);
  EXPECT_EQ(taken[3][1].item<double>(), 13);
  const at::Tensor all = kSomeRows.among_zeros(taken);
  ASSERT_EQ(all.sizes(), stream.sizes());
  EXPECT_EQ(all[0].abs().sum().item<double>(), 0);
  EXPECT_EQ(all[9].abs().sum().item<double>(), 0);
  EXPECT_TRUE(kSomeRows.taken(all).equal(taken));
}

TEST(SampleRows, AllAreTheStreamItself) {
  const at::Tensor stream = random_tensor({4, 3}, 1);
  EXPECT_TRUE(SampleRows{}.taken(stream).is_same(stream));
  EXPECT_TRUE(SampleRows{}.among_zeros(stream).is_same(stream));
}

TEST(SampleRows, ArePutInTheStreamsPlace) {
  const at::Tensor stream = random_tensor({10, 3}, 1), before = stream.clone(), rows = random_tensor({6, 3}, 2);
  EXPECT_TRUE(kSomeRows.put(stream, rows).is_same(stream));
  EXPECT_TRUE(kSomeRows.taken(stream).equal(rows));
  for (const std::int64_t other : {0, 4, 5, 9}) EXPECT_TRUE(stream[other].equal(before[other]));
  EXPECT_TRUE(SampleRows{}.put(stream, rows).is_same(rows));
}

// A mask is drawn where they stand.
TEST(SampleRows, HaveTheirPlacesInAMicrobatch) {
  EXPECT_EQ(kSomeRows.stretches(2), (TokenStretches{{.begin = 0, .first = 1, .count = 3}, {.begin = 3, .first = 6, .count = 3}}));
}

// A sample's own copy, not a view that holds the stream.
TEST(SampleRows, OfOneSampleAreCopied) {
  const at::Tensor stream = random_tensor({5, 3}, 1);
  EXPECT_FALSE(kSomeRows.taken(stream).is_alias_of(stream));
}

}  // namespace
}  // namespace executor
