// Small plans for tests of every room: a GPT-2 of four blocks on a CPU machine, with one field after another changed by the test.
#pragma once

#include "sim/plan/parallel_plan.h"

namespace sim::testing {

inline ModelConfig tiny_gpt2() {
  ModelConfig config;
  config.model_type = "gpt2";
  config.layers = 4;
  config.hidden = 64;
  config.heads = config.kv_heads = 4;
  config.head_dim = 16;
  config.ffn = 256;
  config.vocabulary = 250;
  config.max_positions = 64;
  config.attention_bias = config.projection_bias = config.mlp_bias = true;
  config.tied_embeddings = true;
  return config;
}

inline ModelConfig tiny_llama() {
  ModelConfig config = tiny_gpt2();
  config.model_type = "llama";
  config.kv_heads = 2;
  config.ffn = 160;
  config.norm = Norm::RmsNorm;
  config.position = Position::Rotary;
  config.activation = Activation::Silu;
  config.gated_mlp = true;
  config.attention_bias = config.projection_bias = config.mlp_bias = false;
  config.tied_embeddings = false;
  return config;
}

inline HardwareProfile two_core_machine() {
  HardwareProfile hardware;
  hardware.name = "test-machine";
  hardware.kind = DeviceKind::Cpu;
  hardware.source = "invented for tests";
  hardware.date = "2026-01-01";
  hardware.memory = Bytes(std::int64_t{8} << 30);
  hardware.memory_bandwidth = BytesPerSecond(10e9);
  hardware.peak = {FlopsPerSecond(25e9), FlopsPerSecond(50e9), FlopsPerSecond(0), FlopsPerSecond(0), FlopsPerSecond(0)};
  hardware.kernel_overhead = Seconds(2e-6);
  hardware.devices_per_node = 64;
  hardware.cores_per_node = 2;
  hardware.overlaps_communication = false;
  hardware.intra_node = {.type = "shared memory", .latency = Seconds(5e-6), .bandwidth = BytesPerSecond(4e9)};
  hardware.inter_node = hardware.intra_node;
  return hardware;
}

// A plan on data x pipeline x tensor ranks of that machine: 8 samples of 32 tokens, microbatches of one sample.
inline ParallelPlan tiny_plan(DeviceMesh mesh = {}) {
  ParallelPlan plan;
  plan.model = tiny_gpt2();
  plan.cluster = {.hardware = two_core_machine(), .devices = mesh.ranks()};
  plan.workload = {.sequence = 32, .global_batch = 8};
  plan.mesh = mesh;
  plan.cut = even_cut(plan.model.layers, {.stages = mesh.pipeline, .microbatches = 1, .chunks = 1});
  return plan;
}

inline SamplesPolicy samples_of(std::string_view text) {
  std::vector<Violation> wrong;
  return parse_samples_policy(text, wrong);
}

inline ParallelPlan interleaved_plan(DeviceMesh mesh, std::int32_t chunks) {
  ParallelPlan plan = tiny_plan(mesh);
  plan.schedule = "interleaved";
  plan.chunks = chunks;
  plan.cut = even_cut(plan.model.layers, {.stages = mesh.pipeline, .microbatches = 1, .chunks = chunks});
  return plan;
}

// Four blocks, what predicts further tokens apart from the head, each of them alone on one of the last two stages.
inline ParallelPlan plan_with_predictions_apart(DeviceMesh mesh, std::int64_t depths) {
  ParallelPlan plan = tiny_plan(mesh);
  plan.model = tiny_llama();
  plan.model.mtp_layers = depths;
  plan.model.mtp_apart = true;
  plan.cut = even_cut(plan.model.layers, {.stages = mesh.pipeline - 2, .microbatches = 1, .chunks = 1});
  plan.cut.first.push_back(plan.predicting());
  plan.cut.first.push_back(plan.head());
  return plan;
}

}  // namespace sim::testing
