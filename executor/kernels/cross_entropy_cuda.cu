#include "executor/kernels/cross_entropy_cuda.h"

#include <limits>

#include "executor/kernels/cuda_block.cuh"

namespace executor {
namespace {

constexpr unsigned kThreads = 512;

template <class Statistic>
__device__ __forceinline__ std::int64_t target_column(const DeviceTargets<Statistic>& at, std::int64_t token, std::int64_t real) {
  const std::int64_t column = at.targets[token] - at.first;
  return 0 <= column && column < real ? column : -1;
}

template <class Logit>
__global__ void __launch_bounds__(kThreads) maximum_kernel(const DeviceLogits<Logit> of, StatisticOf<Logit>* maximum) {
  using Statistic = StatisticOf<Logit>;
  __shared__ Statistic scratch[32];
  const auto larger = [](Statistic a, Statistic b) { return b > a ? b : a; };
  for (std::int64_t token = blockIdx.x; token < of.tokens; token += gridDim.x) {
    Statistic highest = -std::numeric_limits<Statistic>::infinity();
    visit_row(of.logits + token * of.columns, of.real,
              [&](std::int64_t, Logit logit) { highest = larger(highest, Statistic(load(logit))); });
    highest = over_block(highest, scratch, larger);
    if (threadIdx.x == 0) maximum[token] = highest;
  }
}

template <class Logit>
__global__ void __launch_bounds__(kThreads)
    exponentials_kernel(const DeviceLogits<Logit> of, const DeviceTargets<StatisticOf<Logit>> at, StatisticOf<Logit>* sums) {
  using Statistic = StatisticOf<Logit>;
  __shared__ Statistic scratch[32];
  for (std::int64_t token = blockIdx.x; token < of.tokens; token += gridDim.x) {
    const Logit* row = of.logits + token * of.columns;
    const Statistic maximum = at.maximum[token];
    Statistic sum = 0;
    visit_row(row, of.real, [&](std::int64_t, Logit logit) { sum += exponential_of<Logit>(Statistic(load(logit)) - maximum); });
    sum = over_block(sum, scratch, [](Statistic a, Statistic b) { return a + b; });
    if (threadIdx.x != 0) continue;
    const std::int64_t target = target_column(at, token, of.real);
    sums[token] = sum;
    sums[of.tokens + token] = target < 0 ? Statistic(0) : Statistic(load(row[target])) - maximum;
  }
}

template <class Statistic>
__global__ void token_losses_kernel(const DeviceSums<Statistic> of, Statistic* losses) {
  for (std::int64_t token = blockIdx.x * blockDim.x + threadIdx.x; token < of.tokens; token += gridDim.x * blockDim.x)
    losses[token] = std::log(of.sums[token]) - of.sums[of.tokens + token];
}

template <class Logit>
__global__ void __launch_bounds__(kThreads)
    loss_gradient_kernel(const DeviceLogits<Logit> of, const DeviceTargets<StatisticOf<Logit>> at, const DeviceGradient<Logit> by) {
  using Statistic = StatisticOf<Logit>;
  const Statistic scale = by.scale_there != nullptr ? static_cast<Statistic>(*by.scale_there) : by.scale;
  for (std::int64_t token = blockIdx.x; token < of.tokens; token += gridDim.x) {
    const std::int64_t target = target_column(at, token, of.real);
    const Statistic maximum = at.maximum[token], factor = scale / by.sums[token];
    change_row(of.logits + token * of.columns, of.columns, [&](std::int64_t column, Logit logit) {
      const Statistic probable = exponential_of<Logit>(Statistic(load(logit)) - maximum) * factor;
      Logit gradient;
      store(gradient, column >= of.real ? Statistic(0) : column == target ? probable - scale : probable);
      return gradient;
    });
  }
}

template <class Statistic>
void losses(const DeviceSums<Statistic>& of, Statistic* to, CudaStream stream) {
  if (of.tokens > 0) launch("token_losses", token_losses_kernel<Statistic>, over((of.tokens + 255) / 256, 256), stream, of, to);
}

}  // namespace

template <class Logit>
void launch_maximum(const DeviceLogits<Logit>& of, StatisticOf<Logit>* maximum, CudaStream stream) {
  if (of.tokens > 0) launch("maximum", maximum_kernel<Logit>, over(of.tokens, kThreads), stream, of, maximum);
}

template <class Logit>
void launch_exponentials(const DeviceLogits<Logit>& of, const DeviceTargets<StatisticOf<Logit>>& at, StatisticOf<Logit>* sums,
                         CudaStream stream) {
  if (of.tokens > 0) launch("exponentials", exponentials_kernel<Logit>, over(of.tokens, kThreads), stream, of, at, sums);
}

template <class Logit>
void launch_loss_gradient(const DeviceLogits<Logit>& of, const DeviceTargets<StatisticOf<Logit>>& at, const DeviceGradient<Logit>& by,
                          CudaStream stream) {
  if (of.tokens > 0) launch("loss_gradient", loss_gradient_kernel<Logit>, over(of.tokens, kThreads), stream, of, at, by);
}

void launch_token_losses(const DeviceSums<float>& of, float* to, CudaStream stream) { losses(of, to, stream); }
void launch_token_losses(const DeviceSums<double>& of, double* to, CudaStream stream) { losses(of, to, stream); }

#define MESHWRIGHT_INSTANTIATE(Logit)                                                                                                    \
  template void launch_maximum(const DeviceLogits<Logit>&, StatisticOf<Logit>*, CudaStream);                                             \
  template void launch_exponentials(const DeviceLogits<Logit>&, const DeviceTargets<StatisticOf<Logit>>&, StatisticOf<Logit>*,           \
                                    CudaStream);                                                                                         \
  template void launch_loss_gradient(const DeviceLogits<Logit>&, const DeviceTargets<StatisticOf<Logit>>&, const DeviceGradient<Logit>&, \
                                     CudaStream)
MESHWRIGHT_INSTANTIATE(float);
MESHWRIGHT_INSTANTIATE(double);
MESHWRIGHT_INSTANTIATE(Bfloat16Bits);
MESHWRIGHT_INSTANTIATE(Float16Bits);
#undef MESHWRIGHT_INSTANTIATE

}  // namespace executor
