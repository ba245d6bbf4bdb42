// The loops of cross_entropy.h over one token's logits in plain memory: no tensors, no LibTorch, vector code. Sums run in kLanes
// interleaved partial sums that are added in a fixed order. Called by cross_entropy.cpp only.
#pragma once

#include <cstdint>

#include "executor/kernels/sixteen_bits.h"

namespace executor {

template <class Logit, class Statistic>
struct TokenLogits {
  Logit* logits;
  std::int64_t columns;  // of memory
  std::int64_t real;     // columns that are no padding
  std::int64_t target;   // column of the target here, or -1
  Statistic maximum;
};

float maximum_loop(const TokenLogits<const float, float>& token);
float maximum_loop(const TokenLogits<const Bfloat16Bits, float>& token);
float maximum_loop(const TokenLogits<const Float16Bits, float>& token);
double maximum_loop(const TokenLogits<const double, double>& token);

float exponentials_loop(const TokenLogits<const float, float>& token);
float exponentials_loop(const TokenLogits<const Bfloat16Bits, float>& token);
float exponentials_loop(const TokenLogits<const Float16Bits, float>& token);
double exponentials_loop(const TokenLogits<const double, double>& token);

// logits = (exp(logit - maximum) / sum - [column is target]) * scale
template <class Statistic>
struct GradientFactors {
  Statistic sum, scale;
};
void gradient_loop(const TokenLogits<float, float>& token, const GradientFactors<float>& by);
void gradient_loop(const TokenLogits<Bfloat16Bits, float>& token, const GradientFactors<float>& by);
void gradient_loop(const TokenLogits<Float16Bits, float>& token, const GradientFactors<float>& by);
void gradient_loop(const TokenLogits<double, double>& token, const GradientFactors<double>& by);

}  // namespace executor
