#include "executor/model/head_exchange.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

constexpr Dealing kJoint{.heads = {.heads = 4, .kv_heads = 2, .head_dim = 3, .sequence = 5}, .ranks = 2};
constexpr std::int64_t kRowsHere = 10;   // two samples

TEST(HeadExchange, AChunkHoldsItsRanksHeads) {
  const at::Tensor rows = random_tensor({kRowsHere, kJoint.heads.width()}, 1), chunks = by_heads(rows, kJoint);
  // Heads of three columns: queries 0 .. 3, keys 4 and 5, values 6 and 7; the second rank's are 2, 3, 5 and 7.
  const auto head = [&](std::int64_t at) { return rows.narrow(1, 3 * at, 3); };
  EXPECT_TRUE(at::equal(chunks[1].reshape({kRowsHere, 12}), at::cat({head(2), head(3), head(5), head(7)}, 1)));
  EXPECT_TRUE(at::equal(joined_heads(chunks, kJoint), rows));
}

TEST(HeadExchange, OutputsHaveQueriesHeadsAlone) {
  Dealing mixed = kJoint;
  mixed.heads.kv_heads = 0;
  const at::Tensor rows = random_tensor({kRowsHere, 12}, 2), chunks = by_heads(rows, mixed);
  EXPECT_TRUE(at::equal(chunks[0].reshape({kRowsHere, 6}), rows.narrow(1, 0, 6)));
  EXPECT_TRUE(at::equal(joined_heads(chunks, mixed), rows));
}

TEST(HeadExchange, TokensOfEachSampleAreJoined) {
  const at::Tensor chunks = at::arange(2 * 2 * 5 * 7, at::kDouble).view({2, 2, 5, 7});   // rank, sample, token, width
  const at::Tensor rows = joined_tokens(chunks, kJoint);
  ASSERT_EQ(rows.sizes(), at::IntArrayRef({20, 7}));
  EXPECT_TRUE(at::equal(rows[7], chunks[1][0][2])) << "the first sample's token 7 is the second rank's token 2";
  EXPECT_TRUE(at::equal(rows[11], chunks[0][1][1]));
  EXPECT_TRUE(at::equal(by_tokens(rows, kJoint), chunks));
}

}  // namespace
}  // namespace executor
