#include "executor/model/sample_rows.h"

#include <ATen/ops/arange.h>

#include "executor/model/norm.h"
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

// Rows of others go past a norm as they are, and so do their gradients.
TEST(SampleRows, ANormLeavesTheOthers) {
  const NormLayer whole{.kind = sim::Norm::LayerNorm, .epsilon = 1e-5, .scale = random_leaf({12}, 1), .shift = random_leaf({12}, 2)};
  NormLayer part = whole;
  part.scale = random_leaf({12}, 1), part.shift = random_leaf({12}, 2);
  part.rows = kSomeRows;
  const at::Tensor input = random_tensor({10, 12}, 3), gradient = random_tensor({10, 12}, 4), around = random_tensor({10, 12}, 5);
  ResidualStream stream{.value = input, .addend = {}}, taken{.value = kSomeRows.taken(input), .addend = {}};
  const NormResult result = norm_forward(stream, part), expected = norm_forward(taken, whole);
  EXPECT_TRUE(kSomeRows.taken(result.output).equal(expected.output));
  EXPECT_TRUE(result.output[0].equal(input[0]));
  EXPECT_TRUE(result.output[9].equal(input[9]));
  const at::Tensor back = norm_backward(result.kept, {.output = gradient, .stream = around}, part);
  const at::Tensor of_part = norm_backward(expected.kept, {.output = kSomeRows.taken(gradient), .stream = kSomeRows.taken(around)}, whole);
  EXPECT_LT(relative_error(kSomeRows.taken(back), of_part), 1e-14);
  EXPECT_LT(relative_error(back[4], gradient[4] + around[4]), 1e-14);
  EXPECT_LT(relative_error(part.scale.gradient, whole.scale.gradient), 1e-14);
}

}  // namespace
}  // namespace executor
