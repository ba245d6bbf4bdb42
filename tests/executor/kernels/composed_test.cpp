// Each composed kernel on the checked device against the loop of ours on the CPU, through the one function that callers use.
#include "executor/kernels/composed.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <limits>

#include "executor/kernels/exact_sum.h"
#include "tests/executor/checked_device/checked_device.h"

namespace executor {
namespace {

// Of all magnitudes and both signs.
at::Tensor wild(std::int64_t count, at::ScalarType type) {
  const at::Tensor index = at::arange(count, at::kDouble);
  return index.mul(0.37).sin().mul_(index.mul(0.11).cos_().mul_(4).exp_()).to(type);
}
double distance(const at::Tensor& one, const at::Tensor& other) {
  const at::Tensor a = one.cpu().to(at::kDouble), b = other.cpu().to(at::kDouble);
  return a.sub(b).norm().item<double>() / b.norm().item<double>();
}
double tolerance(at::ScalarType type) { return type == at::kDouble ? 1e-13 : type == at::kFloat ? 1e-6 : 4e-3; }

class Composed : public testing::TestWithParam<at::ScalarType> {};

TEST_P(Composed, CrossEntropyOfAShardWithPadding) {
  const VocabularyShard shard{.first = 10, .real = 9};
  const at::Tensor logits = wild(6 * 12, GetParam()).view({6, 12}), targets = at::arange(6, at::kLong).mul_(3).add_(7);
  const auto all_of = [&](const c10::Device device) {
    CrossEntropyTargets at{.logits = logits.clone().to(device), .targets = targets.to(device), .maximum = {}};
    at.maximum = empty_maximum(at.logits);
    local_maximum(at.maximum, at.logits, shard);
    const at::Tensor sums = empty_sums(at.logits);
    local_exponentials(sums, at, shard);
    const at::Tensor losses = token_losses(sums);
    const bool is_read_there = !device.is_cpu();
    loss_gradient_in_place(
        at, sums, shard,
        {.value = is_read_there ? 7 : 0.25, .there = is_read_there ? at::full({}, 0.25, at::kDouble).to(device) : at::Tensor()});
    return std::vector<at::Tensor>{at.maximum, sums, losses, at.logits};
  };
  const auto here = all_of(c10::kCPU), there = all_of(checked_device());
  for (std::size_t at = 0; at < here.size(); ++at) EXPECT_LE(distance(there[at], here[at]), tolerance(GetParam())) << at;
}

TEST_P(Composed, SquaresSumExactlyAlike) {
  const at::Tensor values = wild(64 * 5 + 17, GetParam());
  ExactSum here, there;
  here.add_squares(values);
  there.add_squares(values.to(checked_device()));
  here.normalise();
  there.normalise();
  EXPECT_TRUE(std::ranges::equal(here.limbs(), there.limbs()));
}

INSTANTIATE_TEST_SUITE_P(Types, Composed, testing::Values(at::kDouble, at::kFloat, at::kBFloat16, at::kHalf));

TEST(Composed, ExactLimbsHoldSubnormalsAndCountWhatIsNotFinite) {
  const double tiny = std::numeric_limits<double>::denorm_min();
  at::Tensor values = at::zeros({4}, at::kDouble);
  for (const auto& [at, value] : {std::pair{0, tiny}, {1, 3 * tiny}, {2, 1e300}, {3, 0.1}}) values.data_ptr<double>()[at] = value;
  ExactSum here, there;
  here.add_values(values);
  there.add_limbs(composed::exact_limbs(values.to(checked_device())));
  EXPECT_EQ(here.value(), there.value());
  here.normalise();
  there.normalise();
  EXPECT_TRUE(std::ranges::equal(here.limbs(), there.limbs()));
  values.data_ptr<double>()[1] = std::numeric_limits<double>::infinity();
  there.add_limbs(composed::exact_limbs(values.to(checked_device())));
  EXPECT_TRUE(std::isnan(there.value()));
}

TEST(Composed, AdamWAndSgd) {
  const std::vector<DecayRange> ranges{{.begin = 0, .end = 20, .weight_decay = 0.1}, {.begin = 24, .end = 40, .weight_decay = 0}};
  const auto stepped = [&](const c10::Device device, at::ScalarType gradients) {
    const auto make = [&](double scale, at::ScalarType type = at::kFloat) { return wild(40, at::kFloat).mul_(scale).to(type).to(device); };
    const AdamWShard adamw{.master = make(1),
                           .gradient = make(0.5, gradients),
                           .first_moment = make(0.1),
                           .second_moment = make(1).square(),
                           .rounded = gradients == at::kFloat ? at::Tensor() : make(1, gradients)};
    step_adamw(adamw, ranges, {.learning_rate = 0.01, .step = 3, .gradient_factor = 0.7});
    const SgdShard sgd{.master = make(1), .gradient = make(0.5, gradients), .velocity = make(0.2), .rounded = {}};
    step_sgd(sgd, ranges, {.learning_rate = 0.01, .momentum = 0.9, .gradient_factor = 0.7});
    return std::vector<at::Tensor>{adamw.master, adamw.first_moment, adamw.second_moment, sgd.master, sgd.velocity, adamw.rounded};
  };
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    const auto here = stepped(c10::kCPU, type), there = stepped(checked_device(), type);
    for (std::size_t at = 0; at < 5; ++at) EXPECT_LE(distance(there[at], here[at]), 1e-6) << at;
    if (type == at::kBFloat16) {
      EXPECT_LE(distance(there[5], here[5]), 4e-3);
    }
  }
}

}  // namespace
}  // namespace executor
