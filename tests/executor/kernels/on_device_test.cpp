#include "executor/kernels/on_device.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "executor/kernels/exact_sum.h"
#include "tests/executor/checked_device/checked_device.h"

namespace executor {
namespace {

TEST(OnDevice, SquaresAreSummedWhereTheyAre) {
  const at::Tensor limbs =
      at::zeros({static_cast<std::int64_t>(ExactSum::kLimbs)}, at::TensorOptions().dtype(at::kLong).device(checked_device()));
  on_device::add_squares(limbs, at::full({100}, 3.0, at::TensorOptions().dtype(at::kFloat).device(checked_device())));
  on_device::add_squares(limbs, at::full({7}, 2.0, at::TensorOptions().dtype(at::kBFloat16).device(checked_device())));
  ExactSum sum;
  sum.add_limbs(limbs);
  EXPECT_EQ(sum.value(), 928);
}

TEST(OnDevice, OnlyAGpuHasANormOfOurs) {
  EXPECT_FALSE(on_device::has_norm(at::zeros({2, 3})));
  EXPECT_FALSE(on_device::has_norm(at::zeros({2, 3}, at::TensorOptions().device(checked_device()))));
}

}  // namespace
}  // namespace executor
