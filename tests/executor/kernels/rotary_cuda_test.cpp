#include "executor/kernels/rotary_cuda.h"

#include "tests/executor/kernels/device_array.h"
#include "tests/executor/kernels/kernel_values.h"

namespace executor {
namespace {

// As the definition has it: head by head, pair by pair.
template <class Number>
std::vector<Number> turned(std::vector<Number> joint, const std::vector<Number>& table, const RotaryShape& shape) {
  const auto at = [](std::int64_t index) { return static_cast<std::size_t>(index); };
  for (std::int64_t token = 0; token < shape.tokens; ++token)
    for (std::int64_t head = 0; head < shape.turned; ++head)
      for (std::int64_t i = 0; i < shape.half; ++i) {
        Number& first = joint[at(token * shape.width + head * shape.head_dim + i)];
        Number& second = joint[at(token * shape.width + head * shape.head_dim + shape.half + i)];
        const std::int64_t angle = token % shape.sequence * shape.half + i;
        const auto cosine = load(table[at(angle)]), sine = load(table[at(shape.sequence * shape.half + angle)]);
        const auto along = load(first), across = load(second), direction = shape.is_back ? -sine : sine;
        store(first, along * cosine - across * direction);
        store(second, across * cosine + along * direction);
      }
  return joint;
}

template <class Number>
void expect_equal(const RotaryShape& shape, std::size_t shift) {
  const auto joint = ramp<Number>({.count = shape.tokens * shape.width}),
             table = ramp<Number>({.count = 2 * shape.sequence * shape.half, .stride = 31, .scale = 0.002});
  DeviceArray<Number> on_device(joint, shift), angles(table);
  launch_rotary(on_device.data(), angles.data(), shape, nullptr);
  EXPECT_EQ(bytes(on_device.values()), bytes(turned(joint, table, shape)));
}

using RotaryKernel = Kernels;

TEST_F(RotaryKernel, HasTheBitsOfTheLoop) {
  for (RotaryShape shape : {RotaryShape{.tokens = 10, .width = 5 * 16, .turned = 3, .head_dim = 16, .half = 8, .sequence = 5},
                            RotaryShape{.tokens = 7, .width = 4 * 6, .turned = 4, .head_dim = 6, .half = 3, .sequence = 7},
                            RotaryShape{.tokens = 6, .width = 3 * 40 + 2, .turned = 2, .head_dim = 40, .half = 20, .sequence = 3},
                            RotaryShape{.tokens = 5, .width = 4 * 24, .turned = 3, .head_dim = 24, .half = 8, .sequence = 5}})
    for (const std::size_t shift : {std::size_t{0}, std::size_t{1}})
      for (const bool is_back : {false, true}) {
        shape.is_back = is_back;
        expect_equal<float>(shape, shift);
        expect_equal<double>(shape, shift);
        expect_equal<Bfloat16Bits>(shape, shift);
        expect_equal<Float16Bits>(shape, shift);
      }
}

}  // namespace
}  // namespace executor
