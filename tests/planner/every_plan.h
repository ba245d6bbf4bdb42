// Runs a check on every candidate of small problems that between them meet every axis.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "planner/plan_prices.h"
#include "planner/search_space.h"
#include "tests/planner/problems.h"

namespace planner {

// Of a model whose blocks are all equal.
inline constexpr sim::LayerKind kEmbedding(0), kBlock(1), kHead(2);

// A part without a layer: of a cut that leaves an end alone.
inline bool has_empty_part(const sim::ParallelPlan& plan) {
  const std::vector<sim::LayerIndex>& first = plan.cut.first;
  return std::ranges::adjacent_find(first) != first.end() || first.back().value() > plan.model.layers + 1;
}

inline std::vector<sim::SoftwareStack> all_sorts_of_programs() {
  std::vector<sim::SoftwareStack> programs;
  for (const char* name : {"megatron-lm-2022", "torchtitan", "megatron-deepspeed", "nanotron", "megatron-core-2025", "plain", "fsdp1",
                           "torchtitan-2025", "aleph-alpha-scaling", "automodel", "xla"})
    programs.push_back(sim::load_software(name));
  return programs;
}

// Samples long enough for context ranks to be a choice.
inline SearchRequest long_request() {
  SearchRequest request = small_request({.devices = 4, .devices_per_node = 2});
  request.model = gpt(2, 4);
  request.model.max_positions = 8192;
  request.workload.sequence = 8192;
  request.workload.global_batch = 4;
  return request;
}

// Experts to be dealt out; the first layer is dense.
inline SearchRequest expert_request() {
  SearchRequest request = small_request({.devices = 4, .devices_per_node = 2});
  request.model = gpt(3, 4);
  request.model.tied_embeddings = false;
  request.model.experts = sim::ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 512, .shared_ffn = 256, .first_dense_layers = 1};
  request.workload.global_batch = 4;
  return request;
}

// A host that may be slower than its devices, and that waits for the tokens of experts.
inline SearchRequest paced(SearchRequest request) {
  request.cluster.hardware.kernels = sim::KernelTraits{};
  sim::SoftwareStack& software = request.cluster.software;
  software.name = "test-program";
  software.overlap_reduce = software.overlap_gather = true;
  software.host_per_kernel = sim::Seconds(4e-6);
  software.host_per_module = sim::Seconds(50e-6);
  software.host_per_experts = sim::Seconds(1e-3);
  software.host_per_tensor = sim::Seconds(20e-6);
  return request;
}

// Weights that stay whole are cast to 8 bit once a step, gathered ones for each microbatch; large enough for that to be seen.
inline SearchRequest casts_once(SearchRequest request) {
  request.model = gpt(2, 32);
  request.cluster = sim::load_cluster("h100-80gb-sxm", sim::DeviceCount{request.cluster.devices});
  request.cluster.software = {};
  request.cluster.software.name = "test-program";
  request.cluster.software.cached_fp8_weights = true;
  request.workload.precision = sim::PrecisionPolicy(sim::Precision::Bf16).with(sim::ScaleRecipe::Delayed, false);
  return request;
}

// Nothing goes backward in front of what is trained: of a stage nothing at all, of others a part.
inline std::vector<SearchRequest> frozen_requests() {
  std::vector<SearchRequest> requests;
  for (const std::string_view text : {"first 2", "attention first 1", "embedding,norms"}) {
    SearchRequest request = text == "first 2" ? expert_request() : small_request({.devices = 4, .devices_per_node = 2});
    std::vector<sim::Violation> wrong;
    request.model.frozen = sim::parse_frozen_parts(text, wrong);
    requests.push_back(request);
  }
  return requests;
}

inline std::vector<SearchRequest> small_requests() {
  std::vector<SearchRequest> requests{small_request({.devices = 4, .devices_per_node = 4}),
                                      small_request({.devices = 8, .devices_per_node = 2})};
  SearchRequest untied = small_request({.devices = 6, .devices_per_node = 8});
  untied.model = gpt(6, 6);
  untied.model.tied_embeddings = false;
  untied.model.attention_dropout = 0.1;
  untied.vocabulary_multiple = 12;
  untied.workload.global_batch = 12;
  untied.offload = true;
  requests.push_back(untied);
  requests.push_back(long_request());
  requests.push_back(expert_request());
  SearchRequest cpu = small_request({.devices = 4, .devices_per_node = 4});
  cpu.cluster.hardware.kind = sim::DeviceKind::Cpu;
  cpu.cluster.hardware.overlaps_communication = false;
  cpu.cluster.hardware.cores_per_node = 2;
  cpu.workload.precision = sim::Precision::Fp32;
  cpu.offload = true;
  requests.push_back(cpu);
  return requests;
}

// A problem drawn from everything that the space is made of.
inline SearchRequest random_request(std::mt19937& random) {
  const auto pick = [&](std::initializer_list<std::int64_t> values) { return *(values.begin() + random() % values.size()); };
  const auto number = [&](std::int64_t value) { return static_cast<std::int32_t>(value); };
  SearchRequest request = small_request({.devices = number(pick({2, 3, 4, 6, 8})), .devices_per_node = number(pick({1, 2, 4, 8}))});
  const std::int64_t heads = pick({2, 4, 6});
  request.model = gpt(2 + static_cast<std::int64_t>(random() % 4), heads);
  request.model.vocabulary = pick({1000, 50257});
  request.model.tied_embeddings = random() % 2 == 0;
  if (random() % 4 == 0) request.model.attention_dropout = 0.1;
  if (random() % 3 == 0) {
    request.model.kv_heads = heads / 2;
    request.model.gated_mlp = true;
    request.model.norm = sim::Norm::RmsNorm;
    request.model.position = sim::Position::Rotary;
  }
  if (random() % 3 == 0)
    request.model.experts = sim::ExpertForm{
        .experts = pick({4, 6}), .topk = 2, .expert_ffn = 768, .shared_ffn = pick({0, 768}), .first_dense_layers = pick({0, 1})};
  request.vocabulary_multiple = pick({12, 128});
  request.model.max_positions = 16384;
  request.workload = {.sequence = pick({64, 512, 16384}),
                      .global_batch = pick({4, 6, 8, 12}),
                      .precision = sim::Precision::Bf16,
                      .optimizer = random() % 2 == 0 ? sim::OptimizerKind::AdamW : sim::OptimizerKind::Sgd};
  sim::HardwareProfile& hardware = request.cluster.hardware;
  hardware.memory = sim::Bytes(std::int64_t{1} << 40);  // long samples fit, too
  hardware.intra_node.bandwidth = sim::BytesPerSecond(static_cast<double>(pick({5, 50, 400})) * 1e9);
  hardware.inter_node.bandwidth = sim::BytesPerSecond(static_cast<double>(pick({1, 20, 360})) * 1e9);
  if (random() % 3 == 0) {
    hardware.kind = sim::DeviceKind::Cpu;
    hardware.overlaps_communication = false;
    hardware.cores_per_node = number(pick({0, 1, 2, 4}));
    request.workload.precision = sim::Precision::Fp32;
  } else if (random() % 2 == 0) {
    hardware.kernels = sim::KernelTraits{};
    request.cluster.software.name = "test-program";
    if (random() % 2 == 0) {  // of a slow host, which may issue graphs
      request = paced(request);
      request.fixed["cuda_graphs"] = std::array{"none", "per_layer", "full_iteration"}[random() % 3];
    }
    request.cluster.software.overlap_reduce = random() % 2 == 0;
    request.cluster.software.overlap_gather = random() % 2 == 0;
    request.cluster.software.unit_buffers =
        request.cluster.software.overlap_reduce != request.cluster.software.overlap_gather;  // as FSDP 2
  }
  if (random() % 3 == 0) hardware.corrections = {{"forward.mlp", 1.7, 3}, {"gradients.all_reduce.data", 0.6, 3}, {"step.update", 2.5, 3}};
  request.top = number(pick({1, 3, 10}));
  request.offload = random() % 3 == 0;
  return request;
}

// Two each that issue kernel by kernel, by graphs of layers and by one of the step.
inline std::vector<SearchRequest> paced_requests() {
  std::vector<SearchRequest> requests;
  for (const char* const graphs : {"none", "per_layer", "full_iteration"})
    for (SearchRequest request : {paced(small_request({.devices = 8, .devices_per_node = 2})), paced(expert_request())}) {
      request.fixed["cuda_graphs"] = graphs;
      requests.push_back(request);
    }
  return requests;
}

template <class Check>
void on_every_plan(const std::vector<SearchRequest>& requests, Check check) {
  for (const SearchRequest& request : requests) {
    const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
    for (const PlanCandidate& candidate : enumerate(request).candidates) {
      SCOPED_TRACE(to_text(candidate));
      check(model, make_plan(request, candidate));
    }
  }
}

template <class Check>
void on_every_small_plan(Check check) {
  on_every_plan(small_requests(), check);
}

}  // namespace planner
