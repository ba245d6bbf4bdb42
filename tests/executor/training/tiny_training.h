// A small plan, on one rank or joined to others, and a folder that goes away, for the tests of this room.
#pragma once

#include <ATen/TensorOperators.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "executor/training/task_runner.h"
#include "executor/training/token_file.h"
#include "sim/plan/parallel_plan.h"

namespace executor {

inline sim::ParallelPlan tiny_plan(sim::DeviceMesh mesh = {}) {
  sim::ParallelPlan plan;
  plan.model.model_type = "gpt2";
  plan.model.layers = 2;
  plan.model.hidden = 16;
  plan.model.heads = plan.model.kv_heads = 2;
  plan.model.head_dim = 8;
  plan.model.ffn = 24;
  plan.model.vocabulary = 13;
  plan.model.max_positions = 8;
  plan.model.attention_bias = plan.model.projection_bias = plan.model.mlp_bias = plan.model.tied_embeddings = true;
  plan.mesh = mesh;
  plan.cluster.devices = mesh.ranks();
  plan.cluster.hardware.name = "test";
  plan.cluster.hardware.source = "made up";
  plan.cluster.hardware.date = "2026-01-01";
  plan.cluster.hardware.memory = sim::Bytes(std::int64_t{8} << 30);
  plan.cluster.hardware.memory_bandwidth = sim::BytesPerSecond(1e10);
  plan.cluster.hardware.kind = sim::DeviceKind::Cpu;
  plan.cluster.hardware.devices_per_node = mesh.ranks();
  plan.cluster.hardware.intra_node = {.type = "made up", .latency = sim::Seconds(1e-6), .bandwidth = sim::BytesPerSecond(1e9)};
  plan.cluster.hardware.peak.fill(sim::FlopsPerSecond(1e9));
  plan.workload = {.sequence = 6, .global_batch = 4, .precision = sim::Precision::Fp64, .optimizer = sim::OptimizerKind::AdamW};
  plan.vocabulary_multiple = 2;
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  return plan;
}

// A folder of its own, for each of the ranks that are threads, too.
class ScratchFolder {
 public:
  ScratchFolder() : path_(std::filesystem::temp_directory_path() / fmt::format("meshwright-test-{}-{}", getpid(), ++count_)) {
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string file(const std::string& name) const { return path_ / name; }

 private:
  inline static std::atomic<int> count_ = 0;
  std::filesystem::path path_;
};

inline void write_tokens(const std::string& path, std::int64_t count, std::int64_t vocabulary) {
  std::ofstream file(path, std::ios::binary);
  for (std::int64_t at = 0; at < count; ++at) {
    const auto token = static_cast<std::uint16_t>((at * at + 3 * at) % vocabulary);
    file.write(reinterpret_cast<const char*>(&token), sizeof token);
  }
}

// A rank with everything that a step needs.
struct Training {
  explicit Training(sim::ParallelPlan from, c10::Device device = c10::kCPU, const RunnerOptions& options = {},
                    Transport transport = nullptr)
      : plan(std::move(from)),
        model(sim::make_model_graph(plan)),
        communicators(plan.mesh, std::move(transport)),
        recorder({8}, std::chrono::steady_clock::now(), device),
        parameters(model, plan, communicators.rank(), device),
        runner(model, plan, communicators, parameters, recorded(options)) {
    write_tokens(folder.file("tokens.bin"), 400, plan.model.vocabulary);
    parameters.fill_initial_values();
  }
  StepSummary step(std::int64_t number) {
    return runner.run_step(load_batch(TokenFile(folder.file("tokens.bin"), plan.workload.sequence), plan, communicators.rank(), number),
                           {});
  }
  at::Tensor weights() { return parameters.buckets().front().weights().clone(); }

  RunnerOptions recorded(RunnerOptions options) {
    options.recorder = &recorder;
    return options;
  }

  ScratchFolder folder;
  sim::ParallelPlan plan;
  sim::ModelGraph model;
  MeshCommunicators communicators;
  TraceRecorder recorder;
  ParameterStore parameters;
  TaskRunner runner;
};

}  // namespace executor
