// Every composition of parallelism that the worker performs, by name: one table for the parity tests (numbers) and for the whole loop of
// composition_test.py (ledger, keys, memory). A composition that stands here has a row in docs/figures/compositions.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/plan/parallel_plan.h"

namespace parity {

struct Composition {
  std::string name;
  sim::DeviceMesh mesh;
  std::string schedule = "1f1b";
  std::int32_t chunks = 1;
  std::int32_t slices = 1;
  std::int32_t passes = 1;
  std::int64_t microbatch_size = 1;
  std::int64_t global_batch = 8;
  sim::Recompute recompute = sim::Recompute::None;
  sim::Accumulation accumulation = sim::Accumulation::ReduceLast;
  bool sequence_parallel = false;
  bool expert_overlap = false, delay_wgrad = false;
  sim::Precision precision = sim::Precision::Fp32;
  bool fp32_gradients = false;
  std::optional<sim::Precision> wire = {}, masters = {}, moments = {};  // else as they follow
  std::optional<sim::ScaleRecipe> scales = {};                          // of products in 8 bit
  std::string full_units = {};                                          // beside those in `precision`
  std::string codecs = {};                                              // of what crosses links: wire_test tells what numbers they leave
  bool offload_optimizer = false, offload_parameters = false, offload_activations = false;
  std::string offload_modules = {};   // that send what they save to the host,
  std::int64_t offload_least = 0;     // tensors of so many elements or more
  std::int32_t delay_head_wgrad = 0;  // microbatches
  sim::ContextAlgorithm context_algorithm = sim::ContextAlgorithm::Ring;
  std::int64_t sequence = 12;
  bool wide = false;                 // the model is tiny_gpt2() with room for blocks of 64 on two tensor ranks
  bool latent = false;               // the model is tiny_deepseek()
  std::int32_t layers_per_unit = 1;  // of ZeRO-3
  sim::Bytes first_bucket_size{};    // 0: as the others
  std::int32_t zero_stage = 0;       // where there is but one
  std::int64_t persistence_threshold = 0;
  sim::KeptUntil kept_until = sim::KeptUntil::Backward;  // of mesh.reshard
  sim::ReshardAfterBackward reshard_after_backward = sim::ReshardAfterBackward::AsTheProgram;
  std::string recompute_scope = {};        // what of it holds where
  std::string adapters = {};               // beside frozen weights
  std::string frozen = {};                 // parts
  std::int32_t prefetch = 1;               // units, of ZeRO-3
  bool documents = false, fitted = false;  // in rows, without dropout; fitted: whole ones
  bool context_by_document = false;        // whose places context ranks choose
  std::int32_t owners = 0;                 // ZeRO stage that deals whole tensors to owners
  sim::OptimizerKind optimizer = sim::OptimizerKind::AdamW;
  sim::GradientSync gradient_sync = sim::GradientSync::Scatter;
  sim::WeightSync weight_sync = sim::WeightSync::AllGather;
  sim::Bytes partition_size{}, credit_size{};   // of sums by priority, without clipping
  bool own_statistics = false;                  // batch norms by each data rank's samples
  bool in_backward = false;                     // steps, without clipping
  bool head_alone = false;                      // is what the last stage has
  std::optional<sim::ExpertForm> experts = {};  // its blocks, or else those of tiny_mixtral(), have these
  sim::ModelConfig (*network)() = nullptr;      // that CPU ranks alone perform
  std::int32_t last_stage() const {
    return delay_head_wgrad > 0 ? 1 : offload_modules.empty() ? 3 : 2;
  }  // of ZeRO, that it may stand beside
  bool has_model() const {
    return wide || latent || experts || network;
  }  // of its own; else it is a GPT-2, and a Llama where its heads allow
};
const std::vector<Composition>& compositions();

// With the tiny models of tiny_plans.h. Selective recomputation is nothing without dropout of the scores: the latent model has it then, too.
sim::ModelConfig model_of(const Composition& composition);
sim::ParallelPlan plan_of(const Composition& composition, const sim::ModelConfig& model);

}  // namespace parity
