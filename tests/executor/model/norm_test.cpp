#include "executor/model/norm.h"

#include <ATen/ops/layer_norm.h>
#include <ATen/ops/rms_norm.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

constexpr double kEpsilon = 1e-5;

ResidualStream no_sum(const at::Tensor& value) { return {.value = value, .addend = {}}; }

TEST(Norm, LayerNormEqualsLibTorch) {
  const NormLayer layer{.kind = sim::Norm::LayerNorm, .epsilon = kEpsilon, .scale = random_leaf({12}, 1), .shift = random_leaf({12}, 2)};
  const at::Tensor input = random_tensor({5, 12}, 3), gradient = random_tensor({5, 12}, 4);
  const at::Tensor x = recorded(input), s = recorded(layer.scale.value), t = recorded(layer.shift.value);
  const at::Tensor expected = at::layer_norm(x, {12}, s, t, kEpsilon);
  expected.backward(gradient);
  ResidualStream stream = no_sum(input);
  const NormResult result = norm_forward(stream, layer);
  EXPECT_LT(relative_error(result.output, expected.detach()), 1e-14);
  EXPECT_LT(relative_error(norm_backward(result.kept, {.output = gradient, .stream = {}}, layer), x.grad()), 1e-14);
  EXPECT_LT(relative_error(layer.scale.gradient, s.grad()), 1e-14);
  EXPECT_LT(relative_error(layer.shift.gradient, t.grad()), 1e-14);
}

TEST(Norm, RmsNormEqualsLibTorch) {
  const NormLayer layer{.kind = sim::Norm::RmsNorm, .epsilon = kEpsilon, .scale = random_leaf({13}, 1), .shift = {}};
  const at::Tensor input = random_tensor({5, 13}, 3), gradient = random_tensor({5, 13}, 4);
  const at::Tensor x = recorded(input), s = recorded(layer.scale.value);
  const at::Tensor expected = at::rms_norm(x, {13}, s, kEpsilon);
  expected.backward(gradient);
  ResidualStream stream = no_sum(input);
  const NormResult result = norm_forward(stream, layer);
  EXPECT_LT(relative_error(result.output, expected.detach()), 1e-14);
  EXPECT_LT(relative_error(norm_backward(result.kept, {.output = gradient, .stream = {}}, layer), x.grad()), 1e-14);
  EXPECT_LT(relative_error(layer.scale.gradient, s.grad()), 1e-14);
}

// As with weights of ones, to the bit; LibTorch's own norms know of none.
TEST(Norm, WithoutWeightsItIsOneOfOnes) {
  for (const sim::Norm kind : {sim::Norm::LayerNorm, sim::Norm::RmsNorm}) {
    const at::Tensor ones = at::ones({13}, at::kDouble);
    const NormLayer without{.kind = kind, .epsilon = kEpsilon, .scale = {}, .shift = {}};
    const NormLayer with{.kind = kind, .epsilon = kEpsilon, .scale = {.value = ones, .gradient = at::zeros_like(ones)}, .shift = {}};
    const at::Tensor input = random_tensor({5, 13}, 3), gradient = random_tensor({5, 13}, 4);
    ResidualStream stream = no_sum(input), same = no_sum(input.clone());
    const NormResult result = norm_forward(stream, without), expected = norm_forward(same, with);
    EXPECT_LT(relative_error(result.output, expected.output), 1e-15);
    const at::Tensor through = norm_backward(result.kept, {.output = gradient, .stream = {}}, without);
    EXPECT_LT(relative_error(through, norm_backward(expected.kept, {.output = gradient, .stream = {}}, with)), 1e-15);
    EXPECT_GT(relative_error(through, gradient), 1e-3);
  }
}

// The sum is made in place, once; its gradient joins that of the stream.
TEST(Norm, MakesTheSumThatWaitsForIt) {
  for (const sim::Norm kind : {sim::Norm::LayerNorm, sim::Norm::RmsNorm}) {
    const NormLayer layer{.kind = kind, .scale = random_leaf({8}, 1), .shift = kind == sim::Norm::LayerNorm ? random_leaf({8}, 2) : Leaf{}};
    const at::Tensor product = random_tensor({5, 8}, 3), before = random_tensor({5, 8}, 4), kept = before.clone(),
                     gradient = random_tensor({5, 8}, 5);
    ResidualStream apart = no_sum(product + before), stream{.value = product, .addend = before};
    const NormResult expected = norm_forward(apart, layer), result = norm_forward(stream, layer);
    EXPECT_TRUE(at::equal(result.output, expected.output));
    EXPECT_TRUE(at::equal(stream.value, apart.value));
    EXPECT_TRUE(result.kept.input.is_same(product)) << "in place";
    EXPECT_FALSE(stream.addend.defined());
    EXPECT_TRUE(at::equal(before, kept)) << "the old stream is another's";
    const at::Tensor through = norm_backward(expected.kept, {.output = gradient, .stream = {}}, layer);
    EXPECT_TRUE(at::equal(norm_backward(result.kept, {.output = gradient, .stream = before}, layer), through + before));
  }
}

}  // namespace
}  // namespace executor
