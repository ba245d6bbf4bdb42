#include "executor/kernels/cross_entropy.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

namespace executor {
namespace {

constexpr std::int64_t kTokens = 37, kColumns = 203, kVocabulary = 190;

at::Tensor make_logits(at::ScalarType type) {
  return (((at::arange(kTokens * kColumns, at::kDouble) * 389) % 1013) * 0.015625 - 8).view({kTokens, kColumns}).to(type);
}
at::Tensor make_targets() { return (at::arange(kTokens, at::kLong) * 71) % kVocabulary; }

struct Result {
  at::Tensor losses, gradient;
};

// LibTorch's own operators in fp64, on the columns that are no padding.
Result reference(const at::Tensor& logits, const at::Tensor& targets, double scale) {
  const at::Tensor real = logits.to(at::kDouble).slice(1, 0, kVocabulary);
  const at::Tensor log_probability = at::log_softmax(real, 1);
  Result result{-log_probability.gather(1, targets.unsqueeze(1)).squeeze(1), at::zeros({kTokens, kColumns}, at::kDouble)};
  result.gradient.slice(1, 0, kVocabulary).copy_(log_probability.exp() * scale);
  result.gradient.scatter_add_(1, targets.unsqueeze(1), at::zeros({kTokens, 1}, at::kDouble) - scale);
  return result;
}

// `ranks` tensor ranks one after the other, with sums for their all-reduces.
Result in_shards(const at::Tensor& logits, const at::Tensor& targets, std::int64_t ranks, double scale) {
  const std::int64_t width = (kColumns + ranks - 1) / ranks;
  std::vector<at::Tensor> parts;
  std::vector<VocabularyShard> shards;
  at::Tensor maximum, sums;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    parts.push_back(logits.slice(1, rank * width, std::min((rank + 1) * width, kColumns)).clone(at::MemoryFormat::Contiguous));
    const std::int64_t columns = parts.back().size(1);
    shards.push_back({.first = rank * width, .real = std::clamp<std::int64_t>(kVocabulary - rank * width, 0, columns)});
    const at::Tensor local = empty_maximum(parts.back());
    local_maximum(local, parts.back(), shards.back());
    maximum = rank == 0 ? local : maximum.maximum(local);
  }
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    const at::Tensor local = empty_sums(parts[at]);
    local_exponentials(local, {parts[at], targets, maximum}, shards[at]);
    sums = rank == 0 ? local : sums + local;
  }
  Result result{token_losses(sums), at::zeros({kTokens, 0}, logits.options())};
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    loss_gradient_in_place({parts[rank], targets, maximum}, sums, shards[rank], {.value = scale});
    result.gradient = at::cat({result.gradient, parts[rank]}, 1);
  }
  return result;
}

void expect_close(at::ScalarType type, std::int64_t ranks, double tolerance) {
  const at::Tensor logits = make_logits(type), targets = make_targets();
  const Result is = in_shards(logits, targets, ranks, 0.125), expected = reference(logits, targets, 0.125);
  const auto error = [](const at::Tensor& a, const at::Tensor& b) { return ((a.to(at::kDouble) - b).norm() / b.norm()).item<double>(); };
  EXPECT_LT(error(is.losses, expected.losses), std::min(tolerance, 1e-6)) << ranks;
  EXPECT_LT(error(is.gradient, expected.gradient), tolerance) << ranks;
}

TEST(CrossEntropy, EqualsLogSoftmax) {
  for (const std::int64_t ranks : {1, 2, 3, 4, 29}) {  // 29: the last shards are padding alone
    expect_close(at::kDouble, ranks, 1e-14);
    expect_close(at::kFloat, ranks, 1e-6);
    expect_close(at::kBFloat16, ranks, 4e-3);
  }
}

TEST(CrossEntropy, PaddingHasNoGradient) {
  const Result is = in_shards(make_logits(at::kFloat), make_targets(), 1, 1.0);
  EXPECT_EQ(is.gradient.slice(1, kVocabulary, kColumns).abs().max().item<float>(), 0.0F);
  EXPECT_LT(is.gradient.sum(1).abs().max().item<float>(), 1e-6F);  // probabilities sum to the one that the target takes away
}

TEST(CrossEntropy, SurvivesLargeLogits) {
  const at::Tensor logits = make_logits(at::kFloat) * 1000;
  const Result is = in_shards(logits, make_targets(), 2, 1.0);
  EXPECT_TRUE(is.losses.isfinite().all().item<bool>());
  EXPECT_TRUE(is.gradient.isfinite().all().item<bool>());
}

TEST(CrossEntropy, RefusesWrongStatistics) {
  const at::Tensor logits = make_logits(at::kDouble);
  EXPECT_ANY_THROW(local_maximum(empty_maximum(make_logits(at::kFloat)), logits, {.first = 0, .real = 1}));
  EXPECT_ANY_THROW(local_maximum(empty_maximum(logits), logits, {.first = 0, .real = kColumns + 1}));
}

}  // namespace
}  // namespace executor
