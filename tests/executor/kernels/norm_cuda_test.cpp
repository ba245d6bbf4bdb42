#include "executor/kernels/norm_cuda.h"

#include "tests/executor/kernels/device_array.h"
#include "tests/executor/kernels/kernel_values.h"
#include "tests/executor/kernels/norm_case.h"

namespace executor {
namespace {

template <class Number>
struct Forward {
  std::vector<Number> sum, stream, scale, shift, output;
  std::vector<WideOf<Number>> mean, inverse;
};

template <class Number>
Forward<Number> inputs(const NormCase& at) {
  const std::int64_t width = at.shape.width, elements = at.shape.tokens * width;
  return {.sum = ramp<Number>({.count = elements}),
          .stream = ramp<Number>({.count = elements, .stride = 31}),
          .scale = ramp<Number>({.count = width, .stride = 57, .scale = 0.002}),
          .shift = ramp<Number>({.count = width, .stride = 17, .scale = 0.001}),
          .output = ramp<Number>({.count = elements}),
          .mean = ramp<WideOf<Number>>({.count = at.shape.tokens}),
          .inverse = ramp<WideOf<Number>>({.count = at.shape.tokens})};
}

template <class Number>
Forward<Number> on_device(const NormCase& at, const Forward<Number>& in) {
  DeviceArray<Number> sum(in.sum, at.shift), stream(in.stream, at.shift), scale(in.scale, at.shift), shift(in.shift, at.shift),
      output(in.output, at.shift);
  DeviceArray<WideOf<Number>> mean(in.mean), inverse(in.inverse);
  NormForward<Number> of{.sum = sum.data(),
                         .stream = stream.data(),
                         .scale = scale.data(),
                         .shift = shift.data(),
                         .output = output.data(),
                         .mean = mean.data(),
                         .inverse = inverse.data()};
  if (!at.residual) of.stream = nullptr;
  if (!at.layer_norm) of.mean = nullptr, of.shift = nullptr;
  launch_norm_forward(of, at.shape, nullptr);
  return {.sum = sum.values(),
          .stream = {},
          .scale = {},
          .shift = {},
          .output = output.values(),
          .mean = mean.values(),
          .inverse = inverse.values()};
}

// From the residual sum that the kernel stored: its rounding is checked apart.
template <class Number>
std::vector<double> expected_output(const NormCase& at, const Forward<Number>& in, const std::vector<Number>& sum) {
  const std::vector<double> h = widened(sum);
  std::vector<double> output;
  for (std::int64_t token = 0; token < at.shape.tokens; ++token) {
    const double* row = h.data() + token * at.shape.width;
    const NormRow norm = norm_row(row, at.shape.width, at);
    for (std::int64_t i = 0; i < at.shape.width; ++i) {
      const auto column = static_cast<std::size_t>(i);
      output.push_back((row[i] - norm.mean) * norm.inverse * load(in.scale[column]) + (at.layer_norm ? load(in.shift[column]) : 0));
    }
  }
  return output;
}

template <class Number>
std::vector<Number> expected_sum(const NormCase& at, const Forward<Number>& in) {
  if (!at.residual) return in.sum;
  std::vector<Number> sum;
  for (std::size_t i = 0; i < in.sum.size(); ++i) store(sum.emplace_back(), load(in.sum[i]) + load(in.stream[i]));
  return sum;
}

template <class Number>
void expect_parity(const NormCase& at) {
  const Forward<Number> in = inputs<Number>(at), is = on_device(at, in);
  EXPECT_EQ(bytes(is.sum), bytes(expected_sum(at, in)));
  EXPECT_LT(relative_error(is.output, expected_output(at, in, is.sum)), kTolerance<Number>);
  const std::vector<double> h = widened(is.sum);
  for (std::size_t token = 0; token < is.inverse.size(); token += 7) {
    const NormRow row = norm_row(h.data() + static_cast<std::int64_t>(token) * at.shape.width, at.shape.width, at);
    EXPECT_NEAR(is.inverse[token] / row.inverse, 1, 1e-6);
    EXPECT_NEAR(at.layer_norm ? is.mean[token] : 0, row.mean, 1e-6);
  }
}

using NormKernel = Kernels;

TEST_F(NormKernel, EqualsTheDefinition) {
  for (const NormCase& at : kNormCases) {
    SCOPED_TRACE(at.shape.width);
    expect_parity<float>(at);
    expect_parity<Bfloat16Bits>(at);
    if (at.shape.tokens > 1000) continue;
    expect_parity<double>(at);
    expect_parity<Float16Bits>(at);
  }
}

TEST_F(NormKernel, RefusesAWidthWithoutAKernel) {
  EXPECT_THROW(launch_norm_forward(NormForward<float>{}, {.tokens = 1, .width = kWidestNorm + 1}, nullptr), std::invalid_argument);
  EXPECT_THROW(launch_norm_forward(NormForward<float>{}, {.tokens = 1, .width = 0}, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace executor
