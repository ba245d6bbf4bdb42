#include "executor/kernels/gpu_operators.h"

#if MESHWRIGHT_CUDA
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime_api.h>
#endif

namespace executor {
namespace {

constexpr std::int32_t kAmpere = 80, kAda = 89, kHopper = 90, kBlackwell = 100, kDesks = 120;
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
  const bool has_units = card.capability >= kHopper && card.capability < kDesks;
  return has_units && numbers.type == at::kBFloat16 && numbers.inputs % kNumbersOfSixteenBytes == 0 &&
         numbers.outputs % kNumbersOfSixteenBytes == 0;
}

// Scales of blocks come four at a time: 4 rows, and along what is summed over 4 squares; elsewhere the last block is whole.
bool multiplies_eight_bits(Card card, EightBitProduct product) {
  struct Row {
    std::int32_t since, before;
    std::int64_t rows, inner;
  };
  constexpr std::int32_t kAny = 1000;
  static constexpr Row kRows[] = {{kAda, kAny, 1, kBytesAtOnce},
                                  {kHopper, kAny, 1, kBytesAtOnce},
                                  {kHopper, kHopper + 1, 4, 128},
                                  {kHopper, kHopper + 1, 4, 512},
                                  {kBlackwell, kDesks, 1, 128}};
  const Row& row = kRows[static_cast<std::size_t>(product.scales)];
  const bool puts_out = product.output == at::kBFloat16 || (product.output == at::kFloat && product.scales != ScaledBy::Row);
  return card.capability >= row.since && card.capability < row.before && puts_out && product.rows % row.rows == 0 &&
         product.inner % row.inner == 0 && product.columns % kBytesAtOnce == 0;
}

}  // namespace executor
