#include "executor/communication/rank_sum.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <cmath>

namespace executor {
namespace {

at::Tensor of_rank(std::int64_t rank, std::int64_t elements) {
  return ((at::arange(elements, at::kDouble) * 7919 + rank * 104729) % 10007 - 5000) * 1.7e-3;
}

std::vector<at::Tensor> of_ranks(std::int64_t ranks, std::int64_t elements, at::ScalarType type) {
  std::vector<at::Tensor> tensors;
  for (std::int64_t rank = 0; rank < ranks; ++rank) tensors.push_back((of_rank(rank, elements) * (type == at::kLong ? 1e4 : 1.0)).to(type));
  return tensors;
}

void reduce(const at::Tensor& result, const std::vector<at::Tensor>& tensors, ReduceOperation operation) {
  std::vector<const std::byte*> sources;
  for (const auto& tensor : tensors) sources.push_back(static_cast<const std::byte*>(tensor.data_ptr()));
  reduce_in_rank_order({.result = static_cast<std::byte*>(result.data_ptr()), .sources = sources, .elements = result.numel()},
                       result.scalar_type(), operation);
}

TEST(RankSum, IsTheSerialSumInRankOrder) {
  for (const auto type : {at::kFloat, at::kDouble, at::kLong}) {
    for (const std::int64_t elements : {0, 1, 1023, 1024, 3001}) {
      const auto tensors = of_ranks(5, elements, type);
      at::Tensor expected = tensors[0].clone();
      for (std::size_t rank = 1; rank < tensors.size(); ++rank) expected += tensors[rank];
      const at::Tensor result = at::empty_like(expected);
      reduce(result, tensors, ReduceOperation::Sum);
      EXPECT_TRUE(at::equal(result, expected)) << type << " " << elements;
    }
  }
}

TEST(RankSum, ShortTypesAreSummedInFp32AndRoundedOnce) {
  for (const auto type : {at::kBFloat16, at::kHalf}) {
    const auto tensors = of_ranks(4, 2000, type);
    at::Tensor expected = tensors[0].to(at::kFloat), rounded_each_time = tensors[0].clone();
    for (std::size_t rank = 1; rank < tensors.size(); ++rank) {
      expected += tensors[rank].to(at::kFloat);
      rounded_each_time += tensors[rank];
    }
    const at::Tensor result = at::empty_like(tensors[0]);
    reduce(result, tensors, ReduceOperation::Sum);
    EXPECT_TRUE(at::equal(result, expected.to(type)));
    EXPECT_FALSE(at::equal(result, rounded_each_time));  // else this test could not fail
  }
}

TEST(RankSum, ResultMayBeASource) {
  const auto tensors = of_ranks(3, 5000, at::kFloat);
  const at::Tensor apart = at::empty_like(tensors[0]);
  reduce(apart, tensors, ReduceOperation::Sum);
  reduce(tensors[1], tensors, ReduceOperation::Sum);
  EXPECT_TRUE(at::equal(apart, tensors[1]));
}

TEST(RankSum, MaximumTakesNaN) {
  const auto tensors = of_ranks(3, 100, at::kFloat);
  tensors[1][7] = std::nan("");
  const at::Tensor result = at::empty_like(tensors[0]);
  reduce(result, tensors, ReduceOperation::Maximum);
  const at::Tensor expected = tensors[0].maximum(tensors[1]).maximum(tensors[2]);
  EXPECT_TRUE(std::isnan(result[7].item<float>()));
  EXPECT_TRUE(at::equal(result.nan_to_num(), expected.nan_to_num()));
}

TEST(RankSum, RefusesOtherTypes) {
  const auto tensors = of_ranks(2, 4, at::kInt);
  EXPECT_THROW(reduce(tensors[0], tensors, ReduceOperation::Sum), std::invalid_argument);
}

}  // namespace
}  // namespace executor
