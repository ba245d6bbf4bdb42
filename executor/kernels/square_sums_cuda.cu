#include "executor/kernels/square_sums_cuda.h"

#include "executor/kernels/chunk_table.cuh"
#include "executor/kernels/cuda_block.cuh"
#include "executor/kernels/exact_limbs.h"
#include "executor/kernels/square_sums.h"

namespace executor {
namespace {

constexpr unsigned kThreads = 256;
constexpr int kWindow = 4;

__device__ __forceinline__ void add_to(std::int64_t* limb, std::int64_t value) {
  if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(limb), static_cast<unsigned long long>(value));
}

// A thread's share of the sum: four neighbouring limbs in registers. Addends of one thread have nearly equal exponents, so they stay there,
// and the block's limbs in shared memory are seldom touched.
class LimbWindow {
 public:
  __device__ __forceinline__ explicit LimbWindow(std::int64_t* shared) : shared_(shared) {}

  __device__ __forceinline__ void add(double value) {
    if (!is_finite(value)) return add_to(shared_ + kNotFiniteLimb, 1);
    const LimbParts parts = limb_parts(value);
    if (parts.first != first_ && parts.first != first_ + 1) move_to(parts.first);
    const bool upper = parts.first != first_;
    limbs_[0] += upper ? 0 : parts.low;
    limbs_[1] += upper ? parts.low : parts.middle;
    limbs_[2] += upper ? parts.middle : parts.high;
    limbs_[3] += upper ? parts.high : 0;
  }

  __device__ __forceinline__ void flush() {
#pragma unroll
    for (int i = 0; i < kWindow; ++i) {
      add_to(shared_ + first_ + i, limbs_[i]);
      limbs_[i] = 0;
    }
  }

 private:
  __device__ __forceinline__ void move_to(std::int32_t first) {
    flush();
    first_ = first < kTopLimb - kWindow ? first : kTopLimb - kWindow;  // the window ends below the top limb
  }

  std::int64_t* shared_;
  std::int32_t first_ = 0;
  std::int64_t limbs_[kWindow] = {};
};

__device__ __forceinline__ void clear(std::int64_t* shared) {
  if (threadIdx.x < kLimbs) shared[threadIdx.x] = 0;
  __syncthreads();
}
__device__ __forceinline__ void merge(const std::int64_t* shared, std::int64_t* limbs) {
  __syncthreads();
  if (threadIdx.x < kLimbs) add_to(limbs + threadIdx.x, shared[threadIdx.x]);
}

// A block of 64 is eight rows of eight lanes. A thread takes 16 bytes of every row: kLanes lanes, all rows.
template <class Number>
constexpr int kLanesOfThread = sizeof(Number) > 2 ? 16 / sizeof(Number) : 8;

// Of `left` elements from the thread's first lane on; what is not there is zero. Whole blocks without a branch between the loads: all eight
// are under way before the first is used.
template <class Number>
__device__ __forceinline__ void load_rows(Number (&rows)[8][kLanesOfThread<Number>], const Number* from, std::int64_t left) {
  constexpr int kLanes = kLanesOfThread<Number>;
  if (left >= 7 * 8 + kLanes && is_aligned(from)) {
    uint4 words[8];
#pragma unroll
    for (int row = 0; row < 8; ++row) words[row] = *reinterpret_cast<const uint4*>(from + 8 * row);
    memcpy(rows, words, sizeof words);
    return;
  }
#pragma unroll
  for (int row = 0; row < 8; ++row) {
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) rows[row][lane] = 8 * row + lane < left ? from[8 * row + lane] : Number{};
  }
}

template <class Number>
__device__ __forceinline__ double thread_sum(const Number* from, std::int64_t left) {
  constexpr int kLanes = kLanesOfThread<Number>;
  Number rows[8][kLanes];
  load_rows(rows, from, left);
  double sums[kLanes] = {};
#pragma unroll
  for (int row = 0; row < 8; ++row) {
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      const double value = load(rows[row][lane]);
      sums[lane] += value * value;
    }
  }
#pragma unroll
  for (int apart = 1; apart < kLanes; apart *= 2) {
#pragma unroll
    for (int lane = 0; lane < kLanes; lane += 2 * apart) sums[lane] += sums[lane + apart];
  }
  return sums[0];
}

template <class Number>
__global__ void __launch_bounds__(kThreads)
    add_squares_kernel(const Number* values, const ChunkTable<ElementRange> table, std::int64_t* limbs) {
  constexpr int kLanes = kLanesOfThread<Number>, kThreadsOfBlock = 8 / kLanes;
  constexpr std::int64_t kChunk = kThreads / kThreadsOfBlock * kSquareBlock;
  __shared__ std::int64_t shared[kLimbs];
  clear(shared);
  LimbWindow window(shared);
  int range = 0;
  for (std::int64_t chunk = blockIdx.x; chunk < table.chunks(); chunk += gridDim.x) {
    while (chunk >= table.first_chunk[range + 1]) ++range;
    const std::int64_t begin = table.ranges[range].begin + (chunk - table.first_chunk[range]) * kChunk +
                               threadIdx.x / kThreadsOfBlock * kSquareBlock + threadIdx.x % kThreadsOfBlock * kLanes;
    double sum = thread_sum(values + begin, table.ranges[range].end - begin);
#pragma unroll
    for (unsigned apart = 1; apart < kThreadsOfBlock; apart *= 2) sum += __shfl_xor_sync(0xffffffffU, sum, apart);
    if (threadIdx.x % kThreadsOfBlock == 0) window.add(sum);
  }
  window.flush();
  merge(shared, limbs);
}

template <class Number>
__global__ void __launch_bounds__(kThreads) add_values_kernel(const Number* values, ElementRange range, std::int64_t* limbs) {
  __shared__ std::int64_t shared[kLimbs];
  clear(shared);
  LimbWindow window(shared);
  for (std::int64_t i = range.begin + blockIdx.x * kThreads + threadIdx.x; i < range.end; i += gridDim.x * kThreads) window.add(values[i]);
  window.flush();
  merge(shared, limbs);
}

__global__ void normalise_kernel(std::int64_t* limbs) {
  __shared__ std::int64_t shared[kLimbs];
  if (threadIdx.x < kLimbs) shared[threadIdx.x] = limbs[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) carry(shared);
  __syncthreads();
  if (threadIdx.x < kLimbs) limbs[threadIdx.x] = shared[threadIdx.x];
}

__global__ void gradient_factor_kernel(double* factor, const std::int64_t* limbs, GradientLimit limit) {
  __shared__ std::int64_t shared[kLimbs];
  if (threadIdx.x < kLimbs) shared[threadIdx.x] = limbs[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) *factor = gradient_factor(norm_of(limbs_value(shared), limit), limit);
}

// Few, for each ends with additions to the same 68 numbers.
LaunchShape few_blocks(std::int64_t pieces) {
  const std::int64_t most = 4 * multiprocessors();
  return over(pieces < most ? pieces : most, kThreads);
}

template <class Number>
void add_squares(const Number* values, std::span<const ElementRange> ranges, std::int64_t* limbs, CudaStream stream) {
  while (!ranges.empty()) {
    const auto table = ChunkTable<ElementRange>::take(ranges, kThreads / (8 / kLanesOfThread<Number>)*kSquareBlock);
    if (table.chunks() > 0) launch("add_squares", add_squares_kernel<Number>, few_blocks(table.chunks()), stream, values, table, limbs);
  }
}

template <class Number>
void add_values(const Number* values, const ElementRange& range, std::int64_t* limbs, CudaStream stream) {
  const std::int64_t pieces = (range.end - range.begin + kThreads - 1) / kThreads;
  if (pieces > 0) launch("add_values", add_values_kernel<Number>, few_blocks(pieces), stream, values, range, limbs);
}

}  // namespace

void launch_add_squares(const float* values, std::span<const ElementRange> ranges, std::int64_t* limbs, CudaStream stream) {
  add_squares(values, ranges, limbs, stream);
}
void launch_add_squares(const double* values, std::span<const ElementRange> ranges, std::int64_t* limbs, CudaStream stream) {
  add_squares(values, ranges, limbs, stream);
}
void launch_add_squares(const Bfloat16Bits* values, std::span<const ElementRange> ranges, std::int64_t* limbs, CudaStream stream) {
  add_squares(values, ranges, limbs, stream);
}
void launch_add_squares(const Float16Bits* values, std::span<const ElementRange> ranges, std::int64_t* limbs, CudaStream stream) {
  add_squares(values, ranges, limbs, stream);
}

void launch_add_values(const float* values, const ElementRange& range, std::int64_t* limbs, CudaStream stream) {
  add_values(values, range, limbs, stream);
}
void launch_add_values(const double* values, const ElementRange& range, std::int64_t* limbs, CudaStream stream) {
  add_values(values, range, limbs, stream);
}

void launch_normalise(std::int64_t* limbs, CudaStream stream) {
  launch("normalise", normalise_kernel, {.blocks = 1, .threads = 96}, stream, limbs);
}

void launch_gradient_factor(double* factor, const std::int64_t* limbs, const GradientLimit& limit, CudaStream stream) {
  launch("gradient_factor", gradient_factor_kernel, {.blocks = 1, .threads = 96}, stream, factor, limbs, limit);
}

}  // namespace executor
