#include "executor/training/snapshot.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include "executor/kernels/counting_allocator.h"
#include "tests/executor/checked_device/checked_device.h"

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

TEST(Snapshot, OfADeviceIsThereWhenItIsTaken) {
  const at::Tensor numbers = at::arange(6, at::kFloat), weights = numbers.to(checked_device()), moments = weights.mul(2);
  Snapshot snapshot;
  for (int time = 0; time < 2; ++time) {
    snapshot.take({{.name = "weights", .values = weights}, {.name = "here", .values = numbers}, {.name = "moments", .values = moments}});
    weights.add_(1);  // no stream still reads it
    moments.add_(2);
    EXPECT_TRUE(at::equal(snapshot.tensors()[0].values, numbers.add(time)));
    EXPECT_TRUE(at::equal(snapshot.tensors()[1].values, numbers));
    EXPECT_TRUE(at::equal(snapshot.tensors()[2].values, numbers.mul(2).add(2 * time)));
  }
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
