#include "executor/kernels/masked_softmax_cuda.h"

#include <algorithm>

#include "tests/executor/kernels/device_array.h"
#include "tests/executor/kernels/kernel_values.h"

namespace executor {
namespace {

constexpr std::uint64_t kKey = 0x9876543210abcdefULL;

struct Case {
  SoftmaxShape shape;
  HeadPlaces places = {};
  std::uint64_t first_element = 0;
  std::size_t shift = 0;  // from an aligned address
  double probability = 0.3;
};

template <class Number>
struct Found {
  std::vector<Number> one, other;  // forward: what is dropped, what is kept; backward: the gradient, what is dropped
};
struct Expected {
  std::vector<double> probabilities, factors, gradient;  // factors: the mask's
};

std::int64_t elements(const Case& of) { return of.shape.heads * of.shape.queries * of.shape.keys; }
std::int64_t seen(const Case& of, std::int64_t row) { return of.shape.is_causal ? row % of.shape.queries + 1 : of.shape.keys; }

// The definition, in fp64. Numbers of the mask: one by one, by where the matrix stands in the global batch.
Expected expected(const Case& of, const std::vector<double>& scores, const std::vector<double>& gradient) {
  Expected result{.probabilities = std::vector<double>(scores.size()), .factors = {}, .gradient = std::vector<double>(scores.size())};
  const DropoutDraw draw = dropout_draw(of.probability, {.key = kKey, .first_element = of.first_element});
  for (std::int64_t row = 0; row < of.shape.heads * of.shape.queries; ++row) {
    const std::int64_t head = of.places.first + row / of.shape.queries, sample = head / of.places.here;
    const std::int64_t whole = sample * of.places.all + of.places.first_head + (head - sample * of.places.here);
    const std::int64_t begin = (whole * of.shape.queries + row % of.shape.queries) * of.shape.keys;
    const auto at = [&](std::int64_t column) { return static_cast<std::size_t>(row * of.shape.keys + column); };
    for (std::int64_t column = 0; column < of.shape.keys; ++column) {
      const std::uint64_t element = of.first_element + static_cast<std::uint64_t>(begin + column);
      const std::uint64_t both = sim::random_bits({kKey}, element / 2);
      result.factors.push_back(static_cast<std::uint32_t>(element % 2 == 0 ? both : both >> 32) < draw.threshold ? 0 : draw.scale);
    }
    double sum = 0, mean = 0;
    for (std::int64_t column = 0; column < seen(of, row); ++column) sum += std::exp(of.shape.scale * scores[at(column)]);
    for (std::int64_t column = 0; column < seen(of, row); ++column) {
      result.probabilities[at(column)] = std::exp(of.shape.scale * scores[at(column)]) / sum;
      mean += result.factors[at(column)] * gradient[at(column)] * result.probabilities[at(column)];
    }
    for (std::int64_t column = 0; column < seen(of, row); ++column)
      result.gradient[at(column)] =
          of.shape.scale * result.probabilities[at(column)] * (result.factors[at(column)] * gradient[at(column)] - mean);
  }
  return result;
}

std::vector<double> product(std::vector<double> one, const std::vector<double>& other) {
  std::transform(one.begin(), one.end(), other.begin(), one.begin(), std::multiplies<>());
  return one;
}

template <class Number>
Found<Number> forward(const Case& of, const std::vector<Number>& scores, const DropoutDraw& draw, bool keeps) {
  DeviceArray<Number> there(scores, of.shift), kept(scores, of.shift);
  launch_masked_softmax<Number>({.scores = there.data(), .probabilities = keeps ? kept.data() : nullptr}, of.shape, of.places, draw,
                                nullptr);
  return {there.values(), kept.values()};
}

template <class Number>
void expect_parity(const Case& of) {
  const auto scores = ramp<Number>({.count = elements(of)}), gradient = ramp<Number>({.count = elements(of), .stride = 31});
  const DropoutDraw draw = dropout_draw(of.probability, {.key = kKey, .first_element = of.first_element});
  const Expected is = expected(of, widened(scores), widened(gradient));
  const Found<Number> found = forward(of, scores, draw, true);
  EXPECT_LT(relative_error(found.other, is.probabilities), kTolerance<Number>);
  EXPECT_LT(relative_error(found.one, product(widened(found.other), is.factors)), kTolerance<Number>) << "dropped is what was rounded";
  EXPECT_EQ(bytes(forward(of, scores, draw, false).one), bytes(found.one)) << "the same where nothing is kept";

  DeviceArray<std::int64_t> key({static_cast<std::int64_t>(kKey)});
  DropoutDraw there = draw;
  there.key = 1;  // another one
  there.key_there = key.data();
  EXPECT_EQ(bytes(forward(of, scores, there, false).one), bytes(found.one)) << "by a key in device memory";

  DeviceArray<Number> slopes(gradient, of.shift), probabilities(found.other, of.shift);
  launch_masked_softmax_backward<Number>({.gradient = slopes.data(), .probabilities = probabilities.data()}, of.shape, of.places, draw,
                                         nullptr);
  EXPECT_LT(relative_error(slopes.values(), is.gradient), 4 * kTolerance<Number>);
  EXPECT_EQ(bytes(probabilities.values()), bytes(found.one)) << "both ways drop the same";
}

using MaskedSoftmaxKernel = Kernels;

TEST_F(MaskedSoftmaxKernel, IsItsDefinitionEachWay) {
  for (const Case& of : {Case{.shape = {.heads = 3, .queries = 40, .keys = 40, .scale = 0.2}},
                         Case{.shape = {.heads = 2, .queries = 13, .keys = 13, .scale = 0.3}, .first_element = 5},
                         Case{.shape = {.heads = 2, .queries = 5, .keys = 24, .is_causal = false}, .shift = 3},
                         Case{.shape = {.heads = 5, .queries = 8, .keys = 8},
                         .places = {.first = 1, .here = 2, .all = 6, .first_head = 4},
                         .first_element = 8},
                         Case{.shape = {.heads = 1, .queries = 2, .keys = 1032, .is_causal = false, .scale = 0.1}},
                         Case{.shape = {.heads = 1, .queries = 2, .keys = 9000, .is_causal = false, .scale = 0.1}},
                         Case{.shape = {.heads = 1, .queries = 16, .keys = 16}, .probability = 0}}) {
    expect_parity<float>(of);
    expect_parity<double>(of);
    expect_parity<Bfloat16Bits>(of);
    expect_parity<Float16Bits>(of);
  }
}

// What is beyond a query's sight may be anything.
TEST_F(MaskedSoftmaxKernel, ReadsNothingOfTheFuture) {
  constexpr std::int64_t kTokens = 16;
  const Case of{.shape = {.heads = 1, .queries = kTokens, .keys = kTokens}};
  const DropoutDraw draw = dropout_draw(of.probability, {.key = kKey});
  auto scores = ramp<float>({.count = elements(of)});
  const Found<float> clean = forward(of, scores, draw, true);
  for (std::int64_t at = 0; at < elements(of); ++at)
    if (at % kTokens > at / kTokens) scores[static_cast<std::size_t>(at)] = std::nanf("");
  const Found<float> found = forward(of, scores, draw, true);
  EXPECT_EQ(bytes(found.one), bytes(clean.one));
  DeviceArray<float> slopes(scores), probabilities(found.other);
  launch_masked_softmax_backward<float>({.gradient = slopes.data(), .probabilities = probabilities.data()}, of.shape, {}, draw, nullptr);
  for (const float slope : slopes.values()) EXPECT_FALSE(std::isnan(slope));
}

TEST_F(MaskedSoftmaxKernel, RefusesMoreKeysThanABlockHolds) {
  const SoftmaxShape shape{.heads = 1, .queries = 1, .keys = kMostKeys + 1, .is_causal = false};
  EXPECT_THROW(launch_masked_softmax<float>({}, shape, {}, {}, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace executor
