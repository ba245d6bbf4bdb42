#include "executor/kernels/gpu_operators.h"

#if MESHWRIGHT_CUDA
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime_api.h>
#endif

namespace executor {
namespace {

constexpr std::int32_t kAmpere = 80, kAda = 89, kHopper = 90;
constexpr std::int64_t kWidestHead = 256, kNumbersOfSixteenBytes = 8, kBytesAtOnce = 16;

bool has_sixteen_bits(at::ScalarType type) { return type == at::kBFloat16 || type == at::kHalf; }

}  // namespace

Card card_of([[maybe_unused]] c10::Device device) {
#if MESHWRIGHT_CUDA
  if (device.is_cuda()) {
    int major = 0, minor = 0;
    C10_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device.index()));
    C10_CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device.index()));
    return {.is_gpu = true, .capability = 10 * major + minor};
  }
#endif
  return {};
}

bool adds_unrounded(Card card, SumTypes types) { return card.is_gpu && types.sum == at::kFloat && has_sixteen_bits(types.product); }

bool attends_by_blocks(Card card, HeadNumbers heads) {
  return card.capability >= kAmpere && has_sixteen_bits(heads.type) && heads.width <= kWidestHead;
}

// Blackwell's consumer cards (12.x) have none.
bool multiplies_groups(Card card, GroupedNumbers numbers) {
  const bool has_units = card.capability >= kHopper && card.capability < 120;
  return has_units && numbers.type == at::kBFloat16 && numbers.inputs % kNumbersOfSixteenBytes == 0 &&
         numbers.outputs % kNumbersOfSixteenBytes == 0;
}

bool multiplies_eight_bits(Card card, EightBitProduct product) {
  const bool puts_out = product.output == at::kBFloat16 || (product.output == at::kFloat && !product.is_rowwise);
  const std::int32_t since = product.is_rowwise ? kHopper : kAda;
  return card.capability >= since && puts_out && product.inner % kBytesAtOnce == 0 && product.columns % kBytesAtOnce == 0;
}

}  // namespace executor
