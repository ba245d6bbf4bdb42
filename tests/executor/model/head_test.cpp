#include "executor/model/head.h"

#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

const std::vector<sim::Parameter> kHeadParameters{table("head.norm.weight", 4, 1), table("head.norm.bias", 4, 1),
                                                  table("head.weight", 10, 4)};

TEST(Head, LossAndGradientsWithPaddedVocabulary) {
  sim::ModelConfig config;
  config.vocabulary = 9;  // the tenth row is padding
  const LayerLeaves leaves{random_leaf({4}, 1), random_leaf({4}, 2), random_leaf({10, 4}, 3)};
  const Head head(config, {kHeadParameters, leaves}, {});
  const at::Tensor input = random_tensor({6, 4}, 4), x = recorded(input), weight = recorded(leaves[2].value),
                   scale = recorded(leaves[0].value);
  const at::Tensor targets = at::arange(6, at::kLong);
  const at::Tensor logits = at::linear(at::layer_norm(x, {4}, scale, leaves[1].value, 1e-5), weight).narrow(1, 0, 9);
  const at::Tensor losses = -at::log_softmax(logits, 1).gather(1, targets.unsqueeze(1)).squeeze(1);
  losses.mul(0.5).sum().backward();

  HeadActivations kept;
  head.logits(kept, head.normalized(kept, {.value = input, .addend = {}}), targets);
  head.exponentials(kept);
  EXPECT_LT(relative_error(head.losses(kept), losses.detach()), 1e-13);
  const at::Tensor gradient = head.norm_backward(kept, head.product_backward(kept, {.value = 0.5}));
  EXPECT_LT(relative_error(gradient, x.grad()), 1e-13);
  EXPECT_LT(relative_error(leaves[2].gradient, weight.grad()), 1e-13);
  EXPECT_LT(relative_error(leaves[0].gradient, scale.grad()), 1e-13);
  EXPECT_EQ(leaves[2].gradient[9].abs().max().item<double>(), 0.0) << "padding gets no gradient";
  EXPECT_FALSE(kept.entropy.logits.defined()) << "the logits are freed";
}

TEST(Head, SomeTokensPredictNothing) {
  sim::ModelConfig config;
  config.vocabulary = 10;
  const LayerLeaves leaves{random_leaf({4}, 1), random_leaf({4}, 2), random_leaf({10, 4}, 3)};
  const Head head(config, {kHeadParameters, leaves}, {});
  const auto run = [&](const at::Tensor& without_loss) {
    HeadActivations kept;
    kept.without_loss = without_loss;
    head.logits(kept, head.normalized(kept, {.value = random_tensor({6, 4}, 4), .addend = {}}), at::arange(6, at::kLong));
    head.exponentials(kept);
    const at::Tensor losses = head.losses(kept);
    return std::pair(losses, head.norm_backward(kept, head.product_backward(kept, {.value = 0.5})));
  };
  const auto [all, gradient] = run({});
  const auto [some, part] = run(at::tensor({1, 4}, at::kLong));
  for (std::int64_t token = 0; token < 6; ++token) {
    const bool counts = token != 1 && token != 4;
    EXPECT_EQ(some[token].item<double>(), counts ? all[token].item<double>() : 0.0) << token;
    EXPECT_TRUE(at::equal(part[token], counts ? gradient[token] : at::zeros_like(gradient[token]))) << token;
  }
}

}  // namespace
}  // namespace executor
