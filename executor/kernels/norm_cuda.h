// Residual sum and norm in one pass on a GPU, forward and backward; LayerNorm and RMSNorm. A block of threads holds a token's row in
// registers, so each tensor is read or written once: four of [tokens, width] forward, four backward.
//
//   forward    h = sum + stream  (rounded)     n = (h - mean) * inverse     output = n * scale + shift
//              inverse = 1 / sqrt(variance + epsilon); RMSNorm: mean = 0, variance = mean of h^2, shift = 0
//   backward   g = dy * scale     dh = inverse * (g - [mean(g)] - n * mean(g * n)) + stream gradient      ([..]: LayerNorm only)
//              dscale += sum over tokens of dy * n     dshift += that of dy
//
// All [tokens, width] are contiguous; 16-bit numbers are computed with in fp32. Sums have an order that depends on tokens, width and
// whether every tensor begins at a multiple of 16 bytes. Number: float, double, Bfloat16Bits, Float16Bits; Gradient (of the weights): Number or float.
#pragma once

#include <cstdint>
#include <type_traits>

#include "executor/kernels/cuda_stream.h"
#include "executor/kernels/sixteen_bits.h"

namespace executor {

template <class Number>
using WideOf = std::conditional_t<std::is_same_v<Number, double>, double, float>;

struct NormShape {
  std::int64_t tokens = 0;
  std::int64_t width = 0;  // 1 .. kWidestNorm
};
inline constexpr std::int64_t kWidestNorm = 16384;

template <class Number>
struct NormForward {
  Number* sum = nullptr;           // becomes h; untouched where there is no stream
  const Number* stream = nullptr;  // null: no residual stream is added
  const Number* scale = nullptr;   // [width]
  const Number* shift = nullptr;   // [width]; null for RMSNorm
  Number* output = nullptr;
  WideOf<Number>* mean = nullptr;     // [tokens]; null for RMSNorm
  WideOf<Number>* inverse = nullptr;  // [tokens]
  double epsilon = 1e-5;
};

// LayerNorm where `mean` is given, else RMSNorm. Asynchronous on `stream`; std::invalid_argument for a width out of range, std::runtime_error
// if CUDA refuses the launch.
template <class Number>
void launch_norm_forward(const NormForward<Number>& of, const NormShape& shape, CudaStream stream);

template <class Number, class Gradient>
struct NormBackward {
  const Number* output_gradient = nullptr;
  const Number* h = nullptr;
  const WideOf<Number>* mean = nullptr;  // null for RMSNorm
  const WideOf<Number>* inverse = nullptr;
  const Number* scale = nullptr;
  const Number* stream_gradient = nullptr;  // of h from further on; null: none
  Number* input_gradient = nullptr;         // of h; may be `output_gradient` or `stream_gradient` itself
  Gradient* scale_gradient = nullptr;
  Gradient* shift_gradient = nullptr;   // null for RMSNorm
  bool writes = false;                  // both; else they are added to
  WideOf<Number>* workspace = nullptr;  // norm_workspace() numbers
};
std::int64_t norm_workspace(const NormShape& shape);

template <class Number, class Gradient>
void launch_norm_backward(const NormBackward<Number, Gradient>& of, const NormShape& shape, CudaStream stream);

}  // namespace executor
