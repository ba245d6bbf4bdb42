#include "executor/model/rms_norm_kernel.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <cmath>

#include "executor/model/gradient_place.h"
#include "sim/units/at.h"

namespace executor {
namespace {

// A sum in eight lanes: the compiler may use vectors, and the order is fixed by us.
template <class Term>
auto lane_sum(std::int64_t count, const Term& term) {
  std::array<decltype(term(0)), 8> lanes{};
  std::int64_t at = 0;
  for (; at + 8 <= count; at += 8)
    for (std::int64_t lane = 0; lane < 8; ++lane) sim::at(lanes, lane) += term(at + lane);
  for (; at < count; ++at) lanes[0] += term(at);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

// Wide: 16-bit numbers are read and written, and computed with in fp32.
template <class Number>
using Wide = at::opmath_type<Number>;

template <class Number>
void forward_row(const Number* x, const Number* scale, Number* y, Wide<Number> inverse, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) y[i] = static_cast<Number>(Wide<Number>(x[i]) * inverse * Wide<Number>(scale[i]));
}

template <class Number>
struct BackwardRow {
  const Number *x, *scale, *dy;
  Wide<Number> inverse;
  Number* dx;
  Wide<Number>* dscale;
  std::int64_t width;

  void run() const {
    using W = Wide<Number>;
    const W mean = lane_sum(width, [this](std::int64_t i) { return W(dy[i]) * W(scale[i]) * W(x[i]) * inverse; }) / static_cast<W>(width);
    for (std::int64_t i = 0; i < width; ++i) {
      const W normalized = W(x[i]) * inverse;
      dx[i] = static_cast<Number>(inverse * (W(dy[i]) * W(scale[i]) - normalized * mean));
      dscale[i] += W(dy[i]) * normalized;
    }
  }
};

at::Tensor or_ones(const at::Tensor& scale, const at::Tensor& input) {
  return scale.defined() ? scale : at::ones({input.size(1)}, input.options());
}

at::TensorOptions wide_options(const at::Tensor& tensor) { return tensor.options().dtype(at::toOpMathType(tensor.scalar_type())); }

// By LibTorch's operators: for a device without a loop of ours.
RmsNormOutput forward_composed(const at::Tensor& input, const at::Tensor& scale, double epsilon) {
  const auto wide = at::toOpMathType(input.scalar_type());
  const at::Tensor x = input.to(wide), inverse = x.square().mean(1).add_(epsilon).rsqrt_();
  return {x.mul(inverse.unsqueeze(1)).mul_(scale.to(wide)).to(input.scalar_type()), inverse};
}

at::Tensor backward_composed(const RmsNormGradients& saved, const at::Tensor& scale_gradient) {
  const auto wide = at::toOpMathType(saved.input.scalar_type());
  const at::Tensor inverse = saved.inverse.unsqueeze(1), normalized = saved.input.to(wide).mul(inverse),
                   out = saved.output_gradient.to(wide);
  if (scale_gradient.defined()) add_gradient(scale_gradient, out.mul(normalized).sum(0));
  const at::Tensor slope = out.mul(saved.scale.to(wide));
  return slope.sub(normalized.mul(slope.mul(normalized).mean(1, /*keepdim=*/true))).mul_(inverse).to(saved.input.scalar_type());
}

}  // namespace

RmsNormOutput rms_norm_forward(const at::Tensor& input, const at::Tensor& given, double epsilon) {
  const at::Tensor scale = or_ones(given, input);
  if (!input.is_cpu()) return forward_composed(input, scale, epsilon);
  const std::int64_t tokens = input.size(0), width = input.size(1);
  RmsNormOutput result{at::empty_like(input), at::empty({tokens}, wide_options(input))};
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, input.scalar_type(), "rms_norm_forward", [&] {
    using W = Wide<scalar_t>;
    for (std::int64_t token = 0; token < tokens; ++token) {
      const scalar_t* x = input.data_ptr<scalar_t>() + token * width;
      const W mean = lane_sum(width, [x](std::int64_t i) { return W(x[i]) * W(x[i]); }) / static_cast<W>(width);
      const W inverse = W(1) / std::sqrt(mean + static_cast<W>(epsilon));
      result.inverse.data_ptr<W>()[token] = inverse;
      forward_row(x, scale.data_ptr<scalar_t>(), result.output.data_ptr<scalar_t>() + token * width, inverse, width);
    }
  });
  return result;
}

at::Tensor rms_norm_backward(const RmsNormGradients& saved, const at::Tensor& scale_gradient) {
  const at::Tensor scale = or_ones(saved.scale, saved.input);
  if (!saved.input.is_cpu()) return backward_composed({saved.input, saved.inverse, scale, saved.output_gradient}, scale_gradient);
  const std::int64_t tokens = saved.input.size(0), width = saved.input.size(1);
  at::Tensor input_gradient = at::empty_like(saved.input);
  const at::Tensor sum = at::zeros({width}, wide_options(saved.input));  // one microbatch's sum first, like the other norms
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, saved.input.scalar_type(), "rms_norm_backward", [&] {
    for (std::int64_t token = 0; token < tokens; ++token)
      BackwardRow<scalar_t>{.x = saved.input.data_ptr<scalar_t>() + token * width,
                            .scale = scale.data_ptr<scalar_t>(),
                            .dy = saved.output_gradient.data_ptr<scalar_t>() + token * width,
                            .inverse = saved.inverse.data_ptr<Wide<scalar_t>>()[token],
                            .dx = input_gradient.data_ptr<scalar_t>() + token * width,
                            .dscale = sum.data_ptr<Wide<scalar_t>>(),
                            .width = width}
          .run();
  });
  if (scale_gradient.defined()) add_gradient(scale_gradient, sum);
  return input_gradient;
}

}  // namespace executor
