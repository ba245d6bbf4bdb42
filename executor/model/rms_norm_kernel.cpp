#include "executor/model/rms_norm_kernel.h"

#include <ATen/Dispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>

#include <array>
#include <cmath>

namespace executor {
namespace {

// A sum in eight lanes: the compiler may use vectors, and the order is fixed by us.
template <class Term>
auto lane_sum(std::int64_t count, const Term& term) {
  std::array<decltype(term(0)), 8> lanes{};
  std::int64_t at = 0;
  for (; at + 8 <= count; at += 8)
    for (std::int64_t lane = 0; lane < 8; ++lane) lanes[static_cast<std::size_t>(lane)] += term(at + lane);
  for (; at < count; ++at) lanes[0] += term(at);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

template <class Number>
void forward_row(const Number* x, const Number* scale, Number* y, Number inverse, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) y[i] = x[i] * inverse * scale[i];
}

template <class Number>
struct BackwardRow {
  const Number *x, *scale, *dy;
  Number inverse;
  Number *dx, *dscale;
  std::int64_t width;

  void run() const {
    const Number mean = lane_sum(width, [this](std::int64_t i) { return dy[i] * scale[i] * x[i] * inverse; }) / static_cast<Number>(width);
    for (std::int64_t i = 0; i < width; ++i) {
      const Number normalized = x[i] * inverse;
      dx[i] = inverse * (dy[i] * scale[i] - normalized * mean);
      dscale[i] += dy[i] * normalized;
    }
  }
};

}  // namespace

RmsNormOutput rms_norm_forward(const at::Tensor& input, const at::Tensor& scale, double epsilon) {
  const std::int64_t tokens = input.size(0), width = input.size(1);
  RmsNormOutput result{at::empty_like(input), at::empty({tokens}, input.options())};
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "rms_norm_forward", [&] {
    for (std::int64_t token = 0; token < tokens; ++token) {
      const scalar_t* x = input.data_ptr<scalar_t>() + token * width;
      const scalar_t mean = lane_sum(width, [x](std::int64_t i) { return x[i] * x[i]; }) / static_cast<scalar_t>(width);
      const scalar_t inverse = scalar_t(1) / std::sqrt(mean + static_cast<scalar_t>(epsilon));
      result.inverse.data_ptr<scalar_t>()[token] = inverse;
      forward_row(x, scale.data_ptr<scalar_t>(), result.output.data_ptr<scalar_t>() + token * width, inverse, width);
    }
  });
  return result;
}

at::Tensor rms_norm_backward(const RmsNormGradients& saved, at::Tensor& scale_gradient) {
  const std::int64_t tokens = saved.input.size(0), width = saved.input.size(1);
  at::Tensor input_gradient = at::empty_like(saved.input);
  AT_DISPATCH_FLOATING_TYPES(saved.input.scalar_type(), "rms_norm_backward", [&] {
    at::Tensor sum = at::zeros_like(saved.scale);  // one microbatch's sum first, like the other norms
    for (std::int64_t token = 0; token < tokens; ++token)
      BackwardRow<scalar_t>{.x = saved.input.data_ptr<scalar_t>() + token * width,
                            .scale = saved.scale.data_ptr<scalar_t>(),
                            .dy = saved.output_gradient.data_ptr<scalar_t>() + token * width,
                            .inverse = saved.inverse.data_ptr<scalar_t>()[token],
                            .dx = input_gradient.data_ptr<scalar_t>() + token * width,
                            .dscale = sum.data_ptr<scalar_t>(),
                            .width = width}
          .run();
    scale_gradient.add_(sum);
  });
  return input_gradient;
}

}  // namespace executor
