#include <gmock/gmock.h>

#include "sim/clock/kernel_clock.h"
#include "tests/sim/clock/devices.h"

namespace sim {
namespace {

class Clock : public testing::Test {
 protected:
  KernelClock clock(NumberFormat format, AttentionKernel attention = AttentionKernel::Flash2) {
    setting_.format = format;
    setting_.attention = attention;
    return {a100(), plain_stack(), setting_};
  }
  KernelSetting setting_;
};

TEST_F(Clock, LargeProductsReachTheirShare) {
  const double time = clock(NumberFormat::Bf16).product({8192, 8192, 8192}).device;
  const double share = 2 * 8192.0 * 8192 * 8192 / time / 312e12;
  EXPECT_GT(share, 0.6);
  EXPECT_LT(share, a100().kernels.matrix_share * plain_stack().matrix_share);
}

MatrixShape product_of(const MeasuredKernel& kernel) {
  const double rows = static_cast<double>(kernel.shape[0]), columns = static_cast<double>(kernel.shape[1]),
               inner = static_cast<double>(kernel.shape[2]);
  if (kernel.kernel == Kernel::LinearForward) return {rows, columns, inner};
  return kernel.kernel == Kernel::LinearInputGradient ? MatrixShape{rows, inner, columns} : MatrixShape{columns, inner, rows};
}

// Shorter ones wait for the host there.
std::vector<MeasuredKernel> large_products(const HardwareProfile& card) {
  std::vector<MeasuredKernel> large;
  for (const MeasuredKernel& kernel : card.measured)
    if (kernel.kernel <= Kernel::LinearWeightGradient && kernel.precision == Precision::Bf16 && kernel.time.count() > 100e-6)
      large.push_back(kernel);
  return large;
}

// PyTorch 2.11 with CUDA 13.
TEST(NewerLibraries, LargeProductsTakeWhatTheyTookOnACard) {
  const Device h200 = load_device("h200-141gb-sxm");
  SoftwareStack stack;
  stack.newer_libraries = true;
  KernelSetting setting;
  setting.format = NumberFormat::Bf16;
  const std::vector<MeasuredKernel> products = large_products(load_hardware_profile("profiles/measured/h200-141gb-sxm.json"));
  double bias = 0, error = 0;
  for (const MeasuredKernel& kernel : products) {
    const double apart = std::log(KernelClock(h200, stack, setting).product(product_of(kernel)).device / kernel.time.count());
    bias += apart / static_cast<double>(products.size());
    error += std::abs(apart) / static_cast<double>(products.size());
  }
  EXPECT_GT(products.size(), 100U);
  EXPECT_NEAR(bias, 0, 0.02);
  EXPECT_LT(error, 0.1);
}

// AMD's parts are held back by power. MI350X: products of 16,384 cubed for 25 s. MI325X and MI300X have the same units with 1,000 and 750 W: AMD's rates of
// 843 and 708 TFLOP/s in 16 bit, 1,519 and 1,273 in 8 bit. MI355X has those of MI350X with 1,400 W.
TEST_F(Clock, ProductsOfAmdsPartsReachTheRatesOfTheirPower) {
  constexpr double kSide = 16384;
  const auto teraflops = [&](const char* part, NumberFormat format) {
    setting_.format = format;
    return 2e-12 * kSide * kSide * kSide /
           KernelClock(load_device(part), plain_stack(), setting_).product({kSide, kSide, kSide, 1, 0, 0}).device;
  };
  EXPECT_NEAR(teraflops("mi350x-288gb", NumberFormat::Bf16), 1146, 35);
  EXPECT_NEAR(teraflops("mi350x-288gb", NumberFormat::Fp8), 2100, 65);
  const auto gain = [&](const char* part, const char* weaker, NumberFormat format) {
    return teraflops(part, format) / teraflops(weaker, format);
  };
  EXPECT_NEAR(gain("mi325x-256gb", "mi300x-192gb", NumberFormat::Bf16), 843.0 / 708, 0.02);
  EXPECT_NEAR(gain("mi325x-256gb", "mi300x-192gb", NumberFormat::Fp8), 1519.0 / 1273, 0.02);
  const double power = std::pow(1.4, std::log(843.0 / 708) / std::log(1000.0 / 750));
  for (const NumberFormat format : {NumberFormat::Bf16, NumberFormat::Fp8})
    EXPECT_NEAR(gain("mi355x-288gb", "mi350x-288gb", format), power, 0.03);
}

// Of Llama 8B with 32,768 tokens, by AITER in MXFP4 on a MI355X: forward products of queries, keys and values, behind attention, of both layers of the
// feed-forward, and an input's gradient (AMD-AGI/Primus-Turbo, pull request 514). Training runs reach 0.93, as above.
TEST_F(Clock, ProductsInFourBitOfAMi355xReachWhatItsLibraryReached) {
  const Device part = load_device("mi355x-288gb");
  constexpr double kTokens = 32768,
                   kProducts[][3] = {{6144, 4096, 4454}, {4096, 4096, 4495}, {28672, 4096, 4490}, {4096, 14336, 5254}, {4096, 6144, 4696}};
  setting_.format = NumberFormat::Fp4;
  setting_.scales = ScaleRecipe::Nvfp4;
  const KernelClock clock(part, plain_stack(), setting_);
  double measured = 0, priced = 0;
  for (const auto& [outputs, inputs, teraflops] : kProducts) {
    measured += 2 * kTokens * outputs * inputs / (teraflops * 1e12);
    priced += clock.product({kTokens, outputs, inputs, 1, 0, 0}).device;
  }
  EXPECT_NEAR(priced, measured / 0.93, 0.03 * priced);
}

// TransformerEngine's benchmark on a B300 (docs/examples/gemm_profiling), operands cast before: the twelve products of a block of 5B with 15,872 tokens take
// 6.812 ms with one scale a tensor, 7.161 ms with one each 32. Training runs reach 0.93 of it.
TEST_F(Clock, ProductsInEightBitReachThePublishedRateOfTheirScales) {
  const Device b300 = load_device("b300-288gb-sxm");
  constexpr double kTokens = 15872, kMatrices[][2] = {{12288, 4096}, {4096, 4096}, {16384, 4096}, {4096, 16384}};
  setting_.format = NumberFormat::Fp8;
  const auto milliseconds = [&](ScaleRecipe scales) {
    setting_.scales = scales;
    const KernelClock clock(b300, plain_stack(), setting_);
    double seconds = 0;
    for (const auto& [outputs, inputs] : kMatrices)
      for (const MatrixShape& one :
           {MatrixShape{kTokens, outputs, inputs, 1, 0, 0}, {kTokens, inputs, outputs, 1, 0, 0}, {outputs, inputs, kTokens, 1, 0, 0}})
        seconds += clock.product(one).device;
    return 1e3 * seconds;
  };
  EXPECT_NEAR(milliseconds(ScaleRecipe::Tensorwise), 6.812 / 0.93, 0.2);
  EXPECT_NEAR(milliseconds(ScaleRecipe::Mx), 7.161 / 0.93, 0.2);
}

TEST_F(Clock, RowsThatBeginAnywhereAreSlow) {
  const KernelClock half = clock(NumberFormat::Bf16);
  EXPECT_GT(half.product({4096, 1800, 4096}).device, 1.2 * half.product({4096, 1792, 4096}).device);
  EXPECT_GT(half.product({4096, 1801, 4096}).device, half.product({4096, 1800, 4096}).device);
}

TEST_F(Clock, ProductsOfExpertsReachTheRateOfOne) {
  const KernelClock half = clock(NumberFormat::Bf16);
  const MatrixShape one{8 * 4096, 4096, 2048}, eight{4096, 4096, 2048, 8};
  EXPECT_NEAR(half.grouped(eight, ExpertDispatch::Padded).device / half.product(one).device, 1, 0.05);
  const Work one_by_one = half.grouped(eight, ExpertDispatch::Dropless);
  EXPECT_EQ(one_by_one.device, half.grouped(eight, ExpertDispatch::Padded).device);
  EXPECT_EQ(one_by_one.kernels, 8 * plain_stack().launches_per_expert);
  EXPECT_EQ(one_by_one.uncaptured, one_by_one.kernels) << "a graph of a block cannot hold them";
}

// TransformerEngine casts expert by expert, but for scales that it knows from steps before.
TEST_F(Clock, CastsOfExpertsAreCallsByTheirScales) {
  const MatrixShape eight{4096, 4096, 2048, 8};
  const auto launches = [&](ScaleRecipe recipe, double operands) {
    setting_.scales = recipe;
    return clock(NumberFormat::Fp8).grouped(eight, ExpertDispatch::Dropless, operands).kernels;
  };
  const double products = 8 * plain_stack().launches_per_expert;
  EXPECT_EQ(launches(ScaleRecipe::Delayed, 2), products);
  EXPECT_EQ(launches(ScaleRecipe::Mx, 2), products + 8 * 2);
  EXPECT_EQ(launches(ScaleRecipe::Tensorwise, 2), products + 8 * 2 * common_behavior().cast_launches);
  EXPECT_EQ(launches(ScaleRecipe::Tensorwise, 0), products) << "a weight's gradient reads what was cast";
}

// An operand that lies across what a sum goes over has its largest numbers down its columns, and is written turned. A compiler was asked how long that takes.
TEST_F(Clock, ScalesOfRowsCostMoreOfOperandsThatLieAcross) {
  setting_.scales = ScaleRecipe::Rowwise;
  const MatrixShape along{4096, 8192, 2048};
  MatrixShape across = along;
  across.columns_across = true;
  for (const char* part : {"h100-96gb-hbm2e", "b200-180gb-sxm"})
    for (const bool compiled : {false, true}) {
      const Device device = load_device(part);
      setting_.compiled = compiled;
      setting_.format = NumberFormat::Fp8;
      const KernelClock clock(device, plain_stack(), setting_);
      const double turned = 1 / (device.kernels.multiprocessors * common_behavior().turned_casts),
                   straight = common_behavior().rowwise_cast_bytes / clock.stream_rate();
      EXPECT_GT(turned, 2 * straight) << part;
      EXPECT_NEAR(clock.product(across).device - clock.product(along).device, (turned - straight) * 8192 * 2048, 1e-9) << part;
    }
  setting_.scales = ScaleRecipe::Tensorwise;
  const KernelClock whole = clock(NumberFormat::Fp8);
  EXPECT_EQ(whole.product(across).device, whole.product(along).device) << "a scale a tensor is the same either way";
}

TEST_F(Clock, ProductsWithScalesOfRowsReachTheShareOfTheirPart) {
  const MatrixShape cast{.rows = 16384, .columns = 8192, .inner = 8192, .weight_casts = 0, .row_casts = 0};
  setting_.format = NumberFormat::Fp8;
  for (const char* part : {"b200-180gb-sxm", "h100-80gb-sxm", "mi300x-192gb"}) {
    const Device device = load_device(part);
    const auto time = [&](ScaleRecipe recipe) {
      setting_.scales = recipe;
      return KernelClock(device, plain_stack(), setting_).product(cast).device;
    };
    EXPECT_NEAR(time(ScaleRecipe::Tensorwise) / time(ScaleRecipe::Rowwise), device.kernels.rowwise_share, 0.02) << part;
  }
}

// torch._scaled_mm with scales of rows on B200 (github.com/pytorch/helion/pull/2430), taken as ones whose power is capped.
TEST_F(Clock, ProductsWithScalesOfRowsTakeTheTimePublished) {
  const Device b200 = load_device("b200-180gb-sxm-750w");
  setting_.format = NumberFormat::Fp8;
  setting_.scales = ScaleRecipe::Rowwise;
  const KernelClock clock(b200, plain_stack(), setting_);
  const auto milliseconds = [&](double rows) {
    return 1e3 * clock.product({.rows = rows, .columns = 8192, .inner = 8192, .weight_casts = 0, .row_casts = 0}).device;
  };
  EXPECT_NEAR(milliseconds(8192) / 0.672, 1, 0.06);
  EXPECT_NEAR(milliseconds(16384) / 1.366, 1, 0.06);
}

TEST_F(Clock, SmallBatchesAreBoundByTheirWeights) {
  const KernelClock half = clock(NumberFormat::Bf16);
  EXPECT_NEAR(half.product({8, 4096, 4096}).device, half.product({16, 4096, 4096}).device, 2e-6);
}

// Forward of flash-linear-attention's gated delta rule on a B200 (github.com/flashinfer-ai/flashinfer/pull/2742): samples, tokens, heads of 128.
TEST_F(Clock, ScansTakeTheTimePublished) {
  struct Published {
    std::int64_t samples, tokens, heads;
    double milliseconds;
  };
  constexpr Published kPublished[] = {{1, 4096, 96, 0.7741}, {1, 8192, 96, 1.4919}, {9, 512, 32, 0.3030}, {9, 1024, 32, 0.5529}};
  const Device b200 = load_device("b200-180gb-sxm");
  setting_.format = NumberFormat::Bf16;
  const KernelClock clock(b200, plain_stack(), setting_);
  for (const Published& one : kPublished) {
    const Scan scan{LinearRule::GatedDelta, one.samples * one.tokens, one.heads, one.heads, 128, 128, 64};
    EXPECT_NEAR(clock.scan(scan, false).device * 1e3 / one.milliseconds, 1, 0.1) << one.samples << " x " << one.tokens;
    EXPECT_NEAR(clock.scan(scan, true).device / clock.scan(scan, false).device, 2.6, 0.3);
  }
}

// Backward of cuDNN's sparse attention (github.com/NVIDIA/cudnn-frontend, benchmark of DSA), 64 heads.
TEST_F(Clock, AttentionToChosenTokensTakesTheTimePublished) {
  struct Published {
    const char* device;
    std::int64_t tokens, key, chosen;
    double milliseconds;
  };
  constexpr Published kPublished[] = {{"b300-288gb-sxm", 4096, 576, 2048, 5.214},   {"b300-288gb-sxm", 8192, 576, 2048, 10.312},
                                      {"b300-288gb-sxm", 16384, 576, 2048, 20.620}, {"b200-180gb-sxm", 8192, 512, 2048, 8.562},
                                      {"b200-180gb-sxm", 8192, 512, 1024, 4.538},   {"b200-180gb-sxm", 8192, 512, 512, 2.489}};
  setting_.format = NumberFormat::Bf16;
  for (const Published& one : kPublished) {
    const Device device = load_device(one.device);
    const KernelClock clock(device, plain_stack(), setting_);
    // Every query there has all its tokens: as many queries of a long sample.
    const SparseAttention shape{.samples = 1, .heads = 64, .sequence = one.tokens, .key = one.key, .value = 512, .topk = one.chosen};
    const double all = static_cast<double>(one.tokens * one.chosen) / chosen_pairs({one.tokens, one.chosen});
    const double width = one.key == 512 ? 1.15 : 1;  // aligned keys are faster by it
    EXPECT_NEAR(clock.sparse(shape, true).device * all * 1e3 / width / one.milliseconds, 1, 0.06)
        << one.device << " " << one.tokens << " " << one.chosen;
  }
}

// A narrow state is lost in what else is read and written; a wide one is all.
TEST_F(Clock, ScansOfWideStatesMoveThem) {
  const KernelClock half = clock(NumberFormat::Bf16);
  const auto time = [&](std::int64_t state) { return half.scan({LinearRule::StateSpace, 65536, 64, 64, state, 64, 256}, false).device; };
  EXPECT_LT(time(32), 1.3 * time(16));
  EXPECT_GT(time(8192), 1.9 * time(4096));
}

TEST_F(Clock, FlashBeatsWrittenScores) {
  const AttentionShape shape{.batch = 2, .heads = 16, .queries = 4096, .keys = 2048};
  const AttentionShape written{.batch = 2, .heads = 16, .queries = 4096, .keys = 4096};
  for (const bool backward : {false, true}) {
    const double flash = clock(NumberFormat::Bf16).flash(shape, backward).device;
    const double fused = clock(NumberFormat::Bf16, AttentionKernel::FusedSoftmax).unfused(written, backward).device;
    const double unfused = clock(NumberFormat::Bf16, AttentionKernel::Unfused).unfused(written, backward).device;
    EXPECT_LT(flash, fused);
    EXPECT_LT(fused, unfused);
  }
}

TEST_F(Clock, AWideSoftmaxTakesMoreOfSixteenBit) {
  SoftwareStack wide = plain_stack();
  wide.wide_softmax = true;
  const AttentionShape written{.batch = 2, .heads = 16, .queries = 4096, .keys = 4096};
  const double scores = 2.0 * 16 * 4096 * 4096;
  for (const NumberFormat format : {NumberFormat::Bf16, NumberFormat::Fp32}) {
    const KernelClock usual = clock(format, AttentionKernel::Unfused), other(a100(), wide, setting_);
    const auto more = [&](bool backward) { return other.unfused(written, backward).device - usual.unfused(written, backward).device; };
    const double passes = format == NumberFormat::Bf16 ? scores / usual.stream_rate() : 0;
    EXPECT_NEAR(more(false), 7 * passes, 1e-9);
    EXPECT_NEAR(more(true), 6 * passes, 1e-9);
  }
}

// Four blocks of a ring: three partial results are added to the first, 10 bytes an element; a longer block has more work for each of its rows.
TEST_F(Clock, PartialResultsOfARingAreAddedUp) {
  const KernelClock half = clock(NumberFormat::Bf16);
  const auto added = [&](double rows) {
    const AttentionShape whole{.batch = 1, .heads = 8, .kv_heads = 8, .queries = rows, .keys = 2 * rows};
    AttentionShape ring = whole;
    ring.merged = 3 * rows;
    EXPECT_GT(half.flash(ring, true).device, half.flash(whole, true).device);
    EXPECT_NEAR(half.flash(ring, false).device - half.flash(whole, false).device, half.bytes(3 * rows * 8 * 128 * 10).device, 1e-12);
    return half.flash(ring, false).device / half.flash(whole, false).device;
  };
  EXPECT_LT(added(65536), 1.02);
  EXPECT_GT(added(1024), added(65536));
}

// Causal, heads of 64 over heads of 128 at equal width, 16,384 tokens (figures of FlashAttention-2 and -3): 473 and 616, 284 and 328, 171 and 189 TFLOP/s.
TEST_F(Clock, NarrowHeadsWaitForExponentials) {
  const auto ratio = [](const Device& part, AttentionKernel kernel, double tokens) {
    const KernelSetting setting{.attention = kernel};
    const SoftwareStack stack = plain_stack();
    const KernelClock clock(part, stack, setting);
    const auto time = [&](double dim) {
      const AttentionShape shape{
          .heads = 2048 / dim, .kv_heads = 2048 / dim, .queries = tokens, .keys = tokens / 2, .key_dim = dim, .value_dim = dim};
      return clock.flash(shape, false).device;
    };
    EXPECT_EQ(time(256), time(128)) << "wider ones have fewer, which nobody waits for";
    return time(128) / time(64);
  };
  const Device h100 = load_device("h100-80gb-sxm"), a100 = load_device("a100-80gb-sxm");
  EXPECT_NEAR(ratio(h100, AttentionKernel::Flash3, 16384), 473.0 / 616, 0.03);
  EXPECT_NEAR(ratio(h100, AttentionKernel::Flash2, 16384), 284.0 / 328, 0.03);
  EXPECT_NEAR(ratio(a100, AttentionKernel::Flash2, 16384), 171.0 / 189, 0.03);
}

// The kernel's authors on an A100, heads of 128, nothing masked (xformers, pull requests 389 and 557): 160 heads of 8,096 tokens forward in 49.8 ms, of 4,096
// backward in 56.5; 320 in 93.6.
TEST_F(Clock, EfficientAttentionTakesWhatItTookOnACard) {
  const KernelClock efficient = clock(NumberFormat::Fp16, AttentionKernel::Efficient);
  const auto milliseconds = [&](double heads, double tokens, bool backward) {
    return 1e3 * efficient.flash({.heads = heads, .queries = tokens, .keys = tokens, .causal = false}, backward).device;
  };
  EXPECT_NEAR(milliseconds(160, 8096, false) / 49.8, 1, 0.2);
  EXPECT_NEAR(milliseconds(160, 4096, true) / 56.5, 1, 0.2);
  EXPECT_NEAR(milliseconds(320, 4096, true) / 93.6, 1, 0.2);
  EXPECT_NEAR((milliseconds(160, 8096, false) + milliseconds(160, 8096, true)) / (49.8 + 4 * 50.4), 1, 0.1)
      << "both passes, the backward's in the mean";
}

TEST_F(Clock, NewerLibrariesAreFaster) {
  SoftwareStack older = plain_stack();
  older.attention_gain = 0.5;
  const AttentionShape shape{.batch = 8, .heads = 16, .kv_heads = 16, .queries = 8192, .keys = 4096};
  const KernelSetting setting{.attention = AttentionKernel::Flash2};
  EXPECT_NEAR(KernelClock(a100(), older, setting).flash(shape, false).device / clock(NumberFormat::Bf16).flash(shape, false).device, 2,
              0.01);
}

TEST_F(Clock, FirstFlashIsSlower) {
  const AttentionShape shape{.batch = 2, .heads = 16, .queries = 4096, .keys = 2048};
  EXPECT_GT(clock(NumberFormat::Bf16, AttentionKernel::Flash1).flash(shape, false).device,
            1.5 * clock(NumberFormat::Bf16).flash(shape, false).device);
}

// A number of a state is computed by itself: four times as many take four times as long (github.com/alxndrTL/mamba.py, issue 8).
TEST_F(Clock, SelectiveScansTakeAsLongAsTheyHaveStates) {
  const KernelClock half = clock(NumberFormat::Bf16);
  const auto time = [&](std::int64_t state, bool backward) {
    return half.scan({LinearRule::Selective, 32768, 4096, 4096, state, 1, 2048}, backward).device;
  };
  EXPECT_NEAR(time(64, false) / time(16, false), 4, 0.1);
  EXPECT_NEAR(time(16, true) / time(16, false), 2.5, 0.1);
  EXPECT_LT(time(64, false), 4 * time(1, false) * 64) << "a lone state waits for memory";
}

}  // namespace
}  // namespace sim
