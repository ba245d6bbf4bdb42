#include "executor/training/query_share.h"

#include <ATen/ops/empty.h>

#include "tests/executor/model/random_tensors.h"
#include "tests/planted/planted_bug.h"

namespace executor {
namespace {

ContextShape shape_of(std::int64_t rank) {
  return {.heads = {.heads = 2, .kv_heads = 1, .head_dim = 3, .sequence = 4}, .value_dim = 2, .ranks = 2, .rank = rank, .rotary = {}};
}

TEST(QueryShare, TheOwnBlockIsKeysThenValues) {
  const ContextShape shape = shape_of(0);
  QueryShare share(shape);
  const at::Tensor joint = random_tensor({8, 11}, 1), flat = share.take(joint.clone());  // two samples
  const KeyBlock block(flat, shape);
  EXPECT_EQ(block.values.sizes(), at::IntArrayRef({2, 4, 1, 2}));
  EXPECT_TRUE(at::equal(block.keys.reshape({8, 3}), joint.narrow(1, 6, 3)));
  EXPECT_TRUE(at::equal(block.values.reshape({8, 2}), joint.narrow(1, 9, 2)));
}

// A later rank's queries see the first piece of an earlier rank's block; an earlier rank's second piece sees all of a later one's.
TEST(QueryShare, TheMaskLeavesHalfOfAnotherRanksBlock) {
  const at::Tensor joint = random_tensor({4, 11}, 1), other = random_tensor({20}, 2), slope = random_tensor({4, 4}, 3);
  for (const std::int64_t rank : {0, 1}) {
    const ContextShape shape = shape_of(rank);
    QueryShare share(shape);
    const at::Tensor own = share.take(joint.clone());
    share.attend(own, rank);
    const at::Tensor alone = share.output().clone();
    share.attend(other, 1 - rank);
    const at::Tensor both = share.output();
    EXPECT_EQ(at::equal(alone.narrow(0, 0, 2), both.narrow(0, 0, 2)), rank == 0);
    EXPECT_FALSE(at::equal(alone.narrow(0, 2, 2), both.narrow(0, 2, 2)));
    share.begin_backward(slope);
    share.block_gradient(own, rank);
    const BlockGradient gradient = share.block_gradient(other, 1 - rank);
    EXPECT_EQ(gradient.rows.count, rank == 0 ? 4 : 2);
    const at::Tensor flat = at::full({20}, 7, at::kDouble);
    const KeyBlock block(flat, shape);
    put_gradient(block, gradient);
    EXPECT_EQ(block.keys.narrow(1, 2, 2).norm().item<double>() == 0, rank == 1) << "keys that no query sees";
    const at::Tensor once = flat.clone();
    add_gradient(block, gradient);
    EXPECT_TRUE(at::equal(flat, once * 2));
  }
}

TEST(QueryShare, PlantedBugsChangeTheOutput) {
  if (!has_copies()) GTEST_SKIP() << "planted_training_test plants bugs";
  const at::Tensor joint = random_tensor({4, 11}, 1), other = random_tensor({20}, 2);
  const auto output = [&](PlantedBug bug) {
    const Planting planting(bug);
    const ContextShape shape = shape_of(1);
    QueryShare share(shape);
    share.attend(share.take(joint.clone()), 1);
    share.attend(other, 0);
    return share.output();
  };
  for (const PlantedBug bug : {PlantedBug::UnscaledMerge, PlantedBug::FutureBlock})
    EXPECT_GT(relative_error(output(bug), output(PlantedBug::None)), 1e-3);
}

}  // namespace
}  // namespace executor
