#include "executor/kernels/gated_silu_cuda.h"

#include <cmath>

#include "tests/executor/kernels/device_array.h"
#include "tests/executor/kernels/kernel_values.h"

namespace executor {
namespace {

double gated(double gate, double value) { return gate / (1 + std::exp(-gate)) * value; }

// The definition in fp64, and its slopes by central differences.
struct Expected {
  std::vector<double> output, joint_gradient;
};
Expected expected_of(const std::vector<double>& joint, const std::vector<double>& gradient, const GatedShape& shape) {
  constexpr double kApart = 1e-5;
  Expected expected{.output = {}, .joint_gradient = std::vector<double>(joint.size())};
  for (std::int64_t row = 0; row < shape.rows; ++row)
    for (std::int64_t column = 0; column < shape.width; ++column) {
      const auto gate = static_cast<std::size_t>(row * 2 * shape.width + column), value = gate + static_cast<std::size_t>(shape.width);
      const double slope = gradient[expected.output.size()];
      expected.output.push_back(gated(joint[gate], joint[value]));
      expected.joint_gradient[gate] =
          slope * (gated(joint[gate] + kApart, joint[value]) - gated(joint[gate] - kApart, joint[value])) / (2 * kApart);
      expected.joint_gradient[value] = slope * gated(joint[gate], 1);
    }
  return expected;
}

template <class Number>
void expect_close(const GatedShape& shape, std::size_t shift) {
  const auto joint = ramp<Number>({.count = shape.rows * 2 * shape.width}),
             gradient = ramp<Number>({.count = shape.rows * shape.width, .stride = 101, .scale = 0.003});
  const Expected expected = expected_of(widened(joint), widened(gradient), shape);
  DeviceArray<Number> input(joint, shift), slope(gradient), output(std::vector<Number>(gradient.size()), shift),
      back(std::vector<Number>(joint.size()));
  launch_gated_silu(output.data(), input.data(), shape, nullptr);
  launch_gated_silu_backward(back.data(), input.data(), slope.data(), shape, nullptr);
  EXPECT_LE(relative_error(output.values(), expected.output), kTolerance<Number>);
  EXPECT_LE(relative_error(back.values(), expected.joint_gradient), std::max(kTolerance<Number>, 1e-9));  // differences are no better
}

using GatedSiluKernel = Kernels;

TEST_F(GatedSiluKernel, AgreesWithTheDefinition) {
  for (const GatedShape& shape :
       {GatedShape{.rows = 5, .width = 24}, GatedShape{.rows = 3, .width = 13}, GatedShape{.rows = 70, .width = 256}})
    for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
      expect_close<float>(shape, shift);
      expect_close<double>(shape, shift);
      expect_close<Bfloat16Bits>(shape, shift);
      expect_close<Float16Bits>(shape, shift);
    }
}

}  // namespace
}  // namespace executor
