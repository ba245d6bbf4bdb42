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

constexpr std::int64_t kElements = 2 * kMomentBlock + 40;

KeptMoment in_eight_bits(const ByteTable& table) {
  return {.values = at::zeros({kElements}, at::kByte), .scales = at::zeros({3}), .table = &table};
}
at::Tensor read(const KeptMoment& kept) {
  at::Tensor numbers = at::empty({kElements});
  read_moment(numbers.data_ptr<float>(), kept, {.begin = 0, .end = kElements});
  return numbers;
}
void write(const at::Tensor& numbers, const KeptMoment& kept) {
  write_moment(numbers.const_data_ptr<float>(), kept, {.begin = 0, .end = kElements});
}

// Another way to the same codes: of all numbers of the table the nearest, operator by operator.
at::Tensor coded(const at::Tensor& numbers, const ByteTable& table) {
  const at::Tensor all = at::from_blob(const_cast<float*>(table.data()), {256});
  at::Tensor result = at::empty_like(numbers);
  for (std::int64_t begin = 0; begin < kElements; begin += kMomentBlock) {
    const at::Tensor block = numbers.slice(0, begin, begin + kMomentBlock), scale = at::abs(block).amax();
    result.slice(0, begin, begin + kMomentBlock).copy_(all.index_select(0, (block / scale).unsqueeze(1).sub(all).abs().argmin(1)) * scale);
  }
  return result;
}

TEST(KeptMoments, EightBitsAreTheNearestOfTheTable) {
  const at::Tensor numbers = at::randn({kElements}) * 1e-3;
  for (const ByteTable* table : {&signed_tree(), &unsigned_tree()}) {
    const at::Tensor whole = table == &signed_tree() ? numbers : numbers * numbers;
    const KeptMoment kept = in_eight_bits(*table);
    write(whole, kept);
    EXPECT_TRUE(at::equal(read(kept), coded(whole, *table)));
    EXPECT_EQ(kept.scales[1].item<float>(), at::abs(whole.slice(0, kMomentBlock, 2 * kMomentBlock)).max().item<float>());
  }
}

TEST(KeptMoments, BeginAsZeros) {
  for (const ByteTable* table : {&signed_tree(), &unsigned_tree()}) EXPECT_EQ(at::abs(read(in_eight_bits(*table))).max().item<float>(), 0);
}

TEST(KeptMoments, OfBlocksWithoutNumbersAreNone) {
  at::Tensor numbers = at::zeros({kElements});
  numbers[300] = std::numeric_limits<float>::infinity();
  const KeptMoment kept = in_eight_bits(signed_tree());
  write(numbers, kept);
  EXPECT_TRUE(std::isnan(read(kept)[256].item<float>()));
  EXPECT_EQ(read(kept)[255].item<float>(), 0);
}

TEST(KeptMoments, InBf16AreRounded) {
  const at::Tensor numbers = at::randn({kElements});
  const KeptMoment kept{.values = at::empty({kElements}, at::kBFloat16)};
  write(numbers, kept);
  EXPECT_TRUE(at::equal(kept.values, numbers.to(at::kBFloat16)));
  EXPECT_TRUE(at::equal(read(kept), numbers.to(at::kBFloat16).to(at::kFloat)));
}

TEST(KeptMoments, OfARangeBeginWithABlock) {
  float number = 1;
  EXPECT_ANY_THROW(write_moment(&number, in_eight_bits(signed_tree()), {.begin = 1, .end = 2}));
}

// The weights are stepped by moments as wide as they are, which are rounded afterwards.
TEST(KeptMoments, AreRoundedBehindTheStep) {
  const at::Tensor weights = at::randn({kElements}), gradient = at::randn({kElements});
  const DecayRange all{.begin = 0, .end = kElements, .weight_decay = 0.1};
  const AdamWShard wide{
      .master = weights.clone(), .gradient = gradient, .first_moment = at::zeros({kElements}), .second_moment = at::zeros({kElements})};
  const KeptMoment first = in_eight_bits(signed_tree()), second = in_eight_bits(unsigned_tree());
  const AdamWShard narrow{.master = weights.clone(),
                          .gradient = gradient,
                          .first_moment = first.values,
                          .second_moment = second.values,
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
