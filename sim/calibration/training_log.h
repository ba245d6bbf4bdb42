// The steps that a training program's log tells of, by the lines that such programs print. Warm-up is left out; the median and the spread are kept.
//
//   Megatron-LM   "... | elapsed time per iteration (ms): 430.0 | ... global batch size:     4 | ..."        pretrain's training_log
//   NeMo          "... train_step_timing in s=3.130" of a progress bar, "train_step_timing in s: 7.126" of a line
//   DeepSpeed     "... RunningAvgSamplesPerSec=232.7, CurrSamplesPerSec=227.4, MemAllocated=0.36GB, MaxMemAllocated=15.06GB"
//   nanotron      "... | elapsed_time_per_iteration_ms: 2.3K | ... | global_batch_size: 256 | ..."
//   torchtitan    "... memory: 33.05GiB(34.81%)  tps: 3,456 ...", tokens a second and device; "wps" in older ones
//   Accelerate    the Trainer's bar, "[01:11<00:00,  1.19s/it]", or its last line, "'train_steps_per_second': 0.839"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan/parallel_plan.h"

namespace sim {

struct LoggedSetting {
  std::string name;  // as the program prints it: "tensor_model_parallel_size"
  std::int64_t value = 0;
};

struct TrainingLog {
  std::string program;
  std::vector<Seconds> steps;  // after warm-up
  std::int64_t warm_up = 0;    // reported steps that were left out
  Seconds median{};
  double spread = 0;                    // standard deviation of a step, relative, by the median of what it is off
  std::optional<Bytes> memory;          // the largest peak that is told of
  std::vector<LoggedSetting> settings;  // what it prints of its configuration
};

// The plan says how many samples, tokens and devices a step has, where the log tells rates. Throws InputError: no line of a known program; settings that
// contradict the plan, all at once.
TrainingLog read_training_log(std::string_view text, const std::string& file, const ParallelPlan& plan);

}  // namespace sim
