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

}  // namespace
}  // namespace sim
