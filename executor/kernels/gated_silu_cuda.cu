#include "executor/kernels/gated_silu_cuda.h"

#include <cmath>

#include "executor/kernels/cuda_block.cuh"
#include "executor/kernels/sixteen_bits.h"

namespace executor {
namespace {

constexpr unsigned kThreads = 256;

template <class Wide>
__device__ __forceinline__ Wide sigmoid(Wide x) {
  return Wide(1) / (Wide(1) + std::exp(-x));
}

// A thread: eight neighbouring columns of a row, by `eight` where all addresses of all rows allow it, else by `one`.
template <class Step>
__device__ __forceinline__ void for_each_column(const GatedShape& shape, bool is_aligned, const Step& step) {
  const std::int64_t eights = (shape.width + 7) / 8, pieces = shape.rows * eights;
  for (std::int64_t piece = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; piece < pieces;
       piece += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const std::int64_t row = piece / eights, column = piece % eights * 8;
    const std::int64_t gate = row * 2 * shape.width + column, single = row * shape.width + column;
    if (is_aligned)
      step.eight(gate, single);
    else
      for (int i = 0; i < 8 && column + i < shape.width; ++i) step.one(gate + i, single + i);
  }
}

template <class Number>
struct Forward {
  Number* output;
  const Number* joint;
  std::int64_t width;

  __device__ __forceinline__ void at(Number& result, Number gate, Number value) const {
    const auto x = load(gate);
    store(result, x * sigmoid(x) * load(value));
  }
  __device__ __forceinline__ void eight(std::int64_t gate, std::int64_t single) const {
    const Eight<Number> gates = load_eight(joint + gate), values = load_eight(joint + gate + width);
    Eight<Number> results;
#pragma unroll
    for (int i = 0; i < 8; ++i) at(results.at[i], gates.at[i], values.at[i]);
    store_eight(output + single, results);
  }
  __device__ __forceinline__ void one(std::int64_t gate, std::int64_t single) const {
    at(output[single], joint[gate], joint[gate + width]);
  }
};

template <class Number>
struct Backward {
  Number* joint_gradient;
  const Number* joint;
  const Number* output_gradient;
  std::int64_t width;

  __device__ __forceinline__ void at(Number& gate_gradient, Number& value_gradient, Number gate, Number value, Number gradient) const {
    const auto x = load(gate), share = sigmoid(x), slope = load(gradient);
    store(gate_gradient, slope * load(value) * share * (decltype(x)(1) + x * (decltype(x)(1) - share)));
    store(value_gradient, slope * x * share);
  }
  __device__ __forceinline__ void eight(std::int64_t gate, std::int64_t single) const {
    const Eight<Number> gates = load_eight(joint + gate), values = load_eight(joint + gate + width),
                        gradients = load_eight(output_gradient + single);
    Eight<Number> of_gates, of_values;
#pragma unroll
    for (int i = 0; i < 8; ++i) at(of_gates.at[i], of_values.at[i], gates.at[i], values.at[i], gradients.at[i]);
    store_eight(joint_gradient + gate, of_gates);
    store_eight(joint_gradient + gate + width, of_values);
  }
  __device__ __forceinline__ void one(std::int64_t gate, std::int64_t single) const {
    at(joint_gradient[gate], joint_gradient[gate + width], joint[gate], joint[gate + width], output_gradient[single]);
  }
};

template <class Step>
__global__ void __launch_bounds__(kThreads) gated_kernel(Step step, GatedShape shape, bool is_aligned) {
  for_each_column(shape, is_aligned, step);
}

template <class Step>
void launch_gated(const char* name, const Step& step, const GatedShape& shape, bool is_aligned, CudaStream stream) {
  const std::int64_t pieces = shape.rows * ((shape.width + 7) / 8);
  if (pieces > 0)
    launch(name, gated_kernel<Step>, over(pieces / kThreads + 1, kThreads), stream, step, shape, is_aligned && shape.width % 8 == 0);
}

}  // namespace

template <class Number>
void launch_gated_silu(Number* output, const Number* joint, const GatedShape& shape, CudaStream stream) {
  launch_gated("gated silu", Forward<Number>{output, joint, shape.width}, shape, is_aligned(output) && is_aligned(joint), stream);
}

template <class Number>
void launch_gated_silu_backward(Number* joint_gradient, const Number* joint, const Number* output_gradient, const GatedShape& shape,
                                CudaStream stream) {
  launch_gated("gated silu backward", Backward<Number>{joint_gradient, joint, output_gradient, shape.width}, shape,
               is_aligned(joint_gradient) && is_aligned(joint) && is_aligned(output_gradient), stream);
}

template void launch_gated_silu(float*, const float*, const GatedShape&, CudaStream);
template void launch_gated_silu(double*, const double*, const GatedShape&, CudaStream);
template void launch_gated_silu(Bfloat16Bits*, const Bfloat16Bits*, const GatedShape&, CudaStream);
template void launch_gated_silu(Float16Bits*, const Float16Bits*, const GatedShape&, CudaStream);
template void launch_gated_silu_backward(float*, const float*, const float*, const GatedShape&, CudaStream);
template void launch_gated_silu_backward(double*, const double*, const double*, const GatedShape&, CudaStream);
template void launch_gated_silu_backward(Bfloat16Bits*, const Bfloat16Bits*, const Bfloat16Bits*, const GatedShape&, CudaStream);
template void launch_gated_silu_backward(Float16Bits*, const Float16Bits*, const Float16Bits*, const GatedShape&, CudaStream);

}  // namespace executor
