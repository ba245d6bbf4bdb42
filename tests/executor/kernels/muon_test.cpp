#include "executor/kernels/muon.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace executor {
namespace {

at::Tensor some(std::int64_t rows, std::int64_t columns) {
  return at::arange(rows * columns, at::kDouble).mul(0.37).sin().view({rows, columns});
}

TEST(Muon, BringsSingularValuesNearOneAndTurnsNothing) {
  for (const auto& [rows, columns] : {std::pair(8, 8), std::pair(6, 20), std::pair(20, 6)}) {
    const at::Tensor matrix = some(rows, columns) + 0.3 * at::eye(rows, columns, at::kDouble);
    const auto [u, s, v] = at::linalg_svd(matrix, /*full_matrices=*/false);
    const at::Tensor made = orthogonalized(matrix), inside = at::matmul(at::matmul(u.t(), made), v.t());
    EXPECT_LT((inside - inside.diag().diag()).norm().item<double>(), 1e-9) << "the same singular vectors";
    const at::Tensor large = inside.diag().masked_select(s > 0.05 * s.max());
    EXPECT_GT(large.min().item<double>(), 0.5);
    EXPECT_LT(large.max().item<double>(), 1.25);
  }
  EXPECT_EQ(orthogonalized(at::zeros({3, 4})).norm().item<double>(), 0);
}

// By the definition, written out.
TEST(Muon, StepsByItsMomentumWithNesterov) {
  const at::Tensor first = some(4, 3), second = some(4, 3).flip(0) * 2;
  at::Tensor weight = some(4, 3) * 5, momentum = at::zeros({4, 3}, at::kDouble);
  const MuonSettings settings{.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.2, .gradient_factor = 0.5};
  at::Tensor expected = weight.clone();
  step_muon({weight, first, momentum, {}}, settings);
  step_muon({weight, second, momentum, {}}, settings);
  const at::Tensor m1 = first * 0.5, m2 = 0.9 * m1 + second * 0.5;
  const double tall = std::sqrt(4.0 / 3.0);
  expected = expected * (1 - 0.1 * 0.2) - 0.1 * tall * orthogonalized(first * 0.5 + 0.9 * m1);
  expected = expected * (1 - 0.1 * 0.2) - 0.1 * tall * orthogonalized(second * 0.5 + 0.9 * m2);
  EXPECT_TRUE(at::allclose(weight, expected, 1e-13, 1e-13));
  EXPECT_TRUE(at::allclose(momentum, m2, 1e-15, 1e-15));
}

TEST(Muon, AFactorMayBeAWordOfTheDevice) {
  at::Tensor told = some(4, 3).to(at::kFloat), read = told.clone(), of_told = at::zeros({4, 3}), of_read = at::zeros({4, 3});
  step_muon({told, some(4, 3), of_told, {}}, {.learning_rate = 0.1, .momentum = 0.9, .gradient_factor = 0.3});
  step_muon({read, some(4, 3), of_read, {}}, {.learning_rate = 0.1, .momentum = 0.9, .factor_there = at::full({1}, 0.3, at::kDouble)});
  EXPECT_TRUE(at::equal(told, read));
  EXPECT_TRUE(at::equal(of_told, of_read));
}

TEST(Muon, ANegativeFactorOfTheDeviceStepsNothing) {
  at::Tensor weight = some(4, 3).to(at::kFloat), momentum = some(4, 3).to(at::kFloat), rounded = weight.to(at::kHalf);
  const at::Tensor before = weight.clone(), kept = momentum.clone(), none = at::full({4, 3}, std::numeric_limits<double>::quiet_NaN());
  step_muon({weight, none, momentum, rounded},
            {.learning_rate = 0.1, .momentum = 0.9, .factor_there = at::full({1}, -1.0, at::kDouble), .may_skip = true});
  EXPECT_TRUE(at::equal(weight, before));
  EXPECT_TRUE(at::equal(momentum, kept));
  EXPECT_TRUE(at::equal(rounded, before.to(at::kHalf)));
}

TEST(Muon, RoundsBesideItsMaster) {
  at::Tensor master = some(3, 3).to(at::kFloat), momentum = at::zeros({3, 3}), rounded = at::zeros({3, 3}, at::kBFloat16);
  step_muon({master, some(3, 3).to(at::kBFloat16), momentum, rounded}, {.learning_rate = 0.1, .momentum = 0.9});
  EXPECT_TRUE(at::equal(rounded, master.to(at::kBFloat16)));
}

}  // namespace
}  // namespace executor
