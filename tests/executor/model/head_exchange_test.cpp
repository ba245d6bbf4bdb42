#include "executor/model/head_exchange.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

// Four heads of queries and two of keys, three columns each, two of values with two.
const Dealing kJoint{.columns = {12, 6, 4}, .tokens = 5, .ranks = 2};
constexpr std::int64_t kRowsHere = 10;  // two samples

TEST(HeadExchange, AChunkHoldsItsRanksHeads) {
  const at::Tensor rows = random_tensor({kRowsHere, 22}, 1), chunks = by_heads(rows, kJoint);
  EXPECT_TRUE(
      at::equal(chunks[1].reshape({kRowsHere, 11}), at::cat({rows.narrow(1, 6, 6), rows.narrow(1, 15, 3), rows.narrow(1, 20, 2)}, 1)));
  EXPECT_TRUE(at::equal(joined_heads(chunks, kJoint), rows));
}

TEST(HeadExchange, OutputsAreHeadsAlone) {
  const Dealing mixed{.columns = {12}, .tokens = 5, .ranks = 2};
  const at::Tensor rows = random_tensor({kRowsHere, 12}, 2), chunks = by_heads(rows, mixed);
  EXPECT_TRUE(at::equal(chunks[0].reshape({kRowsHere, 6}), rows.narrow(1, 0, 6)));
  EXPECT_TRUE(at::equal(joined_heads(chunks, mixed), rows));
}

TEST(HeadExchange, TokensOfEachSampleAreJoined) {
  const at::Tensor chunks = at::arange(2 * 2 * 5 * 7, at::kDouble).view({2, 2, 5, 7});  // rank, sample, token, width
  const at::Tensor rows = joined_tokens(chunks, kJoint);
  ASSERT_EQ(rows.sizes(), at::IntArrayRef({20, 7}));
  EXPECT_TRUE(at::equal(rows[7], chunks[1][0][2])) << "the first sample's token 7 is the second rank's token 2";
  EXPECT_TRUE(at::equal(rows[11], chunks[0][1][1]));
  EXPECT_TRUE(at::equal(by_tokens(rows, kJoint), chunks));
}

TEST(HeadExchange, MirroredTokensStandFromTheFrontAndFromTheBack) {
  const Dealing dealing{.columns = {14}, .tokens = 4, .ranks = 2, .is_mirrored = true};
  const at::Tensor chunks = at::arange(2 * 2 * 4 * 7, at::kDouble).view({2, 2, 4, 7});
  const at::Tensor rows = joined_tokens(chunks, dealing);
  ASSERT_EQ(rows.sizes(), at::IntArrayRef({16, 7}));
  const at::Tensor second = rows.narrow(0, 8, 8);
  EXPECT_TRUE(at::equal(second, at::cat({chunks[0][1].narrow(0, 0, 2), chunks[1][1], chunks[0][1].narrow(0, 2, 2)})));
  EXPECT_TRUE(at::equal(by_tokens(rows, dealing), chunks));
}

}  // namespace
}  // namespace executor
