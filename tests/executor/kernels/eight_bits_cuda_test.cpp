#include "executor/kernels/eight_bits_cuda.h"

#include <algorithm>

#include "tests/executor/kernels/device_array.h"
#include "tests/executor/kernels/kernel_values.h"

namespace executor {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

struct Expected {
  std::vector<std::uint8_t> codes;
  std::vector<float> inverse;
};

// As the definition has it: number by number.
template <class Number>
Expected rounded(const std::vector<Number>& numbers, const std::vector<float>& largest, const EightBitShape& shape) {
  Expected result{.codes = std::vector<std::uint8_t>(numbers.size()), .inverse = {}};
  for (std::int64_t row = 0; row < shape.rows; ++row)
    for (std::int64_t column = 0; column < shape.columns; ++column) {
      const std::int64_t own = shape.is_turned ? column : row, other = shape.is_turned ? row : column;
      const float scale = scale_of(largest[at(shape.has_row_scales ? own : 0)], shape.format, shape.rule);
      const std::int64_t place = own * (shape.is_turned ? shape.rows : shape.columns) + other;
      result.codes[at(place)] = eight_bit_code(load(numbers[at(row * shape.columns + column)]) * scale, shape.format);
    }
  for (const float each : largest) result.inverse.push_back(1 / scale_of(each, shape.format, shape.rule));
  return result;
}

// Magnitudes beside the largest of the numbers, above and below: some saturate, some lose all of their bits. One is 0.
std::vector<float> magnitudes(const EightBitShape& shape) {
  std::vector<float> result;
  const std::int64_t count = shape.has_row_scales ? (shape.is_turned ? shape.columns : shape.rows) : 1;
  for (std::int64_t row = 0; row < count; ++row) result.push_back(row == 3 ? 0 : 0.7F * static_cast<float>(row % 11 + 1));
  return result;
}

template <class Number>
void expect_equal(const EightBitShape& shape, std::size_t shift) {
  const auto numbers = ramp<Number>({.count = shape.rows * shape.columns});
  const std::vector<float> largest = magnitudes(shape);
  DeviceArray<Number> from(numbers, shift);
  DeviceArray<float> scales(largest), inverse(std::vector<float>(largest.size(), -1));
  DeviceArray<std::uint8_t> codes(std::vector<std::uint8_t>(numbers.size(), 0x55), shift);
  launch_eight_bits<Number>({.numbers = from.data(), .largest = scales.data(), .codes = codes.data(), .inverse = inverse.data()}, shape,
                            nullptr);
  const Expected expected = rounded(numbers, largest, shape);
  EXPECT_EQ(codes.values(), expected.codes) << shape.rows << " " << shape.columns << " " << shape.is_turned << shape.has_row_scales
                                            << shift;
  EXPECT_EQ(inverse.values(), expected.inverse);
}

struct Matrix {
  std::int64_t rows, columns;
};
constexpr Matrix kMatrices[] = {{64, 64}, {65, 200}, {3, 7}, {270, 264}, {1, 16}};  // those of most tiles give a block two

using EightBitsKernel = Kernels;

TEST_F(EightBitsKernel, HasTheBitsOfTheDefinition) {
  for (const Matrix& matrix : kMatrices)
    for (const bool is_turned : {false, true})
      for (const bool has_row_scales : {false, true})
        for (const EightBits format : {EightBits::E4m3, EightBits::E5m2})
          for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
            const EightBitShape shape{.rows = matrix.rows,
                                      .columns = matrix.columns,
                                      .is_turned = is_turned,
                                      .has_row_scales = has_row_scales,
                                      .format = format,
                                      .rule = has_row_scales ? ScaleRule::PowerOfTwo : ScaleRule::Exact};
            expect_equal<float>(shape, shift);
            expect_equal<Bfloat16Bits>(shape, shift);
            expect_equal<Float16Bits>(shape, shift);
          }
}

// All that a bf16 can be, but what is no number: every code comes, what is too large and infinities are the largest.
TEST_F(EightBitsKernel, EveryNumberHasItsCode) {
  std::vector<Bfloat16Bits> numbers;
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits)
    if ((bits & 0x7fffU) <= 0x7f80U) numbers.push_back({static_cast<std::uint16_t>(bits)});
  for (const EightBits format : {EightBits::E4m3, EightBits::E5m2}) {
    const EightBitShape shape{.rows = 1, .columns = static_cast<std::int64_t>(numbers.size()), .format = format};
    const std::vector<float> largest{format_of(format).largest};  // a scale of 1
    DeviceArray<Bfloat16Bits> from(numbers);
    DeviceArray<float> scales(largest), inverse(largest);
    DeviceArray<std::uint8_t> codes(std::vector<std::uint8_t>(numbers.size()));
    launch_eight_bits<Bfloat16Bits>({.numbers = from.data(), .largest = scales.data(), .codes = codes.data(), .inverse = inverse.data()},
                                    shape, nullptr);
    std::vector<std::uint8_t> found = codes.values();
    EXPECT_EQ(found, rounded(numbers, largest, shape).codes);
    EXPECT_EQ(inverse.values().front(), 1);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    const std::size_t finite = format == EightBits::E4m3 ? 254 : 248;
    EXPECT_EQ(found.size(), finite);
  }
}

}  // namespace
}  // namespace executor
