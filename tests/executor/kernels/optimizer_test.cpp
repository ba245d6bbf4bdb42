#include "executor/kernels/optimizer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <cmath>

namespace executor {
namespace {

constexpr std::int64_t kElements = 5000;

at::Tensor numbers(double scale, at::ScalarType type = at::kDouble) {
  return (((at::arange(kElements, at::kDouble) * 7919) % 1009 - 500) * scale).to(type);
}

struct State {
  at::Tensor master, gradient, first, second, rounded;
};
State make_state(at::ScalarType master, at::ScalarType gradient) {
  return {numbers(0.01, master), numbers(0.003, gradient), at::zeros_like(numbers(0, master)), at::zeros_like(numbers(0, master)),
          gradient == at::kBFloat16 ? at::zeros_like(numbers(0, gradient)) : at::Tensor()};
}
AdamWShard shard_of(const State& state) { return {state.master, state.gradient, state.first, state.second, state.rounded}; }

// The formula of the paper, in fp64 and operator by operator.
void reference(State& state, const DecayRange& range, const AdamWSettings& settings) {
  const auto part = [&](at::Tensor& tensor) { return tensor.slice(0, range.begin, range.end); };
  const at::Tensor gradient = part(state.gradient).to(at::kDouble) * settings.gradient_factor;
  part(state.master).mul_(1 - settings.learning_rate * range.weight_decay);
  part(state.first).mul_(settings.beta1).add_(gradient, 1 - settings.beta1);
  part(state.second).mul_(settings.beta2).add_(gradient * gradient, 1 - settings.beta2);
  const auto step = static_cast<double>(settings.step);
  const at::Tensor first = part(state.first) / (1 - std::pow(settings.beta1, step)),
                   second = part(state.second) / (1 - std::pow(settings.beta2, step));
  part(state.master).sub_(settings.learning_rate * first / (second.sqrt() + settings.epsilon));
}

double relative_error(const at::Tensor& is, const at::Tensor& expected) {
  return ((is.to(at::kDouble) - expected).norm() / expected.norm()).item<double>();
}

const DecayRange kRanges[] = {{.begin = 0, .end = 1777, .weight_decay = 0.1},
                              {.begin = 1777, .end = 3001, .weight_decay = 0},
                              {.begin = 3100, .end = kElements, .weight_decay = 0.3}};

double error_after_three_steps(at::ScalarType master, at::ScalarType gradient) {
  State state = make_state(master, gradient), expected = make_state(at::kDouble, at::kDouble);
  if (gradient != at::kDouble) expected.gradient = state.gradient.to(at::kDouble);
  expected.master = state.master.to(at::kDouble);
  for (std::int64_t step = 1; step <= 3; ++step) {
    const AdamWSettings settings{.learning_rate = 0.02, .step = step, .gradient_factor = 0.3};
    step_adamw(shard_of(state), kRanges, settings);
    for (const DecayRange& range : kRanges) reference(expected, range, settings);
  }
  if (state.rounded.defined()) {
    EXPECT_TRUE(at::equal(state.rounded.slice(0, 0, 3001), state.master.slice(0, 0, 3001).to(at::kBFloat16)));
  }
  return relative_error(state.master, expected.master);
}

TEST(Optimizer, AdamWIsThePaperFormula) {
  EXPECT_LT(error_after_three_steps(at::kDouble, at::kDouble), 1e-15);
  EXPECT_LT(error_after_three_steps(at::kFloat, at::kFloat), 3e-7);
  EXPECT_LT(error_after_three_steps(at::kFloat, at::kBFloat16), 3e-7);
}

TEST(Optimizer, AdamWLeavesPaddingAlone) {
  State state = make_state(at::kFloat, at::kFloat);
  const at::Tensor before = state.master.clone();
  step_adamw(shard_of(state), kRanges, {.learning_rate = 0.02});
  EXPECT_TRUE(at::equal(state.master.slice(0, 3001, 3100), before.slice(0, 3001, 3100)));
  EXPECT_FALSE(at::equal(state.master.slice(0, 3000, 3001), before.slice(0, 3000, 3001)));
}

// The same weights, cut into shards at odd places, step to the same bits.
TEST(Optimizer, ShardsStepToTheSameBits) {
  State whole = make_state(at::kFloat, at::kBFloat16), cut = make_state(at::kFloat, at::kBFloat16);
  const AdamWSettings settings{.learning_rate = 0.02, .step = 2, .gradient_factor = 0.3};
  const DecayRange all{.begin = 0, .end = kElements, .weight_decay = 0.1};
  step_adamw(shard_of(whole), {&all, 1}, settings);
  for (std::int64_t begin = 0; begin < kElements; begin += 1237) {
    const std::int64_t end = std::min(begin + 1237, kElements);
    const auto part = [&](const at::Tensor& tensor) { return tensor.slice(0, begin, end); };
    const DecayRange range{.begin = 0, .end = end - begin, .weight_decay = 0.1};
    step_adamw({part(cut.master), part(cut.gradient), part(cut.first), part(cut.second), part(cut.rounded)}, {&range, 1}, settings);
  }
  EXPECT_TRUE(at::equal(whole.master, cut.master));
  EXPECT_TRUE(at::equal(whole.second, cut.second));
  EXPECT_TRUE(at::equal(whole.rounded, cut.rounded));
}

TEST(Optimizer, SgdIsMomentumWithDecay) {
  at::Tensor weights = numbers(0.01), velocity = at::zeros_like(weights), expected = weights.clone(), expected_velocity = velocity.clone();
  const at::Tensor gradient = numbers(0.003);
  for (int step = 0; step < 3; ++step) {
    step_sgd({weights, gradient, velocity, {}}, {kRanges, 1}, {.learning_rate = 0.1, .momentum = 0.9, .gradient_factor = 0.5});
    const auto part = [](at::Tensor& tensor) { return tensor.slice(0, 0, 1777); };
    part(expected_velocity).mul_(0.9).add_(gradient.slice(0, 0, 1777) * 0.5 + part(expected) * 0.1);
    part(expected).sub_(part(expected_velocity), 0.1);
  }
  EXPECT_LT(relative_error(weights, expected), 1e-15);
}

TEST(Optimizer, RefusesWhatItDoesNotKnow) {
  State state = make_state(at::kFloat, at::kFloat);
  const DecayRange beyond{.begin = 0, .end = kElements + 1};
  EXPECT_ANY_THROW(step_adamw(shard_of(state), {&beyond, 1}, {}));
  state.gradient = state.gradient.to(at::kDouble);
  EXPECT_ANY_THROW(step_adamw(shard_of(state), kRanges, {}));
  state.gradient = numbers(1, at::kFloat).slice(0, 0, 10);
  EXPECT_ANY_THROW(step_adamw(shard_of(state), kRanges, {}));
}

// bf16 without a master: the fp32 step of each element, rounded.
TEST(Optimizer, SixteenBitsAreSteppedInFp32) {
  const at::Tensor weights = at::randn({100}).to(at::kBFloat16), gradient = at::randn({100}).to(at::kBFloat16),
                   first = at::randn({100}).to(at::kBFloat16), second = at::rand({100}).to(at::kBFloat16);
  const std::vector<DecayRange> all{{.begin = 0, .end = 100, .weight_decay = 0.1}};
  const AdamWSettings settings{.learning_rate = 1e-2, .step = 3, .gradient_factor = 0.5};
  AdamWShard wide{.master = weights.to(at::kFloat),
                  .gradient = gradient.to(at::kFloat),
                  .first_moment = first.to(at::kFloat),
                  .second_moment = second.to(at::kFloat),
                  .rounded = {}};
  step_adamw(wide, all, settings);
  for (const auto type : {at::kBFloat16, at::kFloat}) {
    const AdamWShard narrow{.master = weights.clone(),
                            .gradient = gradient.to(type),
                            .first_moment = first.clone(),
                            .second_moment = second.clone(),
                            .rounded = {}};
    step_adamw(narrow, all, settings);
    EXPECT_TRUE(narrow.master.equal(wide.master.to(at::kBFloat16)));
    EXPECT_TRUE(narrow.first_moment.equal(wide.first_moment.to(at::kBFloat16)));
    EXPECT_TRUE(narrow.second_moment.equal(wide.second_moment.to(at::kBFloat16)));
  }
}

}  // namespace
}  // namespace executor
