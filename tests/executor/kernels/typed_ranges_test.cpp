#include "executor/kernels/typed_ranges.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include "executor/kernels/exact_sum.h"

namespace executor {
namespace {

// What a kernel reads that is given an address of one type, and ranges from there.
ExactSum squares_of(const TypedRanges& of) {
  ExactSum sum;
  for (const ElementRange& range : of.ranges) {
    auto* const begin = static_cast<std::byte*>(of.first.data_ptr()) + range.begin * static_cast<std::int64_t>(of.first.element_size());
    sum.add_squares(at::from_blob(begin, {range.end - range.begin}, of.first.options()));
  }
  return sum;
}

TEST(TypedRanges, HoldEveryNumberAsItsOwnTypeReadsIt) {
  const at::Tensor values = at::arange(1, 301, at::kFloat).mul_(0.37);
  const at::Tensor half = values.to(at::kBFloat16), full = values.clone();
  const std::vector<at::Tensor> gradients{half.slice(0, 100, 200), full.slice(0, 10, 150), half.slice(0, 0, 64), full.slice(0, 0, 10),
                                          values.to(at::kHalf)};
  ExactSum expected, found;
  for (const at::Tensor& gradient : gradients) expected.add_squares(gradient);
  const std::vector<TypedRanges> by_type = ranges_by_type(gradients);
  ASSERT_EQ(by_type.size(), 3U) << "one launch a type";
  for (const TypedRanges& of : by_type) found.add(squares_of(of));
  EXPECT_EQ(found.value(), expected.value());
  EXPECT_LT(by_type[0].ranges[1].begin, 0) << "memory before the first tensor's";
}

TEST(TypedRanges, AreNoneWithoutTensors) { EXPECT_TRUE(ranges_by_type({}).empty()); }

}  // namespace
}  // namespace executor
