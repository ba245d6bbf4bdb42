#include "executor/kernels/eight_bits_cuda.h"

#include <algorithm>
#include <array>
#include <bit>

#include "tests/executor/kernels/device_array.h"
#include "tests/executor/kernels/kernel_values.h"

namespace executor {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

struct Expected {
  std::vector<std::uint8_t> codes, inverse;  // bytes
};

// Where each stands is held against LibTorch's own turns in eight_bits_test.
std::vector<std::uint8_t> inverse_of(const std::vector<float>& largest, const EightBitShape& shape) {
  const UnitScales scales = scales_of_unit(shape), all = filled(scales);
  std::vector<float> inverse(at(all.outers * all.inners), 1);
  for (std::int64_t tile = 0; tile < scales.outers * scales.inners; ++tile) {
    const std::int64_t fast = shape.is_turned ? scales.outers : scales.inners, slow = tile / fast,
                       outer = shape.is_turned ? tile % fast : slow;
    inverse[at(place_of({outer, shape.is_turned ? slow : tile % fast}, all))] = 1 / scale_of(largest[at(tile)], shape.format, shape.rule);
  }
  std::vector<std::uint8_t> bytes;
  for (const float each : inverse) {
    const auto bits = std::bit_cast<std::array<std::uint8_t, sizeof each>>(each);
    if (shape.rule == ScaleRule::Shared)
      bytes.push_back(static_cast<std::uint8_t>(exponent_of(each) + 127));
    else
      bytes.insert(bytes.end(), bits.begin(), bits.end());
  }
  return bytes;
}

// As the definition has it: number by number.
template <class Number>
Expected rounded(const std::vector<Number>& numbers, const std::vector<float>& largest, const EightBitShape& shape) {
  const std::int64_t across = tiles_across(shape);
  Expected result{.codes = std::vector<std::uint8_t>(numbers.size()), .inverse = inverse_of(largest, shape)};
  for (std::int64_t row = 0; row < shape.rows; ++row)
    for (std::int64_t column = 0; column < shape.columns; ++column) {
      const std::int64_t own = shape.is_turned ? column : row, other = shape.is_turned ? row : column;
      const float scale = scale_of(largest[at((row >> shape.down) * across + (column >> shape.across))], shape.format, shape.rule);
      const std::int64_t place = own * (shape.is_turned ? shape.rows : shape.columns) + other;
      result.codes[at(place)] = eight_bit_code(load(numbers[at(row * shape.columns + column)]) * scale, shape.format);
    }
  return result;
}

// Magnitudes beside the largest of the numbers, above and below: some saturate, some lose all of their bits. One is 0.
std::vector<float> magnitudes(const EightBitShape& shape) {
  std::vector<float> result;
  const std::int64_t count = tiles_down(shape) * tiles_across(shape);
  for (std::int64_t row = 0; row < count; ++row) result.push_back(row == 3 ? 0 : 0.7F * static_cast<float>(row % 11 + 1));
  return result;
}

template <class Number>
void expect_equal(const EightBitShape& shape, std::size_t shift) {
  const auto numbers = ramp<Number>({.count = shape.rows * shape.columns});
  const std::vector<float> largest = magnitudes(shape);
  DeviceArray<Number> from(numbers, shift);
  const Expected expected = rounded(numbers, largest, shape);
  DeviceArray<float> scales(largest);
  DeviceArray<std::uint8_t> codes(std::vector<std::uint8_t>(numbers.size(), 0x55), shift),
      inverse(std::vector<std::uint8_t>(expected.inverse.size(), 0x55));
  launch_eight_bits<Number>({.numbers = from.data(), .largest = scales.data(), .codes = codes.data(), .inverse = inverse.data()}, shape,
                            nullptr);
  EXPECT_EQ(codes.values(), expected.codes) << shape.rows << " " << shape.columns << " " << shape.is_turned << " " << shape.down << " "
                                            << shape.across << " " << shift;
  EXPECT_EQ(inverse.values(), expected.inverse);
}

struct Matrix {
  std::int64_t rows, columns;
};
constexpr Matrix kMatrices[] = {{64, 64}, {65, 200}, {3, 7}, {270, 264}, {1, 16}};  // those of most tiles give a block two

struct Scales {
  std::int32_t along, beside;  // sides of a tile, as powers of two: of what is summed over, of the unit's rows
  ScaleRule rule;
};
constexpr Scales kScales[] = {{kWholeSide, kWholeSide, ScaleRule::Exact},
                              {kWholeSide, 0, ScaleRule::PowerOfTwo},
                              {7, 0, ScaleRule::Exact},
                              {7, 7, ScaleRule::Exact},
                              {5, 0, ScaleRule::Shared}};

using EightBitsKernel = Kernels;

TEST_F(EightBitsKernel, HasTheBitsOfTheDefinition) {
  for (const Matrix& matrix : kMatrices)
    for (const bool is_turned : {false, true})
      for (const Scales& scales : kScales)
        for (const EightBits format : {EightBits::E4m3, EightBits::E5m2})
          for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
            const EightBitShape shape{.rows = matrix.rows,
                                      .columns = matrix.columns,
                                      .is_turned = is_turned,
                                      .down = is_turned ? scales.along : scales.beside,
                                      .across = is_turned ? scales.beside : scales.along,
                                      .format = format,
                                      .rule = scales.rule};
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
