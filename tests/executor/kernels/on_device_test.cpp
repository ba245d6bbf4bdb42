#include "executor/kernels/on_device.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

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

// As of units in full precision between others.
TEST(OnDevice, SquaresOfSeveralTypesAreOneSum) {
  const auto of = [](at::ScalarType type) { return at::full({65}, 1.5, at::TensorOptions().dtype(type).device(checked_device())); };
  const at::Tensor limbs = at::zeros({kLimbs}, of(at::kFloat).options().dtype(at::kLong));
  const std::vector<at::Tensor> gradients{of(at::kBFloat16), of(at::kFloat), of(at::kBFloat16)};
  on_device::add_squares(limbs, gradients);
  ExactSum sum;
  sum.add_limbs(limbs);
  EXPECT_EQ(sum.value(), 3 * 65 * 2.25);
}

TEST(OnDevice, TheFactorOfGradientsIsDecidedThere) {
  const auto options = at::TensorOptions().dtype(at::kLong).device(checked_device());
  const auto factor_of = [&](double value, const GradientLimit& limit) {
    const at::Tensor limbs = at::zeros({kLimbs}, options), factor = at::zeros({1}, options.dtype(at::kDouble));
    on_device::add_squares(limbs, at::full({100}, value, options.dtype(at::kFloat)));
    on_device::gradient_factor(factor, limbs, limit);
    return factor.cpu().item<double>();
  };
  EXPECT_NEAR(factor_of(3, {.clip = 3}), 0.1, 1e-8);
  EXPECT_EQ(factor_of(3, {.clip = 31}), 1);
  EXPECT_EQ(factor_of(3, {.clip = 0, .loss_scale = 4}), 0.25);
  EXPECT_NEAR(factor_of(3, {.clip = 3, .loss_scale = 2}), 0.1, 1e-8);
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(factor_of(infinite, {.clip = 3, .loss_scale = 2, .skips = true}), kNothingIsStepped);
  EXPECT_EQ(factor_of(infinite, {.clip = 3}), 1);
}

TEST(OnDevice, ValuesAreSummedWithTheirSigns) {
  const at::Tensor limbs = at::zeros({kLimbs}, at::TensorOptions().dtype(at::kLong).device(checked_device()));
  on_device::add_values(limbs, at::full({3}, -0.5, at::TensorOptions().dtype(at::kFloat).device(checked_device())));
  on_device::add_values(limbs, at::full({3}, 2.0, at::TensorOptions().dtype(at::kDouble).device(checked_device())));
  ExactSum sum;
  sum.add_limbs(limbs);
  EXPECT_EQ(sum.value(), 4.5);
}

TEST(OnDevice, OnlyAGpuHasANormOfOurs) {
  EXPECT_FALSE(on_device::has_norm(at::zeros({2, 3})));
  EXPECT_FALSE(on_device::has_norm(at::zeros({2, 3}, at::TensorOptions().device(checked_device()))));
}

}  // namespace
}  // namespace executor
