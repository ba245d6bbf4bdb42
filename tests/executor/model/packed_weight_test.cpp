#include "executor/model/packed_weight.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "executor/kernels/code_tables.h"
#include "sim/units/at.h"
#include "tests/executor/checked_device/checked_device.h"

namespace executor {
namespace {

using sim::BaseFormat;
using sim::TensorSplit;

sim::Parameter parameter(std::int64_t rows, std::int64_t columns, TensorSplit split, std::vector<std::int64_t> blocks = {}) {
  return {.name = "w", .rows = rows, .columns = columns, .split = split, .row_blocks = std::move(blocks)};
}
at::Tensor drawn(const sim::Parameter& of) { return at::randn({of.elements()}, at::kFloat); }
at::Tensor there_and_back(const sim::Parameter& of, const at::Tensor& whole, BaseFormat format, TensorPosition tensor = {},
                          at::ScalarType numbers = at::kFloat) {
  const PackedWeight packing(format, of, tensor, numbers);
  return packing.unpack(packing.pack(whole));
}

// The definition, element by element (one piece): what every block's scale is, in 8 bit by 256, and the nearest of all 16 numbers.
std::vector<float> by_definition(const float* numbers, std::int64_t count) {
  const auto nearest = [](const auto& table, float value) {
    return *std::ranges::min_element(table, {}, [value](float one) { return std::abs(value - one); });
  };
  std::vector<float> scales, result;
  for (std::int64_t first = 0; first < count; first += 64) {
    scales.push_back(0);
    for (std::int64_t at = first; at < std::min(first + 64, count); ++at) scales.back() = std::max(scales.back(), std::abs(numbers[at]));
  }
  double sum = 0;
  for (const float scale : scales) sum += scale;
  const auto mean = static_cast<float>(sum / static_cast<double>(scales.size()));
  for (std::int64_t at = 0; at < count; ++at) {
    const std::int64_t block = at / 64, group = block / 256;
    float of_group = 0;
    for (std::int64_t each = group * 256; each < std::min<std::int64_t>(group * 256 + 256, std::ssize(scales)); ++each)
      of_group = std::max(of_group, std::abs(sim::at(scales, each) - mean));
    const float scale = sim::at(scales, block), kept = nearest(signed_tree(), (scale - mean) * (1 / of_group)) * of_group + mean;
    result.push_back(nearest(kNf4, numbers[at] * (1 / scale)) * kept);
  }
  return result;
}

TEST(PackedWeight, OfFourBitsIsItsDefinition) {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{64, 96}, {300, 128}, {7, 13}}) {
    const sim::Parameter weight = parameter(rows, columns, TensorSplit::Rows);
    const at::Tensor whole = drawn(weight), back = there_and_back(weight, whole, BaseFormat::Nf4);
    const std::vector<float> expected = by_definition(whole.const_data_ptr<float>(), whole.numel());
    for (std::int64_t at = 0; at < whole.numel(); ++at) EXPECT_EQ(back.const_data_ptr<float>()[at], sim::at(expected, at)) << at;
    const double error = (back.view({-1}) - whole).norm().item<double>() / whole.norm().item<double>();
    EXPECT_LT(error, 0.12);
    EXPECT_GT(error, 0.05);
  }
}

TEST(PackedWeight, OfEightBitsIsWithinHalfAStepOfItsRow) {
  const sim::Parameter weight = parameter(5, 33, TensorSplit::Rows);
  const at::Tensor whole = drawn(weight), back = there_and_back(weight, whole, BaseFormat::Int8), rows = whole.view({5, 33});
  const at::Tensor step = rows.abs().amax(1, true).div(127);
  EXPECT_TRUE((back - rows).abs().le(step.mul(0.5001)).all().item<bool>());
  EXPECT_TRUE(at::equal(back.abs().amax(1), rows.abs().amax(1)) ||
              (back.abs().amax(1) - rows.abs().amax(1)).abs().max().item<float>() < 1e-6);
}

// q | k | v are scaled each by itself; a tensor rank has the numbers of one process.
TEST(PackedWeight, IsTheSameUnderEveryLayout) {
  for (const BaseFormat format : {BaseFormat::Nf4, BaseFormat::Int8}) {
    const sim::Parameter joint = parameter(384, 128, TensorSplit::Rows, {128, 128, 128}), out = parameter(48, 512, TensorSplit::Columns);
    for (const sim::Parameter& weight : {joint, out}) {
      const at::Tensor whole = drawn(weight), alone = there_and_back(weight, whole, format);
      for (TensorPosition tensor{.degree = 4, .rank = 0}; tensor.rank < 4; ++tensor.rank) {
        const TensorPart part(weight, tensor);
        const at::Tensor here = there_and_back(weight, whole, format, tensor), expected = at::zeros({part.elements()}, at::kFloat);
        take_part(expected, alone.view({-1}), part, {});
        EXPECT_TRUE(at::equal(here.view({-1}), expected)) << tensor.rank;
      }
    }
  }
}

TEST(PackedWeight, ZerosStayZerosAndTypesAreRoundings) {
  const sim::Parameter weight = parameter(4, 64, TensorSplit::Rows);
  at::Tensor whole = drawn(weight);
  whole.narrow(0, 64, 64).zero_();
  for (const BaseFormat format : {BaseFormat::Nf4, BaseFormat::Int8}) {
    const at::Tensor back = there_and_back(weight, whole, format);
    EXPECT_EQ(back.select(0, 1).count_nonzero().item<std::int64_t>(), 0);
    EXPECT_TRUE(at::equal(there_and_back(weight, whole, format, {}, at::kBFloat16), back.to(at::kBFloat16)));
    EXPECT_TRUE(at::equal(there_and_back(weight, whole, format, {}, at::kDouble), back.to(at::kDouble)));
  }
}

TEST(PackedWeight, ADeviceWithoutALoopGivesTheSameBits) {
  for (const BaseFormat format : {BaseFormat::Nf4, BaseFormat::Int8})
    for (const sim::Parameter& weight : {parameter(36, 31, TensorSplit::Rows, {12, 24}), parameter(256, 256, TensorSplit::Columns)}) {
      const TensorPosition tensor{.degree = weight.split == TensorSplit::Columns ? 2 : 1,
                                  .rank = weight.split == TensorSplit::Columns ? 1 : 0};
      const PackedWeight packing(format, weight, tensor, at::kFloat);
      const at::Tensor packed = packing.pack(drawn(weight));
      EXPECT_TRUE(at::equal(packing.unpack(packed.to(checked_device())).cpu(), packing.unpack(packed)));
    }
}

}  // namespace
}  // namespace executor
