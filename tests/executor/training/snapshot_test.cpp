#include "executor/training/snapshot.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include "executor/kernels/counting_allocator.h"

namespace executor {
namespace {

TEST(Snapshot, IsACopyThatTrainingDoesNotTouch) {
  const at::Tensor weights = at::arange(6, at::kFloat).view({2, 3}), counts = at::arange(3, at::kLong);
  const at::Tensor before = weights.clone();
  Snapshot snapshot;
  snapshot.take({{.name = "weights", .values = weights}, {.name = "counts", .values = counts}});
  weights.add_(1);
  ASSERT_EQ(snapshot.tensors().size(), 2u);
  EXPECT_EQ(snapshot.tensors()[0].name, "weights");
  EXPECT_TRUE(at::equal(snapshot.tensors()[0].values, before));
  EXPECT_TRUE(at::equal(snapshot.tensors()[1].values, counts));
  snapshot.take({{.name = "weights", .values = weights}});
  ASSERT_EQ(snapshot.tensors().size(), 1u);
  EXPECT_TRUE(at::equal(snapshot.tensors()[0].values, weights));
}

TEST(Snapshot, TakesNoMemoryOfTheRun) {
  install_counting_allocator();
  const at::Tensor weights = at::arange(1000, at::kFloat);
  const sim::Bytes before = alive_bytes();
  Snapshot snapshot;
  snapshot.take({{.name = "weights", .values = weights}});
  EXPECT_EQ(alive_bytes(), before);
}

}  // namespace
}  // namespace executor
