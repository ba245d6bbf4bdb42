#include "executor/kernels/square_sums_cuda.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "executor/kernels/exact_limbs.h"
#include "executor/kernels/square_sums.h"
#include "tests/executor/kernels/device_array.h"
#include "tests/executor/kernels/kernel_values.h"

namespace executor {
namespace {

using Limbs = std::vector<std::int64_t>;

void add(Limbs& limbs, double value) {
  if (!is_finite(value)) {
    ++limbs[kNotFiniteLimb];
    return;
  }
  const LimbParts parts = limb_parts(value);
  const auto first = static_cast<std::size_t>(parts.first);
  limbs[first] += parts.low;
  limbs[first + 1] += parts.middle;
  limbs[first + 2] += parts.high;
}

// The loop of the CPU, a block of 64 at a time, the last filled with zeros.
template <class Number>
Limbs on_cpu(const std::vector<Number>& values, const std::vector<ElementRange>& ranges) {
  Limbs limbs(kLimbs);
  for (const ElementRange& range : ranges) {
    for (std::int64_t begin = range.begin; begin < range.end; begin += kSquareBlock) {
      std::array<Number, kSquareBlock> block{};
      std::copy_n(values.begin() + begin, std::min(kSquareBlock, range.end - begin), block.begin());
      double sum = 0;
      square_sums(SquareBlocks<Number>{.values = block.data(), .blocks = 1, .sums = &sum});
      add(limbs, sum);
    }
  }
  carry(limbs.data());
  return limbs;
}

template <class Number>
Limbs on_device(const std::vector<Number>& values, const std::vector<ElementRange>& ranges, std::size_t shift) {
  DeviceArray<Number> memory(values, shift);
  DeviceArray<std::int64_t> limbs(Limbs(kLimbs, 0));
  launch_add_squares(memory.data(), ranges, limbs.data(), nullptr);
  launch_normalise(limbs.data(), nullptr);
  return limbs.values();
}

// Values of all sizes, so that limbs far apart are used.
template <class Number>
std::vector<Number> wide_ramp(std::int64_t count) {
  auto values = ramp<Number>({.count = count});
  for (std::size_t i = 0; i < values.size(); i += 97)
    values[i] = rounded<Number>(std::ldexp(load(values[i]), static_cast<int>(i % 29) - 14));
  return values;
}

template <class Number>
void expect_equal(std::int64_t count, const std::vector<ElementRange>& ranges) {
  const auto values = wide_ramp<Number>(count);
  for (const std::size_t shift : {0U, 1U, 8U})
    EXPECT_EQ(on_device(values, ranges, shift), on_cpu(values, ranges)) << sizeof(Number) << " " << shift;
}

using SquareSumsKernel = Kernels;

TEST_F(SquareSumsKernel, HasTheLimbsOfTheLoop) {
  const std::vector<ElementRange> ranges{{0, 64}, {64, 64}, {128, 40000}, {40000, 40007}, {40064, 41003}};
  expect_equal<float>(41003, ranges);
  expect_equal<double>(41003, ranges);
  expect_equal<Bfloat16Bits>(41003, ranges);
  expect_equal<Float16Bits>(41003, ranges);
}

TEST_F(SquareSumsKernel, TakesMoreRangesThanOneLaunchHolds) {
  std::vector<ElementRange> many;
  for (std::int64_t i = 0; i < 200; ++i) many.push_back({.begin = i * 64, .end = i * 64 + 1 + i % 64});
  expect_equal<float>(200 * 64, many);
}

TEST_F(SquareSumsKernel, ReachesBothEndsOfTheFixedPoint) {
  std::vector<double> values(1000, 0.0);
  values[3] = 1e-161;   // its square is subnormal
  values[700] = 1e154;  // its square is near the largest double
  EXPECT_EQ(on_device(values, {{0, 1000}}, 0), on_cpu(values, {{0, 1000}}));
}

TEST_F(SquareSumsKernel, CountsWhatIsNotFinite) {
  std::vector<float> values(1000, 1.0F);
  EXPECT_EQ(on_device(values, {{0, 1000}}, 0)[kNotFiniteLimb], 0);
  values[5] = std::numeric_limits<float>::infinity();
  values[6] = std::numeric_limits<float>::quiet_NaN();
  values[999] = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(on_device(values, {{0, 1000}}, 0)[kNotFiniteLimb], 2);  // of blocks of 64
}

TEST_F(SquareSumsKernel, TakesRangesBeforeTheAddress) {
  const auto values = wide_ramp<float>(1000);
  DeviceArray<float> memory(values);
  DeviceArray<std::int64_t> limbs(Limbs(kLimbs, 0));
  const std::vector<ElementRange> ranges{{0, 500}, {-500, -130}};
  launch_add_squares(memory.data() + 500, ranges, limbs.data(), nullptr);
  launch_normalise(limbs.data(), nullptr);
  EXPECT_EQ(limbs.values(), on_cpu(values, {{500, 1000}, {0, 370}}));
}

// One launch for each type, into one sum.
TEST_F(SquareSumsKernel, AddsToWhatAnotherTypeLeft) {
  const auto wide = wide_ramp<float>(1000);
  const auto half = wide_ramp<Bfloat16Bits>(700);
  DeviceArray<float> fp32(wide);
  DeviceArray<Bfloat16Bits> bf16(half);
  DeviceArray<std::int64_t> limbs(Limbs(kLimbs, 0));
  const std::vector<ElementRange> of_wide{{0, 1000}}, of_half{{0, 130}, {130, 700}};
  launch_add_squares(fp32.data(), of_wide, limbs.data(), nullptr);
  launch_add_squares(bf16.data(), of_half, limbs.data(), nullptr);
  launch_normalise(limbs.data(), nullptr);
  Limbs expected = on_cpu(wide, of_wide);
  const Limbs others = on_cpu(half, of_half);
  for (std::size_t at = 0; at < expected.size(); ++at) expected[at] += others[at];
  carry(expected.data());
  EXPECT_EQ(limbs.values(), expected);
}

TEST_F(SquareSumsKernel, DecidesTheFactorOfGradientsAsTheHost) {
  const auto decided = [](Limbs sum, const GradientLimit& limit) {
    DeviceArray<std::int64_t> limbs(sum);
    DeviceArray<double> factor(std::vector<double>{0});
    launch_gradient_factor(factor.data(), limbs.data(), limit, nullptr);
    const double expected = gradient_factor(norm_of(limbs_value(sum.data()), limit), limit);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(factor.values()[0]), std::bit_cast<std::uint64_t>(expected));
    return expected;
  };
  Limbs sum(kLimbs);
  for (const double value : {1e-30, 0.7, 123.456, 3e15, 5e-324}) {
    add(sum, value);
    for (const double clip : {0.0, 1e-3, 1.0, 1e9}) decided(sum, {.clip = clip, .loss_scale = 3});
  }
  EXPECT_GT(decided(sum, {.clip = 1, .skips = true}), 0);
  sum[kNotFiniteLimb] = kNotFiniteCounts;  // a rank's word, not a number
  EXPECT_GT(decided(sum, {.clip = 1, .skips = true}), 0);
  ++sum[kNotFiniteLimb];
  EXPECT_EQ(decided(sum, {.clip = 1, .skips = true}), kNothingIsStepped);
  EXPECT_EQ(decided(sum, {.clip = 1}), 1);
}

TEST_F(SquareSumsKernel, AddsValuesExactly) {
  const auto values = ramp<float>({.count = 5003});
  Limbs expected(kLimbs);
  for (std::size_t i = 7; i < values.size(); ++i) add(expected, values[i]);
  carry(expected.data());
  DeviceArray<float> memory(values);
  DeviceArray<std::int64_t> limbs(Limbs(kLimbs, 0));
  launch_add_values(memory.data(), {.begin = 7, .end = 5003}, limbs.data(), nullptr);
  launch_normalise(limbs.data(), nullptr);
  EXPECT_EQ(limbs.values(), expected);
}

}  // namespace
}  // namespace executor
