// Low-rank adapters as PEFT names and keeps them: a folder with adapter_model.safetensors and adapter_config.json, which says beside which weights they
// stand.
//
//   ours                                               theirs, of a module that is a product by itself
//   adapters.qkv_a [pairs r, in], a pair after the other    base_model.model.<module>.lora_A.weight [r, in]
//   adapters.qkv_b [outputs of its targets, r]              base_model.model.<module>.lora_B.weight [outputs, r]
#pragma once

#include <string>
#include <vector>

#include "executor/training/parameter_store.h"
#include "executor/training/saved_state.h"

namespace executor {

struct AdapterConfig {
  std::int64_t rank = 8, alpha = 8;
  std::vector<std::string> modules;  // last names of theirs, sorted
  bool transposed = false;           // their weights are [inputs, outputs] (fan_in_fan_out)
  std::string base;                  // the folder of the weights; empty: not known
};
// Throws sim::InputError with all that is no plain LoRA.
AdapterConfig load_adapter_config(const std::string& path);  // in adapter_files_json.cpp, as the next
void save_adapter_config(const AdapterConfig& config, const std::string& path);

bool is_adapter_folder(const std::string& path);
std::string base_of_adapters(const std::string& folder);  // a path; throws sim::InputError where there is none
// Throws sim::InputError: other adapters than the plan's, tensors that are missing, left over or of another shape.
void load_adapters(ParameterStore& parameters, const sim::ModelGraph& model, const std::string& folder);

// Throws sim::InputError where a pair of the plan stands beside what is no module of its own in this family, or beside several.
void export_adapters(const SavedState& saved, const std::string& base, const std::string& folder);

// What a run started from, kept in its folder for its exports.
void keep_base(const std::string& run, const std::string& weights);
std::string base_of_run(const std::string& run);  // empty: initial values

}  // namespace executor
