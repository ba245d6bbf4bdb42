#include "executor/kernels/square_sums.h"

namespace executor {
namespace {

constexpr std::int64_t kLanes = 8;

template <class Number>
MESHWRIGHT_INLINE void sums_of_blocks(const SquareBlocks<Number>& of) {
  for (std::int64_t block = 0; block < of.blocks; ++block) {
    const Number* __restrict values = of.values + block * kSquareBlock;
    double lanes[kLanes] = {};
    for (std::int64_t i = 0; i < kSquareBlock; i += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        const double value = load(values[i + lane]);
        lanes[lane] += value * value;
      }
    }
    of.sums[block] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }
}

}  // namespace

MESHWRIGHT_VECTOR_LOOP void square_sums(const SquareBlocks<float>& of) { sums_of_blocks(of); }
MESHWRIGHT_VECTOR_LOOP void square_sums(const SquareBlocks<double>& of) { sums_of_blocks(of); }
MESHWRIGHT_VECTOR_LOOP void square_sums(const SquareBlocks<Bfloat16Bits>& of) { sums_of_blocks(of); }
MESHWRIGHT_VECTOR_LOOP void square_sums(const SquareBlocks<Float16Bits>& of) { sums_of_blocks(of); }

}  // namespace executor
