#include "executor/kernels/eight_bits_cuda.h"

#include "executor/kernels/cuda_block.cuh"
#include "executor/kernels/sixteen_bits.h"

namespace executor {
namespace {

constexpr unsigned kThreads = 256;
constexpr int kSide = 64, kEights = kSide / 8;  // of a tile, of one of its rows
constexpr int kWords = kSide / 4 + 1;           // of a row that is turned: those eight rows apart lie in other banks

struct EightCodes {
  std::uint8_t at[8];
};
struct TurnedTile {
  std::uint32_t words[kSide][kWords];
  __device__ __forceinline__ std::uint8_t* row(int at) { return reinterpret_cast<std::uint8_t*>(words[at]); }
};

// The first `count` of eight.
__device__ __forceinline__ void store_codes(std::uint8_t* to, const EightCodes& codes, std::int64_t count) {
  if (count >= 8 && reinterpret_cast<std::uintptr_t>(to) % sizeof(std::uint64_t) == 0) {
    std::uint64_t word;
    memcpy(&word, codes.at, sizeof word);
    *reinterpret_cast<std::uint64_t*>(to) = word;
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (i < count) to[i] = codes.at[i];
  }
}
template <class Number>
__device__ __forceinline__ Eight<Number> take(const Number* from, std::int64_t count) {
  Eight<Number> numbers{};
  if (count >= 8 && is_aligned(from)) return load_eight(from);
#pragma unroll
  for (int i = 0; i < 8; ++i)
    if (i < count) numbers.at[i] = from[i];
  return numbers;
}

// Whose upper left number stands there.
template <class Number>
struct Tile {
  const EightBitOperand<Number>& of;
  const EightBitShape& shape;
  std::int64_t first_row, first_column;

  __device__ __forceinline__ float scale(std::int64_t row, std::int64_t column) const {
    const std::int64_t at = (row >> shape.down) * tiles_across(shape) + (column >> shape.across);
    return scale_of(of.largest[at], shape.format, shape.rule);
  }

  // Codes go to their place, or into `turned`. Eight columns share a scale, or none do.
  __device__ __forceinline__ void round(TurnedTile& turned) const {
    for (int piece = static_cast<int>(threadIdx.x); piece < kSide * kEights; piece += static_cast<int>(kThreads)) {
      const int down = piece / kEights, across = piece % kEights * 8;
      const std::int64_t row = first_row + down, column = first_column + across, count = shape.columns - column;
      if (row >= shape.rows || count <= 0) continue;
      const Eight<Number> numbers = take(of.numbers + row * shape.columns + column, count);
      const float of_eight = scale(row, column);
      EightCodes codes;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const bool has_own = shape.across == 0 && i < count;
        codes.at[i] = eight_bit_code(load(numbers.at[i]) * (has_own ? scale(row, column + i) : of_eight), shape.format);
      }
      if (!shape.is_turned) {
        store_codes(of.codes + row * shape.columns + column, codes, count);
      } else {
#pragma unroll
        for (int i = 0; i < 8; ++i) turned.row(across + i)[down] = codes.at[i];
      }
    }
  }
  __device__ __forceinline__ void store(TurnedTile& turned) const {
    for (int piece = static_cast<int>(threadIdx.x); piece < kSide * kEights; piece += static_cast<int>(kThreads)) {
      const int down = piece / kEights, across = piece % kEights * 8;
      const std::int64_t row = first_column + down, column = first_row + across, count = shape.rows - column;
      if (row >= shape.columns || count <= 0) continue;
      EightCodes codes;
      memcpy(codes.at, &turned.words[down][across / 4], sizeof codes);
      store_codes(of.codes + row * shape.rows + column, codes, count);
    }
  }
};

// What fills a piece is 1.
template <class Number>
__device__ __forceinline__ void store_inverse(const EightBitOperand<Number>& of, const EightBitShape& shape) {
  const UnitScales scales = scales_of_unit(shape), all = filled(scales);
  for (std::int64_t at = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; at < all.outers * all.inners;
       at += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const std::int64_t outer = at / all.inners, inner = at % all.inners, place = place_of({outer, inner}, all);
    const std::int64_t tile = shape.is_turned ? inner * scales.outers + outer : outer * scales.inners + inner;
    const bool is_there = outer < scales.outers && inner < scales.inners;
    const float scale = is_there ? scale_of(of.largest[tile], shape.format, shape.rule) : 1;
    if (shape.rule == ScaleRule::Shared)
      static_cast<std::uint8_t*>(of.inverse)[place] = shared_exponent(scale);
    else
      static_cast<float*>(of.inverse)[place] = 1 / scale;
  }
}

template <class Number>
__global__ void __launch_bounds__(kThreads)
    eight_bits_kernel(const EightBitOperand<Number> of, const EightBitShape shape, std::int64_t tiles) {
  __shared__ TurnedTile turned;
  const std::int64_t across = (shape.columns + kSide - 1) / kSide;
  store_inverse(of, shape);
  for (std::int64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    const Tile<Number> tile{of, shape, number / across * kSide, number % across * kSide};
    tile.round(turned);
    if (!shape.is_turned) continue;
    __syncthreads();
    tile.store(turned);
    __syncthreads();
  }
}

}  // namespace

template <class Number>
void launch_eight_bits(const EightBitOperand<Number>& of, const EightBitShape& shape, CudaStream stream) {
  const std::int64_t tiles = (shape.rows + kSide - 1) / kSide * ((shape.columns + kSide - 1) / kSide);
  if (tiles > 0) launch("eight bits", eight_bits_kernel<Number>, over(tiles, kThreads), stream, of, shape, tiles);
}

template void launch_eight_bits(const EightBitOperand<float>&, const EightBitShape&, CudaStream);
template void launch_eight_bits(const EightBitOperand<Bfloat16Bits>&, const EightBitShape&, CudaStream);
template void launch_eight_bits(const EightBitOperand<Float16Bits>&, const EightBitShape&, CudaStream);

}  // namespace executor
