#include "executor/kernels/adamw_cuda.h"

#include "executor/kernels/adamw_update.h"
#include "executor/kernels/optimizer_chunks.cuh"

namespace executor {
namespace {

template <class Master, class Gradient, class Rounded>
struct AdamWStep {
  AdamWMemory<Master, Gradient, Rounded> memory;
  AdamWFactors<Master> by;

  __device__ __forceinline__ AdamWFactors<Master> factors(const KeepRange<Master>& range) const {
    AdamWFactors<Master> own = by;
    if (memory.factor_there != nullptr) own.gradient_factor = static_cast<Master>(*memory.factor_there);
    own.keep = range.keep;
    return own;
  }

  __device__ __forceinline__ void eight(std::int64_t at, const KeepRange<Master>& range) const {
    const AdamWFactors<Master> own = factors(range);
    Eight<Master> weights = load_eight(memory.master + at), first = load_eight(memory.first_moment + at),
                  second = load_eight(memory.second_moment + at);
    const Eight<Gradient> gradients = load_eight(memory.gradient + at);
    Eight<Rounded> rounded;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const AdamWElement<Master> next = adamw_update<Master>({weights.at[i], first.at[i], second.at[i]}, load(gradients.at[i]), own);
      weights.at[i] = next.weight;
      first.at[i] = next.first_moment;
      second.at[i] = next.second_moment;
      store(rounded.at[i], next.weight);
    }
    store_eight(memory.master + at, weights);
    store_eight(memory.first_moment + at, first);
    store_eight(memory.second_moment + at, second);
    if (memory.rounded != nullptr) store_eight(memory.rounded + at, rounded);
  }

  __device__ __forceinline__ void one(std::int64_t at, const KeepRange<Master>& range) const {
    const AdamWElement<Master> next = adamw_update<Master>({memory.master[at], memory.first_moment[at], memory.second_moment[at]},
                                                           load(memory.gradient[at]), factors(range));
    memory.master[at] = next.weight;
    memory.first_moment[at] = next.first_moment;
    memory.second_moment[at] = next.second_moment;
    if (memory.rounded != nullptr) store(memory.rounded[at], next.weight);
  }

  __device__ __forceinline__ bool is_skipped() const { return memory.factor_there != nullptr && *memory.factor_there < 0; }
  __device__ __forceinline__ bool is_aligned_at(std::int64_t at) const {
    return is_aligned(memory.master + at) && is_aligned(memory.gradient + at) && is_aligned(memory.first_moment + at) &&
           is_aligned(memory.second_moment + at) && (memory.rounded == nullptr || is_aligned(memory.rounded + at));
  }
};

}  // namespace

template <class Master, class Gradient, class Rounded>
void launch_adamw(const AdamWMemory<Master, Gradient, Rounded>& memory, std::span<const KeepRange<Master>> ranges,
                  const AdamWFactors<Master>& by, CudaStream stream) {
  launch_steps("adamw", AdamWStep<Master, Gradient, Rounded>{memory, by}, ranges, stream);
}

using Floats = std::span<const KeepRange<float>>;
template void launch_adamw(const AdamWMemory<float, float, float>&, Floats, const AdamWFactors<float>&, CudaStream);
template void launch_adamw(const AdamWMemory<float, float, Bfloat16Bits>&, Floats, const AdamWFactors<float>&, CudaStream);
template void launch_adamw(const AdamWMemory<float, Bfloat16Bits, Bfloat16Bits>&, Floats, const AdamWFactors<float>&, CudaStream);
template void launch_adamw(const AdamWMemory<float, float, Float16Bits>&, Floats, const AdamWFactors<float>&, CudaStream);
template void launch_adamw(const AdamWMemory<float, Float16Bits, Float16Bits>&, Floats, const AdamWFactors<float>&, CudaStream);
template void launch_adamw(const AdamWMemory<double, double, double>&, std::span<const KeepRange<double>>, const AdamWFactors<double>&,
                           CudaStream);

}  // namespace executor
