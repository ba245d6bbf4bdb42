#include "executor/model/head_transform.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

const std::vector<sim::Parameter> kParameters{table("head.transform.weight", 4, 4), table("head.transform.bias", 4, 1),
                                              table("head.transform_norm.weight", 4, 1), table("head.transform_norm.bias", 4, 1)};

sim::ModelConfig with_transform() {
  sim::ModelConfig config;
  config.head_transform = true;
  config.activation = sim::Activation::Gelu;
  return config;
}

TEST(HeadTransform, ForwardAndBackward) {
  const LayerLeaves leaves{random_leaf({4, 4}, 1), random_leaf({4}, 2), random_leaf({4}, 3), random_leaf({4}, 4)};
  const auto transform = find_head_transform(with_transform(), {kParameters, leaves});
  ASSERT_TRUE(transform.has_value());
  const at::Tensor input = random_tensor({6, 4}, 5), x = recorded(input), weight = recorded(leaves[0].value),
                   bias = recorded(leaves[1].value), scale = recorded(leaves[2].value), shift = recorded(leaves[3].value);
  const at::Tensor expected = at::layer_norm(at::gelu(at::linear(x, weight, bias)), {4}, scale, shift, 1e-5);
  const at::Tensor gradient = random_tensor({6, 4}, 6);
  expected.backward(gradient);

  HeadTransformActivations kept;
  EXPECT_LT(relative_error(transform->forward(kept, input), expected.detach()), 1e-14);
  EXPECT_LT(relative_error(transform->backward(kept, gradient), x.grad()), 1e-13);
  const at::Tensor* const theirs[] = {&weight, &bias, &scale, &shift};
  for (std::size_t at = 0; at < leaves.size(); ++at) EXPECT_LT(relative_error(leaves[at].gradient, theirs[at]->grad()), 1e-13) << at;
}

TEST(HeadTransform, OthersHaveNone) { EXPECT_FALSE(find_head_transform({}, {kParameters, LayerLeaves(4)}).has_value()); }

}  // namespace
}  // namespace executor
