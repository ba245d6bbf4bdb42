#include "executor/model/rms_norm_kernel.h"

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

TEST(RmsNormKernel, RowsHaveUnitMeanSquare) {
  const at::Tensor input = random_tensor({3, 21}, 1);  // no multiple of the lanes
  const auto [output, inverse] = rms_norm_forward(input, at::ones({21}, at::kDouble), 0.0);
  for (std::int64_t row = 0; row < 3; ++row) {
    EXPECT_NEAR(output.select(0, row).pow(2).mean().item<double>(), 1.0, 1e-14);
    EXPECT_NEAR(inverse.select(0, row).item<double>(), 1.0 / std::sqrt(input.select(0, row).pow(2).mean().item<double>()), 1e-14);
  }
}

TEST(RmsNormKernel, GradientIsOrthogonalToTheRow) {  // scaling a row does not change the output
  const at::Tensor input = random_tensor({2, 16}, 1), scale = random_tensor({16}, 2);
  const auto [output, inverse] = rms_norm_forward(input, scale, 0.0);
  const at::Tensor scale_gradient = at::ones({16}, at::kDouble);
  const at::Tensor gradient =
      rms_norm_backward({.input = input, .inverse = inverse, .scale = scale, .output_gradient = random_tensor({2, 16}, 3)}, scale_gradient);
  EXPECT_NEAR((gradient * input).sum(1).abs().max().item<double>(), 0.0, 1e-13);
  const at::Tensor added = (random_tensor({2, 16}, 3) * input * inverse.unsqueeze(1)).sum(0);
  EXPECT_LT(relative_error(scale_gradient, added + 1.0), 1e-14) << "adds to what is there";
}

}  // namespace
}  // namespace executor
