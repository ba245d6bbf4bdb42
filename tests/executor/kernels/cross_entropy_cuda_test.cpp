#include "executor/kernels/cross_entropy_cuda.h"

#include <algorithm>

#include "executor/kernels/cross_entropy_loops.h"
#include "tests/executor/kernels/device_array.h"
#include "tests/executor/kernels/kernel_values.h"

namespace executor {
namespace {

// A rank's share of a vocabulary: columns [first, first + columns), of which `real` are no padding.
struct Case {
  std::int64_t tokens = 5;
  std::int64_t columns = 0;
  std::int64_t real = 0;
  std::int64_t first = 0;
  std::size_t shift = 0;  // of the logits from an aligned address
};
const Case kCases[] = {{.columns = 203, .real = 203},
                       {.columns = 4128, .real = 4100},
                       {.columns = 9001, .real = 8999, .first = 40, .shift = 3},
                       {.tokens = 3, .columns = 16, .real = 0},     // padding alone
                       {.tokens = 50, .columns = 24, .real = 23}};  // more tokens than blocks

std::vector<std::int64_t> targets(const Case& at) {
  std::vector<std::int64_t> ids;
  for (std::int64_t token = 0; token < at.tokens; ++token)
    ids.push_back(token * 71 % (at.first + at.columns));  // some before this rank's columns
  return ids;
}

template <class Statistic>
struct Result {
  std::vector<Statistic> maximum, sums, losses;
};

// The loops of the CPU; `logits` becomes the gradient.
template <class Logit>
Result<StatisticOf<Logit>> on_cpu(const Case& at, std::vector<Logit>& logits, const Result<StatisticOf<Logit>>* equal_statistics) {
  using Statistic = StatisticOf<Logit>;
  Result<Statistic> result{{}, std::vector<Statistic>(static_cast<std::size_t>(2 * at.tokens)), {}};
  const auto ids = targets(at);
  for (std::int64_t token = 0; token < at.tokens; ++token) {
    const auto i = static_cast<std::size_t>(token), rows = static_cast<std::size_t>(at.tokens);
    Logit* row = logits.data() + token * at.columns;
    const std::int64_t column = ids[i] - at.first, target = 0 <= column && column < at.real ? column : -1;
    TokenLogits<const Logit, Statistic> read{.logits = row, .columns = at.columns, .real = at.real, .target = target, .maximum = 0};
    result.maximum.push_back(maximum_loop(read));
    read.maximum = result.maximum.back();
    result.sums[i] = exponentials_loop(read);
    result.sums[rows + i] = target < 0 ? Statistic(0) : load(row[target]) - read.maximum;
    result.losses.push_back(std::log(result.sums[i]) - result.sums[rows + i]);
    const Statistic sum = equal_statistics == nullptr ? result.sums[i] : equal_statistics->sums[i];
    gradient_loop(
        TokenLogits<Logit, Statistic>{.logits = row, .columns = at.columns, .real = at.real, .target = target, .maximum = read.maximum},
        {.sum = sum, .scale = Statistic(0.125)});
  }
  return result;
}

template <class Logit>
Result<StatisticOf<Logit>> on_device(const Case& at, std::vector<Logit>& logits) {
  using Statistic = StatisticOf<Logit>;
  DeviceArray<Logit> memory(logits, at.shift);
  DeviceArray<std::int64_t> ids(targets(at));
  const auto tokens = static_cast<std::size_t>(at.tokens);
  DeviceArray<Statistic> maximum(std::vector<Statistic>(tokens, 77)), sums(std::vector<Statistic>(2 * tokens, 77)),
      losses(std::vector<Statistic>(tokens, 77));
  const DeviceLogits<Logit> of{memory.data(), at.tokens, at.columns, at.real};
  const DeviceTargets<Statistic> with{ids.data(), at.first, maximum.data()};
  launch_maximum(of, maximum.data(), nullptr);
  launch_exponentials(of, with, sums.data(), nullptr);
  launch_token_losses(DeviceSums<Statistic>{sums.data(), at.tokens}, losses.data(), nullptr);
  DeviceArray<double> scale(std::vector<double>{0.125});  // of odd counts the device has it
  if (at.tokens % 2 == 0)
    launch_loss_gradient(of, with, {.sums = sums.data(), .scale = Statistic(0.125)}, nullptr);
  else
    launch_loss_gradient(of, with, {.sums = sums.data(), .scale = 7, .scale_there = scale.data()}, nullptr);
  logits = memory.values();
  return {maximum.values(), sums.values(), losses.values()};
}

template <class Logit>
void expect_parity(const Case& at) {
  auto is = ramp<Logit>({.count = at.tokens * at.columns, .stride = 389, .scale = 0.03}), expected = is;
  for (std::int64_t token = 0; token < at.tokens; ++token)  // padding holds anything
    for (std::int64_t i = at.real; i < at.columns; ++i) is[static_cast<std::size_t>(token * at.columns + i)] = rounded<Logit>(1e4);
  const auto result = on_device(at, is);
  const auto on_loops = on_cpu(at, expected, sizeof(Logit) > 2 ? &result : nullptr);
  EXPECT_EQ(bytes(result.maximum), bytes(on_loops.maximum));
  if (at.real == 0) {
    EXPECT_EQ(result.sums, on_loops.sums);
  } else {
    const double tolerance = sizeof(Logit) == 8 ? 1e-14 : sizeof(Logit) == 4 ? 1e-6 : 1e-5;
    EXPECT_LT(relative_error(result.sums, widened(on_loops.sums)), tolerance);
    EXPECT_LT(relative_error(result.losses, widened(on_loops.losses)), tolerance);
  }
  if (sizeof(Logit) == 4 || at.real == 0) {
    EXPECT_EQ(bytes(is), bytes(expected));
  } else {  // fp64: each platform's own exponential; 16 bits: a few results lie at the edge between two numbers
    EXPECT_LT(relative_error(is, widened(expected)), sizeof(Logit) == 8 ? 1e-14 : 1e-3);
  }
}

using CrossEntropyKernel = Kernels;

TEST_F(CrossEntropyKernel, EqualsTheLoops) {
  for (const Case& at : kCases) {
    SCOPED_TRACE(at.columns);
    expect_parity<float>(at);
    expect_parity<double>(at);
    expect_parity<Bfloat16Bits>(at);
    expect_parity<Float16Bits>(at);
  }
}

}  // namespace
}  // namespace executor
