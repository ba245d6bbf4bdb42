#include "executor/kernels/cross_entropy_loops.h"

#include <limits>

#include "executor/kernels/exponential.h"

namespace executor {
namespace {

constexpr std::int64_t kLanes = 32;

// Column i goes to lane i % kLanes, whatever the width: `combine` must be the same for a vector and for one number.
template <class Number, class Value, class Combine>
MESHWRIGHT_INLINE void over_lanes(Number (&lanes)[kLanes], std::int64_t columns, const Value& value, const Combine& combine) {
  std::int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] = combine(lanes[lane], value(i + lane));
  }
  for (; i < columns; ++i) lanes[i % kLanes] = combine(lanes[i % kLanes], value(i));
}

template <class Logit, class Statistic>
MESHWRIGHT_INLINE Statistic maximum(const TokenLogits<const Logit, Statistic>& token) {
  const Logit* __restrict logits = token.logits;
  Statistic lanes[kLanes];
  for (Statistic& lane : lanes) lane = -std::numeric_limits<Statistic>::infinity();
  over_lanes(
      lanes, token.real, [&](std::int64_t i) -> Statistic { return load(logits[i]); },
      [](Statistic a, Statistic b) { return b > a ? b : a; });
  Statistic highest = lanes[0];
  for (const Statistic lane : lanes) highest = lane > highest ? lane : highest;
  return highest;
}

template <class Logit, class Statistic>
MESHWRIGHT_INLINE Statistic exponentials(const TokenLogits<const Logit, Statistic>& token) {
  const Logit* __restrict logits = token.logits;
  const Statistic highest = token.maximum;
  Statistic lanes[kLanes] = {};
  over_lanes(
      lanes, token.real, [&](std::int64_t i) -> Statistic { return exponential(load(logits[i]) - highest); },
      [](Statistic a, Statistic b) { return a + b; });
  Statistic sum = 0;
  for (const Statistic lane : lanes) sum += lane;
  return sum;
}

template <class Logit, class Statistic>
MESHWRIGHT_INLINE void gradient(const TokenLogits<Logit, Statistic>& token, const GradientFactors<Statistic>& by) {
  Logit* __restrict logits = token.logits;
  const Statistic highest = token.maximum, factor = by.scale / by.sum;
  const Statistic at_target = token.target < 0 ? 0 : exponential(load(logits[token.target]) - highest) * factor - by.scale;
  for (std::int64_t i = 0; i < token.real; ++i) store(logits[i], exponential(load(logits[i]) - highest) * factor);
  for (std::int64_t i = token.real; i < token.columns; ++i) store(logits[i], Statistic(0));
  if (token.target >= 0) store(logits[token.target], at_target);
}

}  // namespace

MESHWRIGHT_VECTOR_LOOP float maximum_loop(const TokenLogits<const float, float>& token) { return maximum(token); }
MESHWRIGHT_VECTOR_LOOP float maximum_loop(const TokenLogits<const Bfloat16Bits, float>& token) { return maximum(token); }
MESHWRIGHT_VECTOR_LOOP float maximum_loop(const TokenLogits<const Float16Bits, float>& token) { return maximum(token); }
MESHWRIGHT_VECTOR_LOOP double maximum_loop(const TokenLogits<const double, double>& token) { return maximum(token); }

MESHWRIGHT_VECTOR_LOOP float exponentials_loop(const TokenLogits<const float, float>& token) { return exponentials(token); }
MESHWRIGHT_VECTOR_LOOP float exponentials_loop(const TokenLogits<const Bfloat16Bits, float>& token) { return exponentials(token); }
MESHWRIGHT_VECTOR_LOOP float exponentials_loop(const TokenLogits<const Float16Bits, float>& token) { return exponentials(token); }
MESHWRIGHT_VECTOR_LOOP double exponentials_loop(const TokenLogits<const double, double>& token) { return exponentials(token); }

MESHWRIGHT_VECTOR_LOOP void gradient_loop(const TokenLogits<float, float>& token, const GradientFactors<float>& by) { gradient(token, by); }
MESHWRIGHT_VECTOR_LOOP void gradient_loop(const TokenLogits<Bfloat16Bits, float>& token, const GradientFactors<float>& by) {
  gradient(token, by);
}
MESHWRIGHT_VECTOR_LOOP void gradient_loop(const TokenLogits<Float16Bits, float>& token, const GradientFactors<float>& by) {
  gradient(token, by);
}
MESHWRIGHT_VECTOR_LOOP void gradient_loop(const TokenLogits<double, double>& token, const GradientFactors<double>& by) {
  gradient(token, by);
}

}  // namespace executor
