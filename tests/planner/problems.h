// The planning problems that the planner's tests share: numbers for tests alone, not profiles of real hardware.
#pragma once

#include <cstdint>

#include "planner/search.h"

namespace planner {

struct Machine {
  std::int32_t devices = 8, devices_per_node = 8;
};

inline sim::ModelConfig gpt(std::int64_t layers, std::int64_t heads) {
  sim::ModelConfig model;
  model.model_type = "gpt2";
  model.layers = layers;
  model.heads = model.kv_heads = heads;
  model.head_dim = 64;
  model.hidden = heads * model.head_dim;
  model.ffn = 4 * model.hidden;
  model.vocabulary = 50257;
  model.max_positions = 2048;
  model.attention_bias = model.projection_bias = model.mlp_bias = true;
  model.tied_embeddings = true;
  return model;
}

inline sim::Cluster gpu_cluster(Machine machine) {
  sim::Cluster cluster;
  sim::HardwareProfile& gpu = cluster.hardware;
  gpu.name = "test gpu";
  gpu.kind = sim::DeviceKind::Gpu;
  gpu.source = "invented for tests";
  gpu.date = "2024-01-01";
  gpu.memory = sim::Bytes(std::int64_t{80} << 30);
  gpu.memory_bandwidth = sim::BytesPerSecond(3.35e12);
  gpu.memory_efficiency = 0.8;
  gpu.peak.fill(sim::FlopsPerSecond(0));
  gpu.peak[static_cast<std::size_t>(sim::Precision::Bf16)] = sim::FlopsPerSecond(989e12);
  gpu.peak[static_cast<std::size_t>(sim::Precision::Fp32)] = sim::FlopsPerSecond(67e12);
  gpu.matrix_efficiency = 0.7;
  gpu.attention_efficiency = 0.5;
  gpu.kernel_overhead = sim::Seconds(4e-6);
  gpu.power = sim::DevicePower{.load = sim::Watts(700), .idle = sim::Watts(145), .source = "invented for tests"};
  gpu.devices_per_node = machine.devices_per_node;
  gpu.intra_node = {.type = "nvlink", .latency = sim::Seconds(3e-6), .bandwidth = sim::BytesPerSecond(400e9)};
  gpu.inter_node = {.type = "infiniband", .latency = sim::Seconds(8e-6), .bandwidth = sim::BytesPerSecond(8 * 45e9)};
  cluster.devices = machine.devices;
  return cluster;
}

inline SearchRequest small_request(Machine machine) {
  SearchRequest request;
  request.model = gpt(4, 4);
  request.cluster = gpu_cluster(machine);
  request.workload = {.sequence = 512, .global_batch = 8, .precision = sim::Precision::Bf16, .optimizer = sim::OptimizerKind::AdamW};
  return request;
}

// GPT-3 175B (Brown et al. 2020, table 2.1) in batches of 1,536 sequences, as Narayanan et al. 2021 train it.
inline SearchRequest gpt3_request(Machine machine) {
  SearchRequest request;
  request.model = gpt(96, 96);
  request.model.head_dim = 128;
  request.model.hidden = 12288;
  request.model.ffn = 4 * 12288;
  request.cluster = gpu_cluster(machine);
  request.workload = {.sequence = 2048, .global_batch = 1536, .precision = sim::Precision::Bf16, .optimizer = sim::OptimizerKind::AdamW};
  return request;
}

}  // namespace planner
