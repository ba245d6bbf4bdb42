// Weights as Hugging Face's transformers names and lays them out, in safetensors: in before the first step, out of a checkpoint of any layout. A family
// is a row of kFamilies (hugging_face_names.cpp).
#pragma once

#include <string>
#include <vector>

#include "executor/training/parameter_store.h"

namespace executor {

// path: a safetensors file, or a folder with some, or a folder that PEFT wrote, whose adapters stand beside the weights that it names. Throws sim::InputError naming what in the config.json beside them describes another function, and
// tensors that are missing, left over or of another shape.
void load_hugging_face(ParameterStore& parameters, const sim::ModelGraph& model, const std::string& path);

// The newest checkpoint of a run -> folder/model.safetensors and folder/config.json, and the tokenizer's files that the run keeps beside its
// checkpoints. Of a training of adapters those alone (adapter_files.h). Throws sim::InputError.
void export_hugging_face(const std::string& checkpoints, const std::string& folder);
// With what transformers asks for: the class of the network and the type of its weights. In hugging_face_json.cpp, as the next.
void save_exported_config(const sim::ModelConfig& config, c10::ScalarType type, const std::string& path);
void save_model_config(const sim::ModelConfig& config, const std::string& path);

}  // namespace executor
