// A residual sum and norm in fp64, straight from the definition, for the tests of the norm kernels; and what those tests run through.
#pragma once

#include <cmath>
#include <vector>

#include "executor/kernels/norm_cuda.h"

namespace executor {

struct NormCase {
  NormShape shape;
  bool layer_norm = true;  // else RMSNorm
  bool residual = true;    // with a stream, and its gradient
  std::size_t shift = 0;   // of every tensor from an aligned address
};
// Widths of a part of a warp, no multiple of 8, an odd address, one to four stretches of eight a thread, several warps, eights without columns; more
// tokens than blocks and stripes.
inline const NormCase kNormCases[] = {{.shape = {.tokens = 3, .width = 24}},
                                      {.shape = {.tokens = 5, .width = 203}, .layer_norm = false},
                                      {.shape = {.tokens = 4, .width = 768}, .shift = 3},
                                      {.shape = {.tokens = 2, .width = 768}},
                                      {.shape = {.tokens = 2, .width = 1600}, .residual = false},
                                      {.shape = {.tokens = 2, .width = 4104}, .residual = false},
                                      {.shape = {.tokens = 2, .width = 8200}, .layer_norm = false, .residual = false},
                                      {.shape = {.tokens = 2200, .width = 16}, .layer_norm = false}};

struct NormRow {
  double mean = 0, inverse = 0;
};
inline NormRow norm_row(const double* h, std::int64_t width, const NormCase& at, double epsilon = 1e-5) {
  NormRow row;
  for (std::int64_t i = 0; i < width && at.layer_norm; ++i) row.mean += h[i] / static_cast<double>(width);
  double variance = 0;
  for (std::int64_t i = 0; i < width; ++i) variance += (h[i] - row.mean) * (h[i] - row.mean) / static_cast<double>(width);
  row.inverse = 1 / std::sqrt(variance + epsilon);
  return row;
}

}  // namespace executor
