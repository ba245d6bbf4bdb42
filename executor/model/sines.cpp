#include "executor/model/sines.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/exp.h>

#include <cmath>

namespace executor {

at::Tensor sine_table(const SineRows& rows, std::int64_t width, at::TensorOptions options) {
  constexpr double kLongest = 10000;  // tokens a turn, over 2 pi
  const at::TensorOptions wide = at::TensorOptions().dtype(at::kDouble);
  const std::int64_t half = width / 2, steps = rows.form == sim::Sines::ToTheLongest ? half - 1 : half;
  const at::Tensor rates = at::exp(at::arange(half, wide) * (-std::log(kLongest) / static_cast<double>(steps)));
  const at::Tensor angles = at::arange(rows.first, rows.first + rows.count, wide).unsqueeze(1) * rates.unsqueeze(0);
  return at::cat({angles.sin(), angles.cos()}, 1).to(options);
}

}  // namespace executor
