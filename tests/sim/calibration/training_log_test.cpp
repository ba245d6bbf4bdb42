#include "sim/calibration/training_log.h"

#include <gmock/gmock.h>

#include "sim/units/input_error.h"
#include "tests/sim/calibration/made_plans.h"

namespace sim {
namespace {

TrainingLog log_of(const std::string& text) { return read_training_log(text, "train.log", row_plan(2)); }  // 64 x 2048 tokens on 8 devices

std::string repeated(const std::string& line, const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += std::string(line).replace(line.find('@'), 1, value) + "\n";
  return text;
}

TEST(TrainingLog, Megatron) {
  const TrainingLog log = log_of(
      "  tensor_model_parallel_size ...................... 1\n"
      "[Rank 0] (after 10 iterations) memory (MB) | allocated: 8120.5 | max allocated: 20480.0 | reserved: 30000.0 | max reserved: "
      "32768.0\n" +
      repeated(
          " iteration       10/    1000 | consumed samples:          640 | elapsed time per iteration (ms): @ | learning rate: 1.3E-04 | "
          "global batch size:    64 | lm loss: 7.399415E+00 | loss scale: 1.0 |",
          {"9000.1", "2010.0", "2000.0", "1990.0", "2004.0"}));
  EXPECT_EQ(log.program, "Megatron-LM");
  EXPECT_NEAR(log.median.count(), 2.002, 1e-9);
  EXPECT_EQ(log.warm_up, 1);
  EXPECT_LT(log.spread, 0.01);
  EXPECT_EQ(log.memory, Bytes(std::int64_t{32} << 30));
  EXPECT_EQ(log.settings.size(), 2u);
}

TEST(TrainingLog, NemoInABarAndInALine) {
  const std::vector<std::string> values{"12.1", "3.130", "3.120", "3.140"};
  const std::string bar =
      "Epoch 0: : 100%|##| 100/100 [10:48<00:00, reduced_train_loss=0.0172, global_step=99.00, train_step_timing in s=@]";
  const std::string line =
      "Training epoch 0, iteration 1/249 | lr: 3.9e-06 | global_batch_size: 64 | global_step: 1 | train_step_timing in s: @";
  for (const std::string& form : {bar, line}) {
    EXPECT_EQ(log_of(repeated(form, values)).program, "NeMo");
    EXPECT_NEAR(log_of(repeated(form, values)).median.count(), 3.13, 1e-9);
  }
}

TEST(TrainingLog, DeepSpeed) {
  const TrainingLog log =
      log_of(repeated("[2023-11-07 01:55:23,714] [INFO] [timer.py:260:stop] epoch=0/micro_step=40/global_step=10, "
                      "RunningAvgSamplesPerSec=25.02, CurrSamplesPerSec=@, MemAllocated=4.32GB, MaxMemAllocated=38.5GB",
                      {"10.0", "32.0", "32.0", "32.0"}));
  EXPECT_EQ(log.program, "DeepSpeed");
  EXPECT_NEAR(log.median.count(), 2.0, 1e-9);
  EXPECT_NEAR(static_cast<double>(log.memory->value()), 38.5 * (1 << 30), 1e3);
}

TEST(TrainingLog, Torchtitan) {
  const TrainingLog log =
      log_of(repeated("[titan] - root - INFO - \x1b[31mstep: 10  \x1b[32mloss:  7.9  \x1b[33mmemory: 33.05GiB(34.81%)  \x1b[34mtps: @  "
                      "\x1b[36mtflops: 100.1  \x1b[35mmfu: 42.22%\x1b[39m",
                      {"1,024", "8,192", "8,192", "8,192"}));
  EXPECT_EQ(log.program, "torchtitan");
  EXPECT_NEAR(log.median.count(), 64 * 2048 / (8192.0 * 8), 1e-9);
  EXPECT_NEAR(static_cast<double>(log.memory->value()), 33.05 * (1 << 30), 1e3);
}

TEST(TrainingLog, NanotronWithItsShortNumbers) {
  const TrainingLog log =
      log_of(repeated("[default0]:12/14/2024 [INFO|DP=8|PP=0|TP=0|ip-1]: iteration: 3 / 10 | consumed_tokens: 3.15M | "
                      "elapsed_time_per_iteration_ms: @ | tokens_per_sec: 65.5K | tokens_per_sec_per_gpu: 8.19K | "
                      "global_batch_size: 64 | lm_loss: 11.2 | lr: 0.0003",
                      {"5.1K", "2.3K", "2.31K", "2.29K"}));
  EXPECT_EQ(log.program, "nanotron");
  EXPECT_NEAR(log.median.count(), 2.3, 1e-9);
}

TEST(TrainingLog, AccelerateByItsBarOrByItsLastLine) {
  EXPECT_NEAR(
      log_of(" 10%|#| 6/60 [00:09<00:58,  1.19s/it]\r 12%|#| 7/60 [00:10<00:58,  1.21s/it]\r100%|#| 60/60 [01:11<00:00,  1.20s/it]\n")
          .median.count(),
      1.205, 1e-9);
  const TrainingLog log =
      log_of("{'train_runtime': 71.5487, 'train_samples_per_second': 6.709, 'train_steps_per_second': 0.5, 'train_loss': 0.76}");
  EXPECT_EQ(log.program, "Accelerate");
  EXPECT_NEAR(log.median.count(), 2, 1e-9);
}

TEST(TrainingLog, ALogOfAnotherPlanIsRefused) {
  EXPECT_THAT([] { log_of("  tensor_model_parallel_size ...... 4\n  num_layers ...... 12\n | elapsed time per iteration (ms): 430.0 |"); },
              ::testing::ThrowsMessage<InputError>(
                  ::testing::AllOf(::testing::HasSubstr("is 4 in the log and 1 in the plan"), ::testing::HasSubstr("num_layers"))));
}

TEST(TrainingLog, WhatIsNoLogIsSaidToBeNone) {
  for (const char* text :
       {"", "hello", " elapsed time per iteration (ms): nan", " tps: ", "elapsed time per iteration (ms): 0.0", "\x1b[", "s/it %"})
    EXPECT_THROW(log_of(text), InputError) << text;
}

TEST(TrainingLog, SlowFirstStepsAreWarmUpAndNeverMoreThanHalf) {
  const auto warm_up = [](const std::vector<std::string>& values) {
    return log_of(repeated("| elapsed time per iteration (ms): @ |", values)).warm_up;
  };
  EXPECT_EQ(warm_up({"90", "50", "20", "20", "20", "20"}), 2);
  EXPECT_EQ(warm_up({"20", "20", "20", "20"}), 1);
  EXPECT_EQ(warm_up({"20"}), 0);
}

}  // namespace
}  // namespace sim
