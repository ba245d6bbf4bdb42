#include "executor/kernels/dropout_cuda.h"

#include "tests/executor/kernels/device_array.h"
#include "tests/executor/kernels/kernel_values.h"

namespace executor {
namespace {

constexpr std::uint64_t kKey = 0x9876543210abcdefULL;

// Each element by itself: its own 64 bits, the half that is its.
template <class Number>
std::vector<Number> dropped(std::vector<Number> numbers, const DropoutDraw& draw) {
  using Wide = decltype(load(Number{}));
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    const std::uint64_t apart = draw.width == 0 ? 0 : at / draw.width * (draw.row - draw.width), element = draw.first_element + at + apart,
                        both = sim::random_bits({draw.key}, element / 2);
    const auto bits = static_cast<std::uint32_t>(element % 2 == 0 ? both : both >> 32);
    store(numbers[at], bits < draw.threshold ? Wide(0) : load(numbers[at]) * static_cast<Wide>(draw.scale));
  }
  return numbers;
}

struct Case {
  std::int64_t count = 0;
  std::uint64_t first_element = 0;
  std::size_t shift = 0;             // from an aligned address
  std::uint64_t width = 0, row = 0;  // of parts of rows
};

template <class Number>
void expect_equal(const Case& of) {
  const auto numbers = ramp<Number>({.count = of.count});
  DropoutDraw draw = dropout_draw(0.3, {.key = kKey, .first_element = of.first_element});
  draw.width = of.width;
  draw.row = of.row;
  const std::vector<Number> expected = dropped(numbers, draw);
  DeviceArray<Number> here(numbers, of.shift);
  launch_dropout(here.data(), of.count, draw, nullptr);
  EXPECT_EQ(bytes(here.values()), bytes(expected));

  DeviceArray<std::int64_t> key({static_cast<std::int64_t>(kKey)});
  DeviceArray<Number> there(numbers, of.shift);
  draw.key = 1;  // another one
  draw.key_there = key.data();
  launch_dropout(there.data(), of.count, draw, nullptr);
  EXPECT_EQ(bytes(there.values()), bytes(expected)) << "by a key in device memory";
}

using DropoutKernel = Kernels;

TEST_F(DropoutKernel, HasTheBitsOfTheLoop) {
  for (const Case& of :
       {Case{.count = 5003}, Case{.count = 4096, .first_element = 1}, Case{.count = 43, .first_element = 4, .shift = 3},
        Case{.count = 4099, .first_element = 7, .shift = 1}, Case{.count = 5, .first_element = (std::uint64_t{1} << 33) + 1},
        Case{.count = 1 << 17, .first_element = 2}, Case{.count = 7 * 24, .first_element = 16, .width = 24, .row = 64},
        Case{.count = 7 * 24, .first_element = 16, .width = 24, .row = 33},
        Case{.count = 5 * 10, .first_element = 2, .width = 10, .row = 20}}) {
    expect_equal<float>(of);
    expect_equal<double>(of);
    expect_equal<Bfloat16Bits>(of);
    expect_equal<Float16Bits>(of);
  }
}

TEST_F(DropoutKernel, NothingIsNothing) { launch_dropout<float>(nullptr, 0, dropout_draw(0.5, {.key = kKey}), nullptr); }

}  // namespace
}  // namespace executor
