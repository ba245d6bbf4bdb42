#include "sim/clock/kernel_clock.h"

#include <algorithm>
#include <cmath>

namespace sim {
namespace {

constexpr double kFlashBackwardWork = 2.5;  // products, in units of the forward's

constexpr double kScanForwardKernels = 6, kScanBackwardKernels = 8;  // as flash-linear-attention issues them

struct Tile {
  double rows, columns;
};
constexpr Tile kTiles[] = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 64}};

double tile_share(const KernelTraits& traits, const Tile& tile) {
  if (tile.rows * tile.columns > 128 * 128) return 1;
  if (tile.columns > 64) return traits.tile128_share;
  return tile.rows > 64 ? traits.tile64_share : traits.tile64_share * traits.tile64_share;
}

// Waves of tiles over the multiprocessors; a product with few tiles is cut along its inner dimension.
double waves(const KernelTraits& traits, double tiles, double pieces) {
  const double full = tiles / traits.multiprocessors;
  if (full >= 1) return traits.smooth_waves * full + (1 - traits.smooth_waves) * std::ceil(full);
  return std::max(full, 1 / std::clamp(pieces, 1.0, 32.0));
}

// Bytes an element to make fp8 of 16 bit, partly inside other kernels; a scale of this step takes a pass of its own.
double cast_bytes(const Device& device, ScaleRecipe recipe) {
  const Behavior& behavior = device.behavior;
  const double left_out = device.kernels.reads_either_way ? behavior.transposed_cast_bytes : 0;
  switch (recipe) {
    case ScaleRecipe::Delayed: return behavior.delayed_cast_bytes - left_out;
    case ScaleRecipe::Tensorwise: return behavior.tensorwise_cast_bytes - left_out;
    case ScaleRecipe::Rowwise: return behavior.rowwise_cast_bytes;
    case ScaleRecipe::Mx:
    case ScaleRecipe::Blockwise: return behavior.block_cast_bytes;
    case ScaleRecipe::Nvfp4: return behavior.fp4_cast_bytes;
  }
  return 0;
}

// Calls of the host for one operand of one expert. Scales of steps before are known: one call casts all experts.
double cast_launches(const Behavior& behavior, ScaleRecipe recipe) {
  return recipe == ScaleRecipe::Delayed ? 0 : recipe == ScaleRecipe::Tensorwise ? behavior.cast_launches : 1;
}

// The matrix units read a scale with each 32 numbers of 8 bits. The rate of 4 bits has them in its share of the peak. Scales of rows are multiplied by a kernel
// of another library than scales of tensors.
double scaled_share(const Device& device, NumberFormat format, ScaleRecipe recipe) {
  if (format != NumberFormat::Fp8) return 1;
  return recipe == ScaleRecipe::Mx        ? device.behavior.block_product_share
         : recipe == ScaleRecipe::Rowwise ? device.kernels.rowwise_share
                                          : 1;
}

// A scale a row is one for all that a sum goes over. Where that lies across an operand's rows, each number is written turned, far from its neighbors: the time
// is the multiprocessors', not the memory's. What was timed there is a compiler's work already.
double cast_time(const Device& device, const KernelSetting& setting, bool across, double stream_rate) {
  const double streaming = cast_bytes(device, setting.scales) / stream_rate;
  if (setting.scales != ScaleRecipe::Rowwise) return (setting.compiled ? device.behavior.compiled_cast_share : 1) * streaming;
  return across ? std::max(streaming, 1 / (device.kernels.multiprocessors * device.behavior.turned_casts)) : streaming;
}

double alignment(const Behavior& behavior, double size) {  // of rows of 16-bit elements
  return std::fmod(size, 64) == 0 ? 1 : std::fmod(size, 8) == 0 ? behavior.half_aligned_share : behavior.misaligned_share;
}

}  // namespace

double KernelClock::element() const {
  if (setting_.format == NumberFormat::Fp64) return 8;
  return setting_.format <= NumberFormat::Tf32 ? 4 : 2;
}

double KernelClock::stream_rate() const { return device_.profile.memory_bandwidth.value() * device_.profile.memory_efficiency; }

double KernelClock::matrix_share(NumberFormat format) const {
  return device_.matrix_share(format, stack_.newer_libraries) * stack_.matrix_share;
}

double KernelClock::product_rate() const { return device_.half_peak().value() * matrix_share(NumberFormat::Bf16); }

double KernelClock::tile_time(const MatrixShape& shape, NumberFormat format) const {
  const KernelTraits& traits = device_.kernels;
  const double one = device_.matrix_peak(format).value() / traits.multiprocessors * matrix_share(format);
  const double fill = traits.inner_fill * std::max(1.0, device_.matrix_peak(format).value() / device_.half_peak().value());
  double best = 1e30;
  for (const Tile& tile : kTiles) {
    const double tiles = std::ceil(shape.rows / tile.rows) * std::ceil(shape.columns / tile.columns) * shape.batch;
    const double flops = 2 * tile.rows * tile.columns * (shape.inner + fill);
    best = std::min(best, waves(traits, tiles, shape.inner / device_.behavior.split_inner) * flops / (one * tile_share(traits, tile)));
  }
  return best;
}

double KernelClock::casts(const MatrixShape& shape) const {
  return shape.rows * shape.row_casts * cast_time(device_, setting_, shape.rows_across, stream_rate()) +
         shape.columns * shape.weight_casts * cast_time(device_, setting_, shape.columns_across, stream_rate());
}

Work KernelClock::product(const MatrixShape& shape, NumberFormat format) const {
  if (shape.rows <= 0 || shape.columns <= 0 || shape.inner <= 0) return {};
  double compute = tile_time(shape, format) / scaled_share(device_, format, setting_.scales);
  if (!is_whole(format) && shape.columns > 256 && shape.inner > 256)
    compute /= std::min(alignment(device_.behavior, shape.inner), alignment(device_.behavior, shape.columns));
  else if (!is_whole(format) && (std::fmod(shape.inner, 8) != 0 || std::fmod(shape.columns, 8) != 0))
    compute /= device_.behavior.misaligned_share;
  const double size = format == NumberFormat::Fp4 ? 0.5 : format == NumberFormat::Fp8 ? 1 : element();
  const double moved = (shape.rows + shape.columns) * shape.inner * size + shape.rows * shape.columns * element();
  const double cast = is_scaled(format) ? casts(shape) * shape.inner * shape.batch : 0;
  return {std::max(compute, shape.batch * moved / stream_rate()) + device_.profile.kernel_overhead.count() + cast,
          is_scaled(format) ? 3.0 : 1.0};
}

Work KernelClock::half_product(const MatrixShape& shape) const { return product(shape, unscaled(setting_.format)); }

// Together they reach the rate of a single product.
Work KernelClock::grouped(const MatrixShape& shape, ExpertDispatch dispatch, double cast_operands) const {
  Work work = product(shape);
  if (dispatch != ExpertDispatch::Dropless) return work;
  const double casts = is_scaled(setting_.format) ? cast_operands * cast_launches(device_.behavior, setting_.scales) : 0;
  work.kernels = work.uncaptured = shape.batch * (stack_.launches_per_expert + casts);
  return work;
}

Work KernelClock::bytes(double bytes, KernelCount kernels) const {
  return {bytes / stream_rate() + kernels.value * device_.profile.kernel_overhead.count() / 2, kernels.value};
}

double KernelClock::flash_share() const {
  switch (setting_.attention) {
    case AttentionKernel::EfficientMasked:
    case AttentionKernel::Efficient: return device_.kernels.flash2_share * device_.behavior.efficient_gain;
    case AttentionKernel::Flash1: return device_.kernels.flash1_share;
    case AttentionKernel::Flash3: return device_.kernels.flash3_share;
    case AttentionKernel::Cudnn: return device_.kernels.cudnn_share;
    default: return device_.kernels.flash2_share;
  }
}

// Each pair of a query and a key takes one, whatever the width of a head: beside the products of 128 columns they are hidden as far as rates were measured.
// The backward pass is as much slower with narrow heads as the forward one.
double KernelClock::exponentials_waited_for(const AttentionShape& shape) const {
  constexpr double kWide = 128;
  const double pairs = shape.batch * shape.heads * shape.queries * shape.keys;
  return pairs * std::max(0.0, 1 - shape.key_dim / kWide) / (device_.kernels.multiprocessors * device_.behavior.exponentials);
}

Work KernelClock::flash(const AttentionShape& shape, bool backward) const {
  const double flops = 2 * shape.batch * shape.heads * shape.queries * shape.keys * (shape.key_dim + shape.value_dim);
  const bool first = setting_.attention == AttentionKernel::Flash1;  // faster with narrow heads, and full sooner
  const double length = (shape.causal ? 2 : 3) * shape.keys * (first ? device_.behavior.flash1_length_gain : 1.0);
  const double dim = first && shape.key_dim < 96 ? device_.behavior.flash1_narrow_gain : 1.0;
  const NumberFormat format = unscaled(setting_.format);
  const double rate =
      device_.matrix_peak(format).value() * flash_share() * stack_.attention_gain * dim * length / (length + device_.behavior.flash_tokens);
  const double narrow = first ? 0 : exponentials_waited_for(shape);
  const double time = backward ? kFlashBackwardWork * (flops / (rate * device_.behavior.flash_backward_gain) + narrow)
                               : flops / (rate * device_.behavior.flash_forward_gain) + narrow;
  const Work kernel{time + device_.profile.kernel_overhead.count(), backward ? 3.0 : 1.0};
  return shape.merged > 0 ? kernel + merging(shape, backward) : kernel;
}

// One kernel, on no unit for products: each number of a state takes an exponential and what is computed around it.
Work KernelClock::selective_scan(const Scan& scan, bool backward, double streaming) const {
  const double exponentials = states_of(scan) * device_.behavior.selective_exponentials * (backward ? kScanBackwardFlops : 1),
               computing = exponentials / (device_.kernels.multiprocessors * device_.behavior.exponentials);
  return {std::max(computing, streaming) + device_.profile.kernel_overhead.count(), 1};
}

// A kernel after the other, of which each waits for few bytes at a time: at no rate of a product, and at a part of the memory's.
Work KernelClock::scan(const Scan& scan, bool backward) const {
  const Bytes size(static_cast<std::int64_t>(element()));
  const NumberFormat format = unscaled(setting_.format);
  const double flops = scan_flops(scan).value() * (backward ? kScanBackwardFlops : 1),
               moved = static_cast<double>(scan_bytes(scan, size).value()) * (backward ? kScanBackwardBytes : 1);
  const double streaming = moved / (stream_rate() * device_.behavior.scan_stream_share);
  if (scan.rule == LinearRule::Selective) return selective_scan(scan, backward, streaming);
  const double computing = flops / (device_.matrix_peak(format).value() * matrix_share(format));
  const double kernels = backward ? kScanBackwardKernels : kScanForwardKernels;
  return {std::max(computing, streaming) + kernels * device_.profile.kernel_overhead.count() / 2, kernels};
}

// Rows of keys are gathered one by one: a rate of its own, which few chosen tokens do not reach.
Work KernelClock::sparse(const SparseAttention& shape, bool backward) const {
  const Behavior& behavior = device_.behavior;
  const double chosen = chosen_pairs({shape.sequence, shape.topk}) / static_cast<double>(shape.sequence);
  const double share = backward ? behavior.sparse_backward_share : behavior.sparse_forward_share;
  const double rate = device_.half_peak().value() * share * stack_.attention_gain * chosen / (chosen + behavior.sparse_tokens);
  const Bytes moved = sparse_bytes(shape, Bytes(static_cast<std::int64_t>(element())), backward);
  const double time = std::max(sparse_flops(shape, backward).value() / rate, static_cast<double>(moved.value()) / stream_rate());
  return {time + device_.profile.kernel_overhead.count(), backward ? 3.0 : 1.0};
}

// One product of two, without a softmax between them: at flash attention's rate. The choice reads scores that were written.
Work KernelClock::index(const IndexScores& shape, bool backward) const {
  const double rate = device_.half_peak().value() * flash_share() * stack_.attention_gain;
  const Bytes moved = index_bytes(shape, Bytes(static_cast<std::int64_t>(element())), backward);
  const double time = index_flops(shape, backward).value() / rate + static_cast<double>(moved.value()) / stream_rate();
  return {time + device_.profile.kernel_overhead.count(), 3.0};
}

// Sums in fp32 are read and written for each partial one in 16 bit: outputs forward, gradients of queries, keys and values backward.
Work KernelClock::merging(const AttentionShape& shape, bool backward) const {
  const double width =
      backward ? shape.heads * shape.key_dim + shape.kv_heads * (shape.key_dim + shape.value_dim) : shape.heads * shape.value_dim;
  return bytes(shape.batch * shape.merged * width * (element() + 2 * 4));
}

// Bytes a score in 16 bit that passes take beside the products. Wide, as Transformers' eager_attention_forward: scale 4, mask 4, softmax that reads 16 bit and
// writes fp32 6, cast 6; backward cast 6, softmax 10, scale 4.
KernelClock::ScorePasses KernelClock::score_passes() const {
  if (setting_.attention == AttentionKernel::FusedSoftmax) return {4, 6};
  return (stack_.wide_softmax || setting_.autocast) && element() == 2 ? ScorePasses{20, 20} : ScorePasses{13, 14};
}

// Scores are written out: two products a head forward, four backward, and passes over all queries x keys between them.
Work KernelClock::unfused(const AttentionShape& shape, bool backward) const {
  const double heads = shape.batch * shape.heads, scores = heads * shape.queries * shape.keys;
  Work work =
      half_product({shape.queries, shape.keys, shape.key_dim, heads}) + half_product({shape.queries, shape.value_dim, shape.keys, heads});
  if (backward)
    work +=
        half_product({shape.queries, shape.key_dim, shape.keys, heads}) + half_product({shape.queries, shape.keys, shape.value_dim, heads});
  const bool fused = setting_.attention == AttentionKernel::FusedSoftmax;
  const auto [forward_passes, backward_passes] = score_passes();
  const double passes = backward ? backward_passes : forward_passes, dropout = stack_.dropout ? 5 : 0;
  work += bytes(scores * element() / 2 * (passes + dropout), fused ? 2 : 6);
  const double moved = heads * (2 * shape.queries * shape.key_dim + 2 * shape.queries * shape.value_dim) * element();
  return work + bytes((backward ? 2 : 1) * 2 * moved, backward ? 6 : 4);  // transposes between the layouts
}

}  // namespace sim
