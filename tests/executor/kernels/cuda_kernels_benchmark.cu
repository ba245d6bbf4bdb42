// How fast the kernels are on this machine's GPU: the bytes that each must move (inputs read once, outputs written once) over the median time
// of its launches, and that rate's share of a plain copy's on the same GPU. One JSON object a line, as soon as it is known.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "executor/kernels/adamw_cuda.h"
#include "executor/kernels/cross_entropy_cuda.h"
#include "executor/kernels/cuda_block.cuh"
#include "executor/kernels/dropout_cuda.h"
#include "executor/kernels/eight_bits_cuda.h"
#include "executor/kernels/exact_limbs.h"
#include "executor/kernels/gated_silu_cuda.h"
#include "executor/kernels/masked_softmax_cuda.h"
#include "executor/kernels/norm_cuda.h"
#include "executor/kernels/rotary_cuda.h"
#include "executor/kernels/sgd_cuda.h"
#include "executor/kernels/square_sums_cuda.h"

namespace executor {
namespace {

void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

__global__ void fill_kernel(float* numbers, std::int64_t count, unsigned seed) {
  for (std::int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    unsigned bits = (static_cast<unsigned>(i) + seed) * 2654435761U;
    bits ^= bits >> 15;
    numbers[i] = static_cast<float>(bits * 2246822519U >> 8) * (1.0F / 16777216.0F) - 0.5F;
  }
}
__global__ void round_kernel(const float* numbers, Bfloat16Bits* rounded, std::int64_t count) {
  for (std::int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) store(rounded[i], numbers[i]);
}

// Random numbers between -0.5 and 0.5: zeros would flatter.
class Memory {
 public:
  explicit Memory(std::int64_t count, unsigned seed = 1) {
    require(cudaMalloc(&memory_, static_cast<std::size_t>(count) * 4));
    launch("fill", fill_kernel, over(count / 256, 256), nullptr, floats(), count, seed);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { cudaFree(memory_); }

  float* floats() { return static_cast<float*>(memory_); }
  std::int64_t* integers() { return static_cast<std::int64_t*>(memory_); }
  Bfloat16Bits* halves() { return static_cast<Bfloat16Bits*>(memory_); }

 private:
  void* memory_ = nullptr;
};

class Halves {
 public:
  explicit Halves(std::int64_t count) : memory_(count / 2) {
    Memory wide(count);
    launch("round", round_kernel, over(count / 256, 256), nullptr, wide.floats(), memory_.halves(), count);
    require(cudaDeviceSynchronize());
  }
  Bfloat16Bits* data() { return memory_.halves(); }

 private:
  Memory memory_;
};

double median_seconds(const std::function<void()>& work) {
  constexpr int kWarmUp = 5, kRepeats = 31;
  cudaEvent_t begin, end;
  require(cudaEventCreate(&begin));
  require(cudaEventCreate(&end));
  std::vector<float> milliseconds;
  for (int i = 0; i < kWarmUp + kRepeats; ++i) {
    require(cudaEventRecord(begin));
    work();
    require(cudaEventRecord(end));
    require(cudaEventSynchronize(end));
    float elapsed = 0;
    require(cudaEventElapsedTime(&elapsed, begin, end));
    if (i >= kWarmUp) milliseconds.push_back(elapsed);
  }
  require(cudaEventDestroy(begin));
  require(cudaEventDestroy(end));
  std::nth_element(milliseconds.begin(), milliseconds.begin() + kRepeats / 2, milliseconds.end());
  return milliseconds[kRepeats / 2] * 1e-3;
}

struct Report {
  double copy_rate = 0;  // bytes a second

  void row(const char* kernel, std::int64_t bytes, const std::function<void()>& work) {
    const double seconds = median_seconds(work), rate = static_cast<double>(bytes) / seconds;
    std::printf("{\"kernel\": \"%s\", \"bytes\": %lld, \"seconds\": %.9f, \"bytes_per_second\": %.0f, \"share_of_copy\": %.4f}\n", kernel,
                static_cast<long long>(bytes), seconds, rate, rate / copy_rate);
    std::fflush(stdout);
  }
};

double copy_rate() {
  constexpr std::int64_t kNumbers = std::int64_t{1} << 30;
  Memory from(kNumbers), to(kNumbers);
  const double seconds =
      median_seconds([&] { require(cudaMemcpyAsync(to.floats(), from.floats(), kNumbers * 4, cudaMemcpyDeviceToDevice)); });
  return 2.0 * 4.0 * kNumbers / seconds;
}

void optimizer(Report& report) {
  constexpr std::int64_t kElements = std::int64_t{1} << 28;
  const AdamWFactors<float> by{.keep = 1,
                               .beta1 = 0.9F,
                               .one_minus_beta1 = 0.1F,
                               .beta2 = 0.95F,
                               .one_minus_beta2 = 0.05F,
                               .step_size = 1e-4F,
                               .root_correction = 1,
                               .epsilon = 1e-8F,
                               .gradient_factor = 1};
  const KeepRange<float> all[] = {{.begin = 0, .end = kElements, .keep = 0.9999F}};
  Memory master(kElements), first(kElements), second(kElements), gradient(kElements);
  Halves half(kElements), rounded(kElements);
  report.row("AdamW, fp32", 28 * kElements, [&] {
    launch_adamw<float, float, float>({master.floats(), gradient.floats(), first.floats(), second.floats(), nullptr}, all, by, nullptr);
  });
  report.row("AdamW, bf16 weights and gradients", 28 * kElements, [&] {
    launch_adamw<float, Bfloat16Bits, Bfloat16Bits>({master.floats(), half.data(), first.floats(), second.floats(), rounded.data()}, all,
                                                    by, nullptr);
  });
  const SgdFactors<float> sgd{.decay = 0, .momentum = 0.9F, .learning_rate = 1e-4F, .gradient_factor = 1};
  const SgdRange<float> decaying[] = {{.begin = 0, .end = kElements, .decay = 0.1F}};
  report.row("SGD, bf16 weights and gradients", 20 * kElements, [&] {
    launch_sgd<float, Bfloat16Bits, Bfloat16Bits>({master.floats(), half.data(), first.floats(), rounded.data()}, decaying, sgd, nullptr);
  });
}

void gradient_norm(Report& report) {
  constexpr std::int64_t kElements = std::int64_t{1} << 29;
  const ElementRange all[] = {{.begin = 0, .end = kElements}};
  Memory values(kElements), limbs(2 * kLimbs);
  Halves halves(kElements);
  report.row("gradient norm, fp32", 4 * kElements, [&] { launch_add_squares(values.floats(), all, limbs.integers(), nullptr); });
  report.row("gradient norm, bf16", 2 * kElements, [&] { launch_add_squares(halves.data(), all, limbs.integers(), nullptr); });
}

void cross_entropy(Report& report) {
  constexpr std::int64_t kTokens = 16384, kColumns = 50304, kLogits = kTokens * kColumns;
  Halves logits(kLogits);
  Memory maximum(kTokens), sums(2 * kTokens), targets(2 * kTokens);
  require(cudaMemset(targets.integers(), 0, kTokens * 8));
  const DeviceLogits<Bfloat16Bits> of{logits.data(), kTokens, kColumns, 50257};
  const DeviceTargets<float> at{targets.integers(), 0, maximum.floats()};
  report.row("cross-entropy maximum, bf16", 2 * kLogits, [&] { launch_maximum(of, maximum.floats(), nullptr); });
  report.row("cross-entropy exponentials, bf16", 2 * kLogits, [&] { launch_exponentials(of, at, sums.floats(), nullptr); });
  report.row("cross-entropy gradient, bf16", 4 * kLogits, [&] {
    launch_loss_gradient(of, at, DeviceGradient<Bfloat16Bits>{sums.floats(), 1.0F}, nullptr);
  });
}

void norm(Report& report, const char* forward, const char* backward, const NormShape& shape) {
  const std::int64_t elements = shape.tokens * shape.width;
  Halves sum(elements), stream(elements), output(elements), scale(shape.width), shift(shape.width);
  Memory mean(shape.tokens), inverse(shape.tokens), scale_gradient(shape.width), shift_gradient(shape.width),
      workspace(norm_workspace(shape));
  report.row(forward, 8 * elements, [&] {
    launch_norm_forward(NormForward<Bfloat16Bits>{.sum = sum.data(),
                                                  .stream = stream.data(),
                                                  .scale = scale.data(),
                                                  .shift = shift.data(),
                                                  .output = output.data(),
                                                  .mean = mean.floats(),
                                                  .inverse = inverse.floats()},
                        shape, nullptr);
  });
  report.row(backward, 8 * elements, [&] {
    launch_norm_backward(NormBackward<Bfloat16Bits, float>{.output_gradient = output.data(),
                                                           .h = sum.data(),
                                                           .mean = mean.floats(),
                                                           .inverse = inverse.floats(),
                                                           .scale = scale.data(),
                                                           .stream_gradient = stream.data(),
                                                           .input_gradient = output.data(),
                                                           .scale_gradient = scale_gradient.floats(),
                                                           .shift_gradient = shift_gradient.floats(),
                                                           .workspace = workspace.floats()},
                         shape, nullptr);
  });
}

// Llama-1B's shapes, eight thousand tokens.
void layer(Report& report) {
  constexpr std::int64_t kTokens = 1 << 13, kWidth = 8192, kHeads = 32, kKeys = 8, kHalf = 32, kSequence = 2048;
  Halves gated(kTokens * 2 * kWidth), output(kTokens * kWidth), joint_gradient(kTokens * 2 * kWidth);
  const GatedShape shape{.rows = kTokens, .width = kWidth};
  report.row("gated silu, bf16", 6 * kTokens * kWidth, [&] { launch_gated_silu(output.data(), gated.data(), shape, nullptr); });
  report.row("gated silu backward, bf16", 10 * kTokens * kWidth,
             [&] { launch_gated_silu_backward(joint_gradient.data(), gated.data(), output.data(), shape, nullptr); });
  const std::int64_t width = (kHeads + 2 * kKeys) * 2 * kHalf, turned = kHeads + kKeys;
  Halves joint(kTokens * width), table(2 * kSequence * kHalf);
  const RotaryShape rotary{
      .tokens = kTokens, .width = width, .turned = turned, .head_dim = 2 * kHalf, .half = kHalf, .sequence = kSequence};
  report.row("rotary, bf16", 4 * kTokens * turned * 2 * kHalf,
             [&] { launch_rotary<Bfloat16Bits>(joint.data(), table.data(), rotary, nullptr); });
  const DropoutDraw draw = dropout_draw(0.1, {.key = 1});
  report.row("dropout, bf16", 4 * kTokens * kWidth, [&] { launch_dropout(output.data(), kTokens * kWidth, draw, nullptr); });
}

// An operand of Llama-1B's feed-forward part, as the forward reads it and as the gradient of the weight does.
void eight_bits(Report& report) {
  constexpr std::int64_t kRows = 1 << 15, kColumns = 8192;
  Halves numbers(kRows * kColumns), codes(kRows * kColumns / 2);
  Memory largest(1), inverse(1);
  const EightBitOperand<Bfloat16Bits> of{.numbers = numbers.data(),
                                         .largest = largest.floats(),
                                         .codes = reinterpret_cast<std::uint8_t*>(codes.data()),
                                         .inverse = inverse.floats()};
  EightBitShape shape{.rows = kRows, .columns = kColumns};
  report.row("to 8 bit, bf16", 3 * kRows * kColumns, [&] { launch_eight_bits(of, shape, nullptr); });
  shape.is_turned = true;
  report.row("to 8 bit and turned, bf16", 3 * kRows * kColumns, [&] { launch_eight_bits(of, shape, nullptr); });
}

// GPT-2's scores of 32 heads; half of them are in sight, and that half is read.
void softmax(Report& report) {
  const SoftmaxShape shape{.heads = 32, .queries = 1024, .keys = 1024, .is_causal = true, .scale = 0.125};
  const std::int64_t scores = shape.heads * shape.queries * shape.keys;
  Halves one(scores), other(scores);
  const HeadPlaces places{.first = 0, .here = 12, .all = 12, .first_head = 0};
  const DropoutDraw draw = dropout_draw(0.1, {.key = 1});
  report.row("masked softmax with dropout, bf16", 5 * scores, [&] {
    launch_masked_softmax<Bfloat16Bits>({one.data(), other.data()}, shape, places, draw, nullptr);
  });
  report.row("masked softmax with dropout backward, bf16", 5 * scores, [&] {
    launch_masked_softmax_backward<Bfloat16Bits>({one.data(), other.data()}, shape, places, draw, nullptr);
  });
}

}  // namespace
}  // namespace executor

int main() {
  executor::Report report{.copy_rate = executor::copy_rate()};
  std::printf("{\"kernel\": \"copy\", \"bytes_per_second\": %.0f, \"share_of_copy\": 1}\n", report.copy_rate);
  executor::optimizer(report);
  executor::gradient_norm(report);
  executor::cross_entropy(report);
  executor::norm(report, "residual + LayerNorm forward, bf16, width 768", "residual + LayerNorm backward, bf16, width 768",
                 {.tokens = 1 << 18, .width = 768});
  executor::norm(report, "residual + LayerNorm forward, bf16, width 4096", "residual + LayerNorm backward, bf16, width 4096",
                 {.tokens = 1 << 16, .width = 4096});
  executor::layer(report);
  executor::softmax(report);
  executor::eight_bits(report);
}
