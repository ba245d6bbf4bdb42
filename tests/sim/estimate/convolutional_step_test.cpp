#include <gmock/gmock.h>

#include "sim/estimate/convolutional_step.h"
#include "tests/sim/estimate/runs.h"

namespace sim {
namespace {

RunDescription resnet() {
  RunDescription run = gpt_run();
  run.network = {.kind = NetworkKind::Convolutional, .architecture = "resnet50", .attention = {}, .experts = {}, .low_rank = {}};
  run.execution.format = NumberFormat::Fp16;
  run.layout.micro_batch = 256;
  run.layout.microbatches = 1;
  return run;
}

TEST(ConvolutionalStep, HalfPrecisionIsFaster) {
  RunDescription single = resnet();
  single.execution.format = NumberFormat::Fp32;
  EXPECT_GT(step_seconds(single), 2 * step_seconds(resnet()));
}

TEST(ConvolutionalStep, ChannelsLastSavesTheRepacking) {
  RunDescription last = resnet();
  last.execution.channels_last = true;
  EXPECT_LT(step_seconds(last), step_seconds(resnet()));
}

TEST(ConvolutionalStep, MemoryGrowsWithTheBatch) {
  RunDescription large = resnet();
  large.layout.micro_batch = 512;
  EXPECT_GT(convolutional_memory_gib(large, plain_setting()), convolutional_memory_gib(resnet(), plain_setting()) + 4);
}

// torchgpipe, benchmarks/unet-memory and amoebanetd-memory: GiB that the allocator took on one GPU.
TEST(ConvolutionalStep, MemoryIsAsTorchgpipePublished) {
  RunDescription run = resnet();
  run.execution.format = NumberFormat::Fp32;
  const auto gib = [&] { return convolutional_memory_gib(run, {a100(), load_software("torchgpipe")}); };
  run.network.architecture = "unet:6,72";
  run.network.image = 192;
  run.execution.optimizer = OptimizerKind::Sgd;
  run.layout.micro_batch = 32;
  EXPECT_NEAR(gib() / 20.3, 1, 0.04);
  run.network.architecture = "unet:11,128";
  run.layout.micro_batch = 1;
  run.layout.microbatches = 32;
  run.execution.recompute = RecomputeKind::Full;
  run.execution.recompute_keeps_last = true;
  EXPECT_NEAR(gib() / 20.5, 1, 0.08);
  run.network.architecture = "amoebanet-d:18,416";
  run.network.image = 224;
  run.execution.optimizer = OptimizerKind::RmsProp;
  run.layout.microbatches = 128;
  EXPECT_NEAR(gib() / (3.57 + 0.91), 1, 0.04);
}

TEST(ConvolutionalStep, StatesAreThoseOfTheOptimizer) {
  RunDescription run = resnet();
  const auto gib = [&](OptimizerKind optimizer) {
    run.execution.optimizer = optimizer;
    return convolutional_memory_gib(run, plain_setting());
  };
  const double parameters = 25.5e6 / 1073741824;
  EXPECT_NEAR(gib(OptimizerKind::AdamW) - gib(OptimizerKind::Sgd), 4 * parameters, 0.2 * parameters);
  EXPECT_NEAR(gib(OptimizerKind::RmsProp) - gib(OptimizerKind::Sgd), 8 * parameters, 0.2 * parameters);
}

RunDescription pipelined(std::vector<std::int64_t> balance) {
  RunDescription run = resnet();
  run.network.architecture = "resnet101";
  run.execution.format = NumberFormat::Fp32;
  run.machine = {{.gpus = 4, .gpus_per_node = 4}, "p40-24gb"};
  run.layout = {.data = 1,
                .pipeline = 4,
                .micro_batch = 22,
                .global_batch = 704,
                .microbatches = 32,
                .schedule = "gpipe",
                .cut = CutKind::Balance,
                .balance = std::move(balance)};
  run.execution.recompute = RecomputeKind::Full;
  return run;
}

TEST(ConvolutionalStep, TheStatedBalanceCounts) {
  EXPECT_LT(step_seconds(pipelined({44, 92, 124, 110})), step_seconds(pipelined({10, 20, 40, 300})));
  EXPECT_LT(step_seconds(pipelined({44, 92, 124, 110})), 1.3 * step_seconds(pipelined({})));
}

TEST(ConvolutionalStep, ALastMicrobatchThatIsKeptSavesItsRecomputation) {
  RunDescription kept = pipelined({44, 92, 124, 110});
  kept.execution.recompute_keeps_last = true;
  EXPECT_LT(step_seconds(kept), step_seconds(pipelined({44, 92, 124, 110})));
}

TEST(ConvolutionalStep, ACompilerFusesWhatIsPointwise) {
  SoftwareStack stack = plain_setting().stack;
  const RunDescription run = resnet();
  const double apart = estimate_step(run, {a100(), stack}).time.count();
  stack.compiled = true;
  EXPECT_LT(estimate_step(run, {a100(), stack}).time.count(), 0.95 * apart);
}

TEST(ConvolutionalStep, AHostThatDecodesImagesIsWaitedFor) {
  SoftwareStack slow = plain_setting().stack;
  slow.images_per_worker = 10;
  const double images = 256.0 / (10 * a100().kernels.loader_workers);
  RunDescription run = resnet();
  run.layout.global_batch = 8 * 256;
  EXPECT_NEAR(estimate_step(run, {a100(), slow}).time.count(), images, 1e-6);
}

}  // namespace
}  // namespace sim
