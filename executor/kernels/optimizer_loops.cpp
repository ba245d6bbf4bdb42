#include "executor/kernels/optimizer_loops.h"

#include "executor/kernels/adamw_update.h"
#include "executor/kernels/sgd_update.h"

namespace executor {
namespace {

template <class Kept, class Gradient, class Master>
MESHWRIGHT_INLINE void adamw(const AdamWSpan<Kept, Gradient>& span, const AdamWFactors<Master>& f) {
  Kept* __restrict weights = span.master;
  const Gradient* __restrict gradients = span.gradient;
  Kept* __restrict first = span.first_moment;
  Kept* __restrict second = span.second_moment;
  const AdamWFactors<Master> by = f;  // a copy: stores below cannot change it
  for (std::int64_t i = 0; i < span.elements; ++i) {
    const AdamWElement<Master> next = adamw_update<Master>({load(weights[i]), load(first[i]), load(second[i])}, load(gradients[i]), by);
    store(first[i], next.first_moment);
    store(second[i], next.second_moment);
    store(weights[i], next.weight);
  }
}

template <class Kept, class Gradient, class Master>
MESHWRIGHT_INLINE void sgd(const SgdSpan<Kept, Gradient>& span, const SgdFactors<Master>& f) {
  Kept* __restrict weights = span.master;
  const Gradient* __restrict gradients = span.gradient;
  Kept* __restrict velocities = span.velocity;
  const SgdFactors<Master> by = f;
  for (std::int64_t i = 0; i < span.elements; ++i) {
    const SgdElement<Master> next = sgd_update<Master>({load(weights[i]), load(velocities[i])}, load(gradients[i]), by);
    store(velocities[i], next.velocity);
    store(weights[i], next.weight);
  }
}

template <class Rounded>
MESHWRIGHT_INLINE void round_all(const RoundingSpan<Rounded>& span) {
  const float* __restrict from = span.from;
  Rounded* __restrict to = span.to;
  for (std::int64_t i = 0; i < span.elements; ++i) store(to[i], from[i]);
}

}  // namespace

MESHWRIGHT_VECTOR_LOOP void adamw_loop(const AdamWSpan<float, float>& span, const AdamWFactors<float>& factors) { adamw(span, factors); }
MESHWRIGHT_VECTOR_LOOP void adamw_loop(const AdamWSpan<double, double>& span, const AdamWFactors<double>& factors) { adamw(span, factors); }
MESHWRIGHT_VECTOR_LOOP void adamw_loop(const AdamWSpan<float, Bfloat16Bits>& span, const AdamWFactors<float>& factors) {
  adamw(span, factors);
}
MESHWRIGHT_VECTOR_LOOP void adamw_loop(const AdamWSpan<float, Float16Bits>& span, const AdamWFactors<float>& factors) {
  adamw(span, factors);
}
MESHWRIGHT_VECTOR_LOOP void adamw_loop(const AdamWSpan<Bfloat16Bits, Bfloat16Bits>& span, const AdamWFactors<float>& factors) {
  adamw(span, factors);
}
MESHWRIGHT_VECTOR_LOOP void adamw_loop(const AdamWSpan<Bfloat16Bits, float>& span, const AdamWFactors<float>& factors) {
  adamw(span, factors);
}
MESHWRIGHT_VECTOR_LOOP void sgd_loop(const SgdSpan<Bfloat16Bits, Bfloat16Bits>& span, const SgdFactors<float>& factors) {
  sgd(span, factors);
}
MESHWRIGHT_VECTOR_LOOP void sgd_loop(const SgdSpan<Bfloat16Bits, float>& span, const SgdFactors<float>& factors) { sgd(span, factors); }
MESHWRIGHT_VECTOR_LOOP void sgd_loop(const SgdSpan<float, float>& span, const SgdFactors<float>& factors) { sgd(span, factors); }
MESHWRIGHT_VECTOR_LOOP void sgd_loop(const SgdSpan<double, double>& span, const SgdFactors<double>& factors) { sgd(span, factors); }
MESHWRIGHT_VECTOR_LOOP void sgd_loop(const SgdSpan<float, Bfloat16Bits>& span, const SgdFactors<float>& factors) { sgd(span, factors); }

MESHWRIGHT_VECTOR_LOOP void sgd_loop(const SgdSpan<float, Float16Bits>& span, const SgdFactors<float>& factors) { sgd(span, factors); }

MESHWRIGHT_VECTOR_LOOP void rounding_loop(const RoundingSpan<Bfloat16Bits>& span) { round_all(span); }
MESHWRIGHT_VECTOR_LOOP void rounding_loop(const RoundingSpan<Float16Bits>& span) { round_all(span); }

}  // namespace executor
