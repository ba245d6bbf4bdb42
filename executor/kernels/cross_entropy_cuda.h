// Cross-entropy over a vocabulary that tensor ranks may share, on a GPU: cross_entropy.h over device memory, a block of threads to a token's
// row. The collectives lie between the calls. Nothing as large as the logits is made: the gradient is written over them.
//
//   launch_maximum            [all-reduce maximum]   reads the logits once
//   launch_exponentials       [all-reduce sum]       reads them once
//   launch_token_losses                              reads two numbers a token
//   launch_loss_gradient                             reads the logits and overwrites them
//
// Maximum and, for fp32 logits, the gradient from equal statistics have the CPU's bits; sums have another order, fixed for a number
// of columns. 16-bit logits take the GPU's own exponential (relative error below 1e-5, an 800th of bf16's rounding).
#pragma once

#include <cstdint>
#include <type_traits>

#include "executor/kernels/cuda_stream.h"
#include "executor/kernels/sixteen_bits.h"

namespace executor {

// Device memory: logits [tokens, columns], contiguous. The first `real` columns are no padding.
template <class Logit>
struct DeviceLogits {
  Logit* logits = nullptr;
  std::int64_t tokens = 0;
  std::int64_t columns = 0;
  std::int64_t real = 0;
};

// targets: global ids [tokens]; `first` is that of column 0. maximum: [tokens].
template <class Statistic>
struct DeviceTargets {
  const std::int64_t* targets = nullptr;
  std::int64_t first = 0;
  const Statistic* maximum = nullptr;
};

template <class Logit>
using StatisticOf = std::conditional_t<std::is_same_v<Logit, double>, double, float>;

// Asynchronous on `stream`; std::runtime_error if CUDA refuses the launch. Logit: float, double, Bfloat16Bits, Float16Bits.
template <class Logit>
void launch_maximum(const DeviceLogits<Logit>& of, StatisticOf<Logit>* maximum, CudaStream stream);

// sums: [2, tokens], the sum of exponentials and the shifted logit of the target (0 where it is on another rank).
template <class Logit>
void launch_exponentials(const DeviceLogits<Logit>& of, const DeviceTargets<StatisticOf<Logit>>& at, StatisticOf<Logit>* sums,
                         CudaStream stream);

template <class Statistic>
struct DeviceSums {
  const Statistic* sums = nullptr;  // [2, tokens], as after the all-reduce
  std::int64_t tokens = 0;
};
void launch_token_losses(const DeviceSums<float>& of, float* losses, CudaStream stream);
void launch_token_losses(const DeviceSums<double>& of, double* losses, CudaStream stream);

// sums: [2, tokens] after the all-reduce, of which the first row is used.
template <class Logit>
struct DeviceGradient {
  const StatisticOf<Logit>* sums = nullptr;
  StatisticOf<Logit> scale = 1;
  const double* scale_there = nullptr;  // in its place, where there is one
};
template <class Logit>
void launch_loss_gradient(const DeviceLogits<Logit>& of, const DeviceTargets<StatisticOf<Logit>>& at, const DeviceGradient<Logit>& by,
                          CudaStream stream);

}  // namespace executor
