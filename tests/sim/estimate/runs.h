// Small runs for the tests of the step estimate.
#pragma once

#include "sim/estimate/step_estimate.h"
#include "tests/sim/clock/devices.h"

namespace sim {

inline RunDescription gpt_run() {
  RunDescription run;
  Network& net = run.network;
  net.layers = 8;
  net.hidden = 2048;
  net.heads = net.kv_heads = 16;
  net.head_dim = 128;
  net.ffn = 8192;
  net.vocabulary = 51200;
  net.sequence = 2048;
  net.effective_sequence = 2048;
  run.machine = {a100_machine(), "a100-80gb-sxm"};
  run.layout = {.data = 8, .zero_group = 8, .micro_batch = 2, .global_batch = 64, .microbatches = 4, .balance = {}};
  return run;
}

inline Setting plain_setting() { return {a100(), plain_stack()}; }

inline double step_seconds(const RunDescription& run) { return estimate_step(run, plain_setting()).time.count(); }

}  // namespace sim
