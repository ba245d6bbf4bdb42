#include "executor/kernels/muon.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/matmul.h>

#include <algorithm>
#include <cmath>

#include "executor/kernels/before_step.h"

namespace executor {
namespace {

constexpr double kFirst = 3.4445, kThird = -4.7750, kFifth = 2.0315;  // of the odd polynomial: chosen for its slope at zero
constexpr int kSteps = 5;
constexpr double kSmall = 1e-7;

}  // namespace

at::Tensor orthogonalized(const at::Tensor& matrix) {
  const bool is_tall = matrix.size(0) > matrix.size(1);
  at::Tensor x = is_tall ? matrix.t() : matrix;
  x = x / (x.norm() + kSmall);
  for (int step = 0; step < kSteps; ++step) {
    const at::Tensor square = at::matmul(x, x.t());
    x = kFirst * x + at::matmul(kThird * square + kFifth * at::matmul(square, square), x);
  }
  return is_tall ? x.t() : x;
}

void step_muon(const MuonMatrix& matrix, const MuonSettings& settings) {
  const at::NoGradGuard no_gradient;
  const at::Tensor wide = matrix.gradient.to(matrix.master.scalar_type());
  const at::Tensor& there = settings.factor_there;
  const BeforeStep before(settings.may_skip ? there : at::Tensor(), {matrix.momentum, matrix.master});
  const at::Tensor gradient = there.defined() ? wide * there.to(wide.scalar_type()) : wide * settings.gradient_factor;
  matrix.momentum.mul_(settings.momentum).add_(gradient);
  const at::Tensor update = orthogonalized(gradient + settings.momentum * matrix.momentum);
  const double tall = std::sqrt(std::max(1.0, static_cast<double>(update.size(0)) / static_cast<double>(update.size(1))));
  matrix.master.mul_(1 - settings.learning_rate * settings.weight_decay).sub_(update, settings.learning_rate * tall);
  before.put_back_if_skipped();
  if (matrix.rounded.defined()) matrix.rounded.copy_(matrix.master);
}

}  // namespace executor
