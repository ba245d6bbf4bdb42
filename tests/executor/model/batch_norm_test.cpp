#include "executor/model/batch_norm.h"

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

constexpr std::int64_t kChannels = 6, kSize = 5;
constexpr double kBound = 1e-10;

struct Trained {
  at::Tensor output, map_gradient, scale_gradient, shift_gradient, running_mean, running_variance;
};

struct Difference {
  double forward = 0, backward = 0, running = 0;
  bool is_within(double bound) const { return forward < bound && backward < bound && running < bound; }
};
Difference difference(const Trained& one, const Trained& other) {
  return {
      .forward = relative_error(one.output, other.output),
      .backward = std::max({relative_error(one.map_gradient, other.map_gradient), relative_error(one.scale_gradient, other.scale_gradient),
                            relative_error(one.shift_gradient, other.shift_gradient)}),
      .running =
          std::max(relative_error(one.running_mean, other.running_mean), relative_error(one.running_variance, other.running_variance))};
}

struct Problem {
  at::Tensor map = 3 + 2 * random_tensor({7, kChannels, kSize, kSize}, 1), gradient = random_tensor({7, kChannels, kSize, kSize}, 2);
  std::vector<std::int64_t> samples;  // of each rank
};

BatchNormLayer layer_of_test() { return {.scale = random_leaf({kChannels}, 3), .shift = random_leaf({kChannels}, 4)}; }
RunningStatistics at_first() { return {.mean = at::zeros({kChannels}, at::kDouble), .variance = at::ones({kChannels}, at::kDouble)}; }

// LibTorch's own in one process on the whole batch.
Trained expected_of(const Problem& problem) {
  const BatchNormLayer layer = layer_of_test();
  const RunningStatistics running = at_first();
  const at::Tensor x = recorded(problem.map), s = recorded(layer.scale.value), t = recorded(layer.shift.value);
  const at::Tensor output = at::batch_norm(x, s, t, running.mean, running.variance, /*training=*/true, 0.1, 1e-5, /*cudnn_enabled=*/false);
  output.backward(problem.gradient);
  return {output.detach(), x.grad(), s.grad(), t.grad(), running.mean, running.variance};
}

// What is exchanged, and what a bug may replace.
struct Exchanges {
  std::function<BatchMoments(const at::Tensor& of_ranks, const at::Tensor& own)> merge = [](const at::Tensor& of_ranks, const at::Tensor&) {
    return merged_moments(of_ranks);
  };
  std::function<at::Tensor(const at::Tensor& of_ranks, const at::Tensor& own)> sum = [](const at::Tensor& of_ranks, const at::Tensor&) {
    return of_ranks.sum(0);
  };
  bool follows_again = false;  // when a forward is performed again
};

// Ranks one after the other: all up to an exchange, then all behind it.
Trained trained_on_ranks(const Problem& problem, const Exchanges& exchanges = {}) {
  const BatchNormLayer layer = layer_of_test();  // shared: its gradients are sums over ranks
  const auto maps = problem.map.split_with_sizes(problem.samples), gradients = problem.gradient.split_with_sizes(problem.samples);
  std::vector<at::Tensor> moments, outputs, sums, map_gradients;
  std::vector<BatchNormActivations> kept;
  for (const at::Tensor& map : maps) moments.push_back(batch_moments(map));
  RunningStatistics running;
  for (std::size_t rank = 0; rank < maps.size(); ++rank) {
    const BatchMoments merged = exchanges.merge(at::stack(moments), moments[rank]);
    if (rank == 0) {
      running = at_first();
      running.follow(merged);
      if (exchanges.follows_again) running.follow(merged);
    }
    BatchNormResult result = batch_norm_forward(maps[rank], merged, layer);
    outputs.push_back(result.output);
    kept.push_back(result.kept);
    sums.push_back(batch_norm_sums(kept.back(), gradients[rank], layer));
  }
  for (std::size_t rank = 0; rank < maps.size(); ++rank) {
    const at::Tensor all = exchanges.sum(at::stack(sums), sums[rank]);
    map_gradients.push_back(batch_norm_backward(kept[rank], {.output = gradients[rank], .sums = all}, layer));
  }
  return {at::cat(outputs), at::cat(map_gradients), layer.scale.gradient, layer.shift.gradient, running.mean, running.variance};
}

TEST(BatchNorm, EqualsLibTorchOnTheWholeBatchHoweverRanksShareIt) {
  for (const std::vector<std::int64_t>& samples : {std::vector<std::int64_t>{7}, {4, 3}, {1, 6}, {2, 2, 2, 1}, {3, 0, 4}}) {
    const Problem problem{.samples = samples};
    const Difference found = difference(trained_on_ranks(problem), expected_of(problem));
    EXPECT_TRUE(found.is_within(kBound)) << samples.size() << " ranks: " << found.forward << " " << found.backward << " " << found.running;
  }
}

TEST(BatchNorm, StatisticsOfOneRankAreCaught) {
  const Problem problem{.samples = {4, 3}};
  const Trained expected = expected_of(problem);
  Exchanges own_moments;
  own_moments.merge = [](const at::Tensor&, const at::Tensor& own) { return merged_moments(own.unsqueeze(0)); };
  const Difference forward = difference(trained_on_ranks(problem, own_moments), expected);
  EXPECT_GT(forward.forward, 1e-3);
  EXPECT_GT(forward.running, 1e-3);
  Exchanges own_sums;
  own_sums.sum = [](const at::Tensor&, const at::Tensor& own) { return own; };
  const Difference backward = difference(trained_on_ranks(problem, own_sums), expected);
  EXPECT_LT(backward.forward, kBound);
  EXPECT_GT(backward.backward, 1e-3);
}

TEST(BatchNorm, RunningStatisticsThatFollowARepeatedForwardAreCaught) {
  const Problem problem{.samples = {4, 3}};
  Exchanges twice;
  twice.follows_again = true;
  const Difference found = difference(trained_on_ranks(problem, twice), expected_of(problem));
  EXPECT_LT(found.forward, kBound);
  EXPECT_GT(found.running, 1e-2);
}

TEST(BatchNorm, CountsThatAreForgottenAreCaughtWhereRanksHaveUnequalBatches) {
  Exchanges alike;
  alike.merge = [](const at::Tensor& of_ranks, const at::Tensor&) {
    at::Tensor counted = of_ranks.clone();
    const at::Tensor counts = counted.narrow(1, 2 * kChannels, 1), mean = counts.mean();
    counted.narrow(1, kChannels, kChannels).mul_(mean / counts);
    counts.copy_(at::ones_like(counts) * mean);
    return merged_moments(counted);
  };
  const Problem unequal{.samples = {1, 6}};
  EXPECT_GT(difference(trained_on_ranks(unequal, alike), expected_of(unequal)).forward, 1e-3);
}

// Sums of squares in fp32 would leave no digit of a variance of 1 beside a mean of 10000.
TEST(BatchNorm, MapsFarFromZeroKeepTheirVariance) {
  const at::Tensor map = (1e4 + random_tensor({4, kChannels, kSize, kSize}, 1)).to(at::kFloat);
  const at::Tensor of_ranks = at::stack({batch_moments(map.narrow(0, 0, 1)), batch_moments(map.narrow(0, 1, 3))});
  EXPECT_EQ(of_ranks.scalar_type(), at::kFloat);
  const BatchMoments exact = merged_moments(batch_moments(map.to(at::kDouble)).unsqueeze(0));
  EXPECT_LT(relative_error(merged_moments(of_ranks).variance.to(at::kDouble), exact.variance), 1e-3);
}

TEST(BatchNorm, SixteenBitMapsStayThatAndTheirMomentsAreWide) {
  const at::Tensor map = random_tensor({3, kChannels, kSize, kSize}, 1).to(at::kBFloat16);
  const at::Tensor moments = batch_moments(map);
  EXPECT_EQ(moments.scalar_type(), at::kFloat);
  const BatchNormResult result = batch_norm_forward(map, merged_moments(moments.unsqueeze(0)), layer_of_test());
  EXPECT_EQ(result.output.scalar_type(), at::kBFloat16);
}

}  // namespace
}  // namespace executor
