#include "executor/kernels/eight_bits.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/executor/checked_device/checked_device.h"

namespace executor {
namespace {

std::vector<double> rounded_to(EightBits format, std::vector<double> numbers, double scale = 1) {
  const at::Tensor all = at::tensor(numbers, at::kDouble).view({1, -1});
  const at::Tensor result = rounded(all, at::tensor({scale}, at::kDouble).view({1, 1}), format, {.rows = 1, .columns = all.numel()});
  return {result.const_data_ptr<double>(), result.const_data_ptr<double>() + result.numel()};
}

// Steps of 1/8 between 1 and 2, of 1/4 there in e5m2; ties to even; the smallest are 2^-9 and 2^-16.
TEST(EightBitsTest, RoundsToTheFormatsNumbers) {
  EXPECT_EQ(rounded_to(EightBits::E4m3, {1.06, 1.0625, 1.1875, 17.5, -1.3}), (std::vector<double>{1, 1, 1.25, 18, -1.25}));
  EXPECT_EQ(rounded_to(EightBits::E5m2, {1.12, 1.125, 1.375, -1.3}), (std::vector<double>{1, 1, 1.5, -1.25}));
  EXPECT_EQ(rounded_to(EightBits::E4m3, {0x1p-9, 0x1p-10, 0x1.8p-10}), (std::vector<double>{0x1p-9, 0, 0x1p-9}));
  EXPECT_EQ(rounded_to(EightBits::E5m2, {0x1p-16, 0x1p-17}), (std::vector<double>{0x1p-16, 0}));
}

TEST(EightBitsTest, SaturatesAndScales) {
  EXPECT_EQ(rounded_to(EightBits::E4m3, {449, 1e9, -1e9}), (std::vector<double>{448, 448, -448}));
  EXPECT_EQ(rounded_to(EightBits::E5m2, {1e9, -57344}), (std::vector<double>{57344, -57344}));
  EXPECT_EQ(rounded_to(EightBits::E4m3, {0x1p-20, 3 * 0x1p-22}, 0x1p20), (std::vector<double>{0x1p-20, 3 * 0x1p-22}));
}

TEST(EightBitsTest, ScalesAreOfTheLargestMagnitude) {
  const at::Tensor largest = at::tensor({7.0, 0.0, 448.0, 3.0}, at::kDouble);
  const auto values = [](const at::Tensor& scales) {
    return std::vector<double>(scales.const_data_ptr<double>(), scales.const_data_ptr<double>() + scales.numel());
  };
  EXPECT_EQ(values(scales_of(largest, EightBits::E4m3, ScaleRule::Exact)), (std::vector<double>{64, 1, 1, 448 * (1 / 3.0)}));
  EXPECT_EQ(values(scales_of(largest, EightBits::E4m3, ScaleRule::PowerOfTwo)), (std::vector<double>{64, 1, 1, 128}));
  EXPECT_EQ(values(scales_of(largest, EightBits::E4m3, ScaleRule::Shared)), (std::vector<double>{64, 1, 1, 128}));
  EXPECT_EQ(values(scales_of(at::tensor({7.5}, at::kDouble), EightBits::E4m3, ScaleRule::Shared)), (std::vector<double>{64}))
      << "7.5 times 64 saturates";
}

TEST(EightBitsTest, TilesMayEndEarly) {
  const at::Tensor numbers = at::tensor({1., -2., 3., 4., 5., -6., 7., 8., 9.}, at::kDouble).view({3, 3});
  const auto largest = [&](Tile tile) { return largest_of_tiles(numbers, tile); };
  EXPECT_TRUE(largest({2, 2}).equal(at::tensor({5., 6., 8., 9.}, at::kDouble).view({2, 2})));
  EXPECT_TRUE(largest({1, 99}).equal(at::tensor({3., 6., 9.}, at::kDouble).view({3, 1})));
  EXPECT_TRUE(largest({99, 1}).equal(at::tensor({7., 8., 9.}, at::kDouble).view({1, 3})));
  EXPECT_TRUE(largest({99, 99}).equal(at::tensor({9.}, at::kDouble).view({1, 1})));
  EXPECT_TRUE(largest_of_tiles(numbers.t(), {1, 99}).equal(at::tensor({7., 8., 9.}, at::kDouble).view({3, 1})));
}

// In one pass where tiles are whole rows, columns or all; of 16-bit numbers, too, and what is no number stays that.
TEST(EightBitsTest, ADeviceFindsTheSameLargest) {
  at::Tensor numbers = at::arange(-7, 17, at::kFloat).view({4, 6}).to(at::kBFloat16);
  for (const bool has_no_number : {false, true}) {
    if (has_no_number) numbers[1][2] = std::numeric_limits<double>::quiet_NaN();
    const at::Tensor there = numbers.to(checked_device());
    for (const Tile tile : {Tile{99, 99}, Tile{1, 99}, Tile{99, 1}, Tile{2, 3}, Tile{3, 99}}) {
      const at::Tensor here = largest_of_tiles(numbers, tile), found = largest_of_tiles(there, tile).cpu();
      EXPECT_EQ(found.scalar_type(), at::kFloat);
      EXPECT_TRUE(at::allclose(found, here, 0, 0, /*equal_nan=*/true)) << tile.rows << " " << tile.columns << "\n" << found << here;
    }
  }
}

// What a kernel rounds to is what LibTorch casts to: of all numbers of bf16, and of fp32 in between.
TEST(EightBitsTest, CodesAreThoseOfLibTorchsCasts) {
  at::Tensor numbers = at::arange(std::int64_t{1} << 16, at::kInt).bitwise_left_shift(16).view(at::kFloat);
  numbers = at::cat({numbers, numbers.view(at::kInt).add(0x8000).view(at::kFloat), at::arange(-700, 700, 0.01, at::kFloat)});
  numbers = numbers.masked_select(numbers.isnan().logical_not());
  for (const EightBits format : {EightBits::E4m3, EightBits::E5m2}) {
    const double most = format_of(format).largest;
    const at::Tensor cast = numbers.clamp(-most, most).to(type_of(format)).view(at::kByte), codes = at::empty_like(cast);
    for (std::int64_t i = 0; i < numbers.numel(); ++i)
      codes.data_ptr<std::uint8_t>()[i] = eight_bit_code(numbers.const_data_ptr<float>()[i], format);
    EXPECT_TRUE(codes.equal(cast)) << numbers.masked_select(codes.ne(cast));
    EXPECT_EQ(eight_bit_code(std::numeric_limits<float>::quiet_NaN(), format), 0x7f);
  }
}

TEST(EightBitsTest, AKernelsScalesAreThoseOfOperators) {
  const at::Tensor largest = at::cat({at::arange(0, 2000, 0.37, at::kFloat), at::arange(-30, 30, at::kFloat).exp2()});
  for (const EightBits format : {EightBits::E4m3, EightBits::E5m2})
    for (const ScaleRule rule : {ScaleRule::Exact, ScaleRule::PowerOfTwo, ScaleRule::Shared}) {
      const at::Tensor scales = scales_of(largest, format, rule);
      for (std::int64_t i = 0; i < largest.numel(); ++i)
        ASSERT_EQ(scale_of(largest.const_data_ptr<float>()[i], format, rule), scales.const_data_ptr<float>()[i]) << i;
    }
}

TEST(EightBitsTest, AUnitReadsAlongItsRows) {
  const at::Tensor numbers = at::tensor({1.F, 2.F, 3.F, 4.F, 5.F, 6.F}).view({2, 3});
  const UnitOperand straight = unit_operand(numbers, at::tensor({7.F}).view({1, 1}),
                                            {EightBits::E4m3, ScaleRule::Exact, false, {.rows = 9, .columns = 9}}),
                    turned = unit_operand(numbers, at::tensor({7.F, 14.F, 28.F}).view({1, 3}),
                                          {EightBits::E4m3, ScaleRule::Exact, /*is_turned=*/true, {.rows = 9, .columns = 1}});
  EXPECT_TRUE(straight.codes.to(at::kFloat).equal(numbers * 64));
  EXPECT_TRUE(straight.inverse.equal(at::tensor({1 / 64.F}).view({1, 1})));
  EXPECT_TRUE(turned.codes.is_contiguous());
  EXPECT_TRUE(turned.codes.to(at::kFloat).equal(at::tensor({64.F, 256.F, 64.F, 160.F, 48.F, 96.F}).view({3, 2})));
  EXPECT_TRUE(turned.inverse.equal(at::tensor({1 / 64.F, 1 / 32.F, 1 / 16.F}).view({3, 1})));
}

// Each tile's stands where the unit looks for it; what fills a piece is 1.
TEST(EightBitsTest, AUnitFindsTheScaleOfEachTile) {
  struct Case {
    Tile tile;  // of an operand that lies as the unit reads it
    ScaleRule rule;
    ScaleOrder order;
  };
  const Case cases[] = {{{1, 1 << 20}, ScaleRule::Exact, ScaleOrder::OuterFirst},
                        {{1, 128}, ScaleRule::Exact, ScaleOrder::OuterFirst},
                        {{128, 128}, ScaleRule::Exact, ScaleOrder::InnerFirst},
                        {{1, 32}, ScaleRule::Shared, ScaleOrder::Pieces}};
  const at::Tensor numbers = at::arange(1, 300 * 700 + 1, at::kFloat).view({300, 700});
  for (const auto& [tile, rule, order] : cases)
    for (const bool is_turned : {false, true}) {
      const Tile own = is_turned ? Tile{.rows = tile.columns, .columns = tile.rows} : tile;
      const at::Tensor given = is_turned ? numbers.t() : numbers, largest = largest_of_tiles(given, own),
                       scales = scales_of(largest, EightBits::E4m3, rule), by_unit = is_turned ? scales.t() : scales;
      const UnitOperand operand = unit_operand(given, largest, {EightBits::E4m3, rule, is_turned, own});
      const UnitScales all = filled({.outers = by_unit.size(0), .inners = by_unit.size(1), .order = order});
      at::Tensor expected = at::ones({all.outers * all.inners});
      for (std::int64_t outer = 0; outer < by_unit.size(0); ++outer)
        for (std::int64_t inner = 0; inner < by_unit.size(1); ++inner)
          expected[place_of({outer, inner}, all)] = 1 / by_unit[outer][inner].item<float>();
      const at::Tensor found = operand.inverse.to(at::kFloat), as_it_lies = order == ScaleOrder::OuterFirst ? found.t() : found;
      EXPECT_TRUE(as_it_lies.reshape({-1}).equal(expected)) << tile.rows << " " << tile.columns << " " << is_turned;
      EXPECT_EQ(operand.inverse.scalar_type(), rule == ScaleRule::Shared ? at::kFloat8_e8m0fnu : at::kFloat);
    }
  EXPECT_EQ(shared_exponent(scale_of(448, EightBits::E4m3, ScaleRule::Shared)), 127);
  EXPECT_EQ(shared_exponent(scale_of(3, EightBits::E4m3, ScaleRule::Shared)), 127 - 7);
}

// Each number by its tile's scale; those of 16 bit become fp32.
TEST(EightBitsTest, TilesHaveTheirOwnScales) {
  const at::Tensor numbers = at::tensor({1., 449., 1., 449.}, at::kDouble).view({2, 2}), scales = at::tensor({1., .5}, at::kDouble);
  EXPECT_TRUE(
      rounded(numbers, scales.view({1, 2}), EightBits::E4m3, {2, 1}).equal(at::tensor({1., 448., 1., 448.}, at::kDouble).view({2, 2})));
  EXPECT_TRUE(
      rounded(numbers, scales.view({2, 1}), EightBits::E4m3, {1, 2}).equal(at::tensor({1., 448., 1., 448.}, at::kDouble).view({2, 2})));
  EXPECT_EQ(rounded(numbers.to(at::kBFloat16), scales.view({1, 2}).to(at::kFloat), EightBits::E4m3, {2, 1}).scalar_type(), at::kFloat);
  EXPECT_TRUE(
      rounded(numbers * 3, scales.view({2, 1}), EightBits::E4m3, {1, 2}).equal(at::tensor({3., 448., 3., 896.}, at::kDouble).view({2, 2})));
}

}  // namespace
}  // namespace executor
