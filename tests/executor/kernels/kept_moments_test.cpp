#include "executor/kernels/kept_moments.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "executor/kernels/numbers.h"
#include "executor/kernels/optimizer.h"

namespace executor {
namespace {

constexpr std::int64_t kUnevenBlocks = 2 * kMomentBlock + 40;

KeptMoment eight_bits(const ByteTable& table) {
  return {.values = at::zeros({kUnevenBlocks}, at::kByte), .scales = at::zeros({3}), .table = &table};
}
at::Tensor read_back(const KeptMoment& kept) {
  at::Tensor numbers = at::empty({kUnevenBlocks});
  read_moment(numbers.data_ptr<float>(), kept, {.begin = 0, .end = kUnevenBlocks});
  return numbers;
}
void write_all(const at::Tensor& numbers, const KeptMoment& kept) {
  write_moment(numbers.const_data_ptr<float>(), kept, {.begin = 0, .end = kUnevenBlocks});
}

// Another way to the same codes: of all numbers of the table the nearest, operator by operator.
at::Tensor coded(const at::Tensor& numbers, const ByteTable& table) {
  const at::Tensor all = at::from_blob(const_cast<float*>(table.data()), {256});
  at::Tensor result = at::empty_like(numbers);
  for (std::int64_t begin = 0; begin < kUnevenBlocks; begin += kMomentBlock) {
    const at::Tensor block = numbers.slice(0, begin, begin + kMomentBlock), scale = at::abs(block).amax();
    result.slice(0, begin, begin + kMomentBlock).copy_(all.index_select(0, (block / scale).unsqueeze(1).sub(all).abs().argmin(1)) * scale);
  }
  return result;
}

TEST(KeptMoments, EightBitsAreTheNearestOfTheTable) {
  const at::Tensor numbers = at::randn({kUnevenBlocks}) * 1e-3;
  for (const ByteTable* table : {&signed_tree(), &unsigned_tree()}) {
    const at::Tensor whole = table == &signed_tree() ? numbers : numbers * numbers;
    const KeptMoment kept = eight_bits(*table);
    write_all(whole, kept);
    EXPECT_TRUE(at::equal(read_back(kept), coded(whole, *table)));
    EXPECT_EQ(kept.scales[1].item<float>(), at::abs(whole.slice(0, kMomentBlock, 2 * kMomentBlock)).max().item<float>());
  }
}

TEST(KeptMoments, BeginAsZeros) {
  for (const ByteTable* table : {&signed_tree(), &unsigned_tree()})
    EXPECT_EQ(at::abs(read_back(eight_bits(*table))).max().item<float>(), 0);
}

TEST(KeptMoments, OfBlocksWithoutNumbersAreNone) {
  at::Tensor numbers = at::zeros({kUnevenBlocks});
  numbers[300] = std::numeric_limits<float>::infinity();
  const KeptMoment kept = eight_bits(signed_tree());
  write_all(numbers, kept);
  EXPECT_TRUE(std::isnan(read_back(kept)[256].item<float>()));
  EXPECT_EQ(read_back(kept)[255].item<float>(), 0);
}

TEST(KeptMoments, InBf16AreRounded) {
  const at::Tensor numbers = at::randn({kUnevenBlocks});
  const KeptMoment kept{.values = at::empty({kUnevenBlocks}, at::kBFloat16)};
  write_all(numbers, kept);
  EXPECT_TRUE(at::equal(kept.values, numbers.to(at::kBFloat16)));
  EXPECT_TRUE(at::equal(read_back(kept), numbers.to(at::kBFloat16).to(at::kFloat)));
}

TEST(KeptMoments, OfARangeBeginWithABlock) {
  float number = 1;
  EXPECT_ANY_THROW(write_moment(&number, eight_bits(signed_tree()), {.begin = 1, .end = 2}));
}

// The weights are stepped by moments as wide as they are, which are rounded afterwards.
TEST(KeptMoments, AreRoundedBehindTheStep) {
  const at::Tensor weights = at::randn({kUnevenBlocks}), gradient = at::randn({kUnevenBlocks});
  const DecayRange all{.begin = 0, .end = kUnevenBlocks, .weight_decay = 0.1};
  const AdamWShard wide{.master = weights.clone(),
                        .gradient = gradient,
                        .first_moment = at::zeros({kUnevenBlocks}),
                        .second_moment = at::zeros({kUnevenBlocks}),
                        .rounded = {}};
  const KeptMoment first = eight_bits(signed_tree()), second = eight_bits(unsigned_tree());
  const AdamWShard narrow{.master = weights.clone(),
                          .gradient = gradient,
                          .first_moment = first.values,
                          .second_moment = second.values,
                          .rounded = {},
                          .first_codes = {.scales = first.scales, .table = first.table},
                          .second_codes = {.scales = second.scales, .table = second.table}};
  for (std::int64_t step = 1; step <= 3; ++step) {
    const AdamWSettings settings{.learning_rate = 0.02, .step = step};
    step_adamw(wide, {&all, 1}, settings);
    step_adamw(narrow, {&all, 1}, settings);
    EXPECT_TRUE(at::equal(narrow.master, wide.master)) << step;
    wide.first_moment.copy_(coded(wide.first_moment, signed_tree()));
    wide.second_moment.copy_(coded(wide.second_moment, unsigned_tree()));
  }
}

}  // namespace
}  // namespace executor
