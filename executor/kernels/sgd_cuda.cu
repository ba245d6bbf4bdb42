#include "executor/kernels/sgd_cuda.h"

#include "executor/kernels/optimizer_chunks.cuh"
#include "executor/kernels/sgd_update.h"

namespace executor {
namespace {

template <class Master, class Gradient, class Rounded>
struct SgdStep {
  SgdMemory<Master, Gradient, Rounded> memory;
  SgdFactors<Master> by;

  __device__ __forceinline__ SgdFactors<Master> factors(const SgdRange<Master>& range) const {
    SgdFactors<Master> own = by;
    if (memory.factor_there != nullptr) own.gradient_factor = static_cast<Master>(*memory.factor_there);
    own.decay = range.decay;
    return own;
  }

  __device__ __forceinline__ void eight(std::int64_t at, const SgdRange<Master>& range) const {
    const SgdFactors<Master> own = factors(range);
    Eight<Master> weights = load_eight(memory.master + at), velocities = load_eight(memory.velocity + at);
    const Eight<Gradient> gradients = load_eight(memory.gradient + at);
    Eight<Rounded> rounded;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const SgdElement<Master> next = sgd_update<Master>({weights.at[i], velocities.at[i]}, load(gradients.at[i]), own);
      weights.at[i] = next.weight;
      velocities.at[i] = next.velocity;
      store(rounded.at[i], next.weight);
    }
    store_eight(memory.master + at, weights);
    store_eight(memory.velocity + at, velocities);
    if (memory.rounded != nullptr) store_eight(memory.rounded + at, rounded);
  }

  __device__ __forceinline__ void one(std::int64_t at, const SgdRange<Master>& range) const {
    const SgdElement<Master> next = sgd_update<Master>({memory.master[at], memory.velocity[at]}, load(memory.gradient[at]), factors(range));
    memory.master[at] = next.weight;
    memory.velocity[at] = next.velocity;
    if (memory.rounded != nullptr) store(memory.rounded[at], next.weight);
  }

  __device__ __forceinline__ bool is_skipped() const { return memory.factor_there != nullptr && *memory.factor_there < 0; }
  __device__ __forceinline__ bool is_aligned_at(std::int64_t at) const {
    return is_aligned(memory.master + at) && is_aligned(memory.gradient + at) && is_aligned(memory.velocity + at) &&
           (memory.rounded == nullptr || is_aligned(memory.rounded + at));
  }
};

}  // namespace

template <class Master, class Gradient, class Rounded>
void launch_sgd(const SgdMemory<Master, Gradient, Rounded>& memory, std::span<const SgdRange<Master>> ranges, const SgdFactors<Master>& by,
                CudaStream stream) {
  launch_steps("sgd", SgdStep<Master, Gradient, Rounded>{memory, by}, ranges, stream);
}

using Floats = std::span<const SgdRange<float>>;
template void launch_sgd(const SgdMemory<float, float, float>&, Floats, const SgdFactors<float>&, CudaStream);
template void launch_sgd(const SgdMemory<float, float, Bfloat16Bits>&, Floats, const SgdFactors<float>&, CudaStream);
template void launch_sgd(const SgdMemory<float, Bfloat16Bits, Bfloat16Bits>&, Floats, const SgdFactors<float>&, CudaStream);
template void launch_sgd(const SgdMemory<float, float, Float16Bits>&, Floats, const SgdFactors<float>&, CudaStream);
template void launch_sgd(const SgdMemory<float, Float16Bits, Float16Bits>&, Floats, const SgdFactors<float>&, CudaStream);
template void launch_sgd(const SgdMemory<double, double, double>&, std::span<const SgdRange<double>>, const SgdFactors<double>&,
                         CudaStream);

}  // namespace executor
