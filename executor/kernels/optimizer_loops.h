// The loops of optimizer.h over plain memory: no tensors, no LibTorch, vector code. Called by optimizer.cpp only.
#pragma once

#include <cstdint>

#include "executor/kernels/sixteen_bits.h"

namespace executor {

template <class Master>
struct AdamWFactors {
  Master keep;  // 1 - learning rate * decay
  Master beta1, one_minus_beta1, beta2, one_minus_beta2;
  Master step_size, root_correction;  // learning rate / c1;  1 / sqrt(c2)
  Master epsilon, gradient_factor;
};

template <class Master, class Gradient>
struct AdamWSpan {
  Master* master;
  const Gradient* gradient;
  Master* first_moment;
  Master* second_moment;
  std::int64_t elements;
};

void adamw_loop(const AdamWSpan<float, float>& span, const AdamWFactors<float>& factors);
void adamw_loop(const AdamWSpan<double, double>& span, const AdamWFactors<double>& factors);
void adamw_loop(const AdamWSpan<float, Bfloat16Bits>& span, const AdamWFactors<float>& factors);
void adamw_loop(const AdamWSpan<float, Float16Bits>& span, const AdamWFactors<float>& factors);
// Weights and moments of 16 bits: each element is stepped in fp32, and rounded.
void adamw_loop(const AdamWSpan<Bfloat16Bits, Bfloat16Bits>& span, const AdamWFactors<float>& factors);
void adamw_loop(const AdamWSpan<Bfloat16Bits, float>& span, const AdamWFactors<float>& factors);

template <class Master>
struct SgdFactors {
  Master decay, momentum, learning_rate, gradient_factor;
};

template <class Master, class Gradient>
struct SgdSpan {
  Master* master;
  const Gradient* gradient;
  Master* velocity;
  std::int64_t elements;
};

void sgd_loop(const SgdSpan<float, float>& span, const SgdFactors<float>& factors);
void sgd_loop(const SgdSpan<double, double>& span, const SgdFactors<double>& factors);
void sgd_loop(const SgdSpan<float, Bfloat16Bits>& span, const SgdFactors<float>& factors);
void sgd_loop(const SgdSpan<float, Float16Bits>& span, const SgdFactors<float>& factors);
void sgd_loop(const SgdSpan<Bfloat16Bits, Bfloat16Bits>& span, const SgdFactors<float>& factors);
void sgd_loop(const SgdSpan<Bfloat16Bits, float>& span, const SgdFactors<float>& factors);

template <class Rounded>
struct RoundingSpan {
  const float* from;
  Rounded* to;
  std::int64_t elements;
};
void rounding_loop(const RoundingSpan<Bfloat16Bits>& span);
void rounding_loop(const RoundingSpan<Float16Bits>& span);

}  // namespace executor
