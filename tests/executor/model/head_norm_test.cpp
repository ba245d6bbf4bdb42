#include "executor/model/head_norm.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/rsqrt.h>

#include "executor/model/rotary.h"
#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

constexpr HeadShape kNormedShape{.heads = 4, .kv_heads = 2, .head_dim = 3, .sequence = 5};
constexpr std::int64_t kQueries = 12, kKeys = 6;

// By LibTorch's operators, which record their own backward.
at::Tensor normed_by_operators(const at::Tensor& part, const at::Tensor& factor, std::int64_t width) {
  const at::Tensor rows = part.reshape({-1, width});
  return (rows * at::rsqrt((rows * rows).mean(1, /*keepdim=*/true) + 1e-3) * factor).reshape(part.sizes());
}

TEST(HeadNorm, EqualsItsOperatorsAndLeavesValues) {
  for (const bool is_joint : {false, true})
    for (const bool offset : {false, true}) {
      const auto layer = [&](std::int64_t all, std::uint64_t seed) {
        return NormLayer{
            .kind = sim::Norm::RmsNorm, .epsilon = 1e-3, .scale = random_leaf({is_joint ? all : 3}, seed), .shift = {}, .offset = offset};
      };
      const HeadNorms norms{.queries = layer(kQueries, 1), .keys = layer(kKeys, 2), .is_joint = is_joint};
      const at::Tensor mine = recorded(random_tensor({5, kNormedShape.width()}, 3)), theirs = recorded(mine);
      const at::Tensor query_scale = recorded(norms.queries.scale.value), key_scale = recorded(norms.keys.scale.value);
      const at::Tensor before = mine.detach().clone();
      const at::Tensor is = norm_heads(mine * 1, kNormedShape, norms);
      const at::Tensor expected =
          at::cat({normed_by_operators(theirs.narrow(1, 0, kQueries), query_scale + (offset ? 1 : 0), is_joint ? kQueries : 3),
                   normed_by_operators(theirs.narrow(1, kQueries, kKeys), key_scale + (offset ? 1 : 0), is_joint ? kKeys : 3),
                   theirs.narrow(1, kQueries + kKeys, kKeys)},
                  1);
      EXPECT_LT(relative_error(is.detach(), expected.detach()), 1e-14);
      EXPECT_TRUE(at::equal(is.detach().narrow(1, kQueries + kKeys, kKeys), before.narrow(1, kQueries + kKeys, kKeys)));
      const at::Tensor slope = random_tensor({5, kNormedShape.width()}, 4);
      is.backward(slope.clone());
      expected.backward(slope);
      EXPECT_LT(relative_error(mine.grad(), theirs.grad()), 1e-13);
      EXPECT_LT(relative_error(norms.queries.scale.gradient, query_scale.grad()), 1e-13);
      EXPECT_LT(relative_error(norms.keys.scale.gradient, key_scale.grad()), 1e-13);
    }
}

// Hunyuan: a scale of each number of a head is of the turned one. Without weights (nanochat) the order says nothing.
TEST(HeadNorm, StandsBehindTheTurn) {
  const HeadShape shape{.heads = 4, .kv_heads = 2, .head_dim = 4, .sequence = 5};
  const at::Tensor table = rotary_table(unscaled_turns(4, {}), 5, at::kDouble), slope = random_tensor({5, shape.width()}, 4);
  const auto through = [&](const Leaf& scale, bool turns_first) {  // what comes out, and the gradient at the input
    const NormLayer layer{.kind = sim::Norm::RmsNorm, .epsilon = 1e-3, .scale = scale, .shift = {}};
    const at::Tensor input = recorded(random_tensor({5, shape.width()}, 3));
    const HeadNorms norms{.queries = layer, .keys = layer, .turn_first = turns_first ? table : at::Tensor()};
    const HeadOperands heads = split_heads(norm_heads(input * 1, shape, norms), shape, turns_first ? at::Tensor() : table);
    const at::Tensor whole = at::cat({heads.queries, heads.keys, heads.values}, 1).flatten();
    whole.backward(slope.new_ones({whole.numel()}) * at::cos(whole.detach()));
    return at::cat({whole.detach(), input.grad().flatten()});
  };
  const Leaf plain{}, scaled = random_leaf({4}, 1);
  EXPECT_LT(relative_error(through(plain, true), through(plain, false)), 1e-14);
  EXPECT_GT(relative_error(through(scaled, true), through(scaled, false)), 1e-3) << "the planted order";
}

// By LibTorch's operators alone.
TEST(HeadNorm, BehindTheTurnEqualsItsOperators) {
  const HeadShape shape{.heads = 1, .kv_heads = 1, .head_dim = 4, .sequence = 5};
  const at::Tensor table = rotary_table(unscaled_turns(4, {}), 5, at::kDouble);
  const Leaf scale = random_leaf({4}, 1);
  const NormLayer layer{.kind = sim::Norm::RmsNorm, .epsilon = 1e-3, .scale = scale, .shift = {}};
  const at::Tensor mine = recorded(random_tensor({5, 12}, 3)), theirs = recorded(mine), slope = random_tensor({5, 12}, 4);
  const auto turned = [&](const at::Tensor& head) {
    const at::Tensor first = head.narrow(1, 0, 2), second = head.narrow(1, 2, 2);
    return at::cat({first * table[0] - second * table[1], second * table[0] + first * table[1]}, 1);
  };
  const at::Tensor expected = at::cat({normed_by_operators(turned(theirs.narrow(1, 0, 4)), scale.value, 4),
                                       normed_by_operators(turned(theirs.narrow(1, 4, 4)), scale.value, 4), theirs.narrow(1, 8, 4)},
                                      1);
  const at::Tensor is = norm_heads(mine * 1, shape, {.queries = layer, .keys = layer, .turn_first = table});
  EXPECT_LT(relative_error(is.detach(), expected.detach()), 1e-14);
  is.backward(slope.clone());
  expected.backward(slope);
  EXPECT_LT(relative_error(mine.grad(), theirs.grad()), 1e-13);
}

}  // namespace
}  // namespace executor
