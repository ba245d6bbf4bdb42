// Small runs for the tests of the step estimate.
#pragma once

#include "sim/estimate/step_estimate.h"

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
  run.machine = {.part = "a100-80gb-sxm", .gpus = 8, .gpus_per_node = 8, .link_gbytes = 600, .network_gbits = 1600};
  run.layout = {.data = 8, .zero_group = 8, .micro_batch = 2, .global_batch = 64, .microbatches = 4, .balance = {}};
  return run;
}

inline const Device& a100() {
  static const Device device = load_device("a100-80gb-sxm");
  return device;
}

inline Setting plain_setting() {
  static const SoftwareCatalog catalog = load_software_catalog();
  return {a100(), catalog.named("plain")};
}

inline double step_seconds(const RunDescription& run) { return estimate_step(run, plain_setting()).time.count(); }

}  // namespace sim
