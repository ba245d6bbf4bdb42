#include "executor/model/head_norm.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/rsqrt.h>

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

}  // namespace
}  // namespace executor
