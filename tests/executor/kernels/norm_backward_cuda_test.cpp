#include <algorithm>

#include "executor/kernels/norm_cuda.h"
#include "tests/executor/kernels/device_array.h"
#include "tests/executor/kernels/kernel_values.h"
#include "tests/executor/kernels/norm_case.h"

namespace executor {
namespace {

template <class Number, class Gradient>
struct Backward {
  std::vector<Number> output_gradient, h, scale, stream_gradient, input_gradient;
  std::vector<WideOf<Number>> mean, inverse;
  std::vector<Gradient> scale_gradient, shift_gradient;
};

template <class Number, class Gradient>
Backward<Number, Gradient> inputs(const NormCase& at) {
  const std::int64_t width = at.shape.width, elements = at.shape.tokens * width;
  const auto weight = [&](std::int64_t stride) { return ramp<Gradient>({.count = width, .stride = stride, .scale = 0.001}); };
  Backward<Number, Gradient> in{.output_gradient = ramp<Number>({.count = elements, .stride = 31, .scale = 0.001}),
                                .h = ramp<Number>({.count = elements}),
                                .scale = ramp<Number>({.count = width, .stride = 57, .scale = 0.002}),
                                .stream_gradient = ramp<Number>({.count = elements, .stride = 17, .scale = 0.001}),
                                .input_gradient = ramp<Number>({.count = elements}),
                                .mean = {},
                                .inverse = {},
                                .scale_gradient = weight(3),
                                .shift_gradient = weight(5)};
  const std::vector<double> h = widened(in.h);
  for (std::int64_t token = 0; token < at.shape.tokens; ++token) {
    const NormRow row = norm_row(h.data() + token * width, width, at);
    in.mean.push_back(static_cast<WideOf<Number>>(row.mean));
    in.inverse.push_back(static_cast<WideOf<Number>>(row.inverse));
  }
  return in;
}

template <class Number, class Gradient>
Backward<Number, Gradient> on_device(const NormCase& at, const Backward<Number, Gradient>& in, bool writes = false) {
  DeviceArray<Number> output_gradient(in.output_gradient, at.shift), h(in.h, at.shift), scale(in.scale, at.shift),
      stream_gradient(in.stream_gradient, at.shift), input_gradient(in.input_gradient, at.shift);
  DeviceArray<Gradient> scale_gradient(in.scale_gradient), shift_gradient(in.shift_gradient);
  DeviceArray<WideOf<Number>> mean(in.mean), inverse(in.inverse),
      workspace(std::vector<WideOf<Number>>(static_cast<std::size_t>(norm_workspace(at.shape)), std::nan("")));
  NormBackward<Number, Gradient> of{.output_gradient = output_gradient.data(),
                                    .h = h.data(),
                                    .mean = mean.data(),
                                    .inverse = inverse.data(),
                                    .scale = scale.data(),
                                    .stream_gradient = stream_gradient.data(),
                                    .input_gradient = input_gradient.data(),
                                    .scale_gradient = scale_gradient.data(),
                                    .shift_gradient = shift_gradient.data(),
                                    .writes = writes,
                                    .workspace = workspace.data()};
  if (!at.residual) of.stream_gradient = nullptr;
  if (!at.layer_norm) of.mean = nullptr, of.shift_gradient = nullptr;
  launch_norm_backward(of, at.shape, nullptr);
  Backward<Number, Gradient> result = in;
  result.input_gradient = input_gradient.values();
  result.scale_gradient = scale_gradient.values();
  result.shift_gradient = shift_gradient.values();
  workspace.values();  // its guards
  return result;
}

// What the gradients are of: sum of output_gradient * output + stream_gradient * h, of one token.
struct Token {
  std::vector<double> output_gradient, h, scale, stream_gradient;

  double value(const NormCase& at) const {
    const NormRow row = norm_row(h.data(), at.shape.width, at);
    double sum = 0;
    for (std::size_t i = 0; i < h.size(); ++i)
      sum += output_gradient[i] * (h[i] - row.mean) * row.inverse * scale[i] + (at.residual ? stream_gradient[i] * h[i] : 0);
    return sum;
  }
};

template <class Number, class Gradient>
Token token_of(const NormCase& at, const Backward<Number, Gradient>& in, std::int64_t token) {
  const auto row = [&](const std::vector<Number>& values) {
    const auto first = values.begin() + token * at.shape.width;
    return widened(std::vector<Number>(first, first + at.shape.width));
  };
  return {row(in.output_gradient), row(in.h), widened(in.scale), row(in.stream_gradient)};
}

// By central differences in fp64 of some columns: knows nothing of the kernel's formula.
template <class Number, class Gradient>
void expect_input_gradient(const NormCase& at, const Backward<Number, Gradient>& in, const Backward<Number, Gradient>& is) {
  std::vector<double> expected;
  std::vector<Number> found;
  for (std::int64_t token = 0; token < at.shape.tokens; token += 1 + at.shape.tokens / 5) {
    Token row = token_of(at, in, token);
    for (std::int64_t column = token % 3; column < at.shape.width; column += 1 + at.shape.width / 150) {
      double& h = row.h[static_cast<std::size_t>(column)];
      const double before = h, step = 1e-4;
      h = before + step;
      const double above = row.value(at);
      h = before - step;
      expected.push_back((above - row.value(at)) / (2 * step));
      h = before;
      found.push_back(is.input_gradient[static_cast<std::size_t>(token * at.shape.width + column)]);
    }
  }
  EXPECT_LT(relative_error(found, expected), std::max(kTolerance<Number>, 1e-7));
}

template <class Number, class Gradient>
void expect_weight_gradients(const NormCase& at, const Backward<Number, Gradient>& in, const Backward<Number, Gradient>& is) {
  std::vector<double> scale = widened(in.scale_gradient), shift = widened(in.shift_gradient);
  for (std::int64_t token = 0; token < at.shape.tokens; ++token) {
    const Token row = token_of(at, in, token);
    const NormRow norm = norm_row(row.h.data(), at.shape.width, at);
    for (std::size_t i = 0; i < scale.size(); ++i) {
      scale[i] += row.output_gradient[i] * (row.h[i] - norm.mean) * norm.inverse;
      if (at.layer_norm) shift[i] += row.output_gradient[i];
    }
  }
  EXPECT_LT(relative_error(is.scale_gradient, scale), kTolerance<Gradient>);
  EXPECT_LT(relative_error(is.shift_gradient, shift), kTolerance<Gradient>);
}

template <class Number, class Gradient>
void expect_parity(const NormCase& at) {
  const Backward<Number, Gradient> in = inputs<Number, Gradient>(at), is = on_device(at, in);
  expect_input_gradient(at, in, is);
  expect_weight_gradients(at, in, is);
  EXPECT_EQ(bytes(on_device(at, in).scale_gradient), bytes(is.scale_gradient)) << "another run, other bits";
}

using NormBackwardKernel = Kernels;

TEST_F(NormBackwardKernel, IsTheSlopeOfTheDefinition) {
  for (const NormCase& at : kNormCases) {
    SCOPED_TRACE(at.shape.width);
    expect_parity<float, float>(at);
    expect_parity<Bfloat16Bits, float>(at);
    if (at.shape.tokens > 1000) continue;
    expect_parity<double, double>(at);
    expect_parity<Bfloat16Bits, Bfloat16Bits>(at);
    expect_parity<Float16Bits, Float16Bits>(at);
    expect_parity<Float16Bits, float>(at);
  }
}

// A microbatch that is the first has the bits of one that is added to zeros.
TEST_F(NormBackwardKernel, WritesWhatIsFirst) {
  const NormCase at = kNormCases[0];
  auto stale = inputs<float, float>(at), zero = stale;
  std::fill(zero.scale_gradient.begin(), zero.scale_gradient.end(), 0.0F);
  std::fill(zero.shift_gradient.begin(), zero.shift_gradient.end(), 0.0F);
  const Backward<float, float> written = on_device(at, stale, true), added = on_device(at, zero);
  EXPECT_EQ(bytes(written.scale_gradient), bytes(added.scale_gradient));
  EXPECT_EQ(bytes(written.shift_gradient), bytes(added.shift_gradient));
}

}  // namespace
}  // namespace executor
