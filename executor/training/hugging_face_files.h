// The safetensors files that a training starts from, as one: a file, or a folder of some with the config.json they were made with. Whose network the
// weights are is compared before they are read, and each tensor is accounted for.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "executor/training/safetensors.h"
#include "sim/model/model_graph.h"
#include "sim/units/input_error.h"

namespace executor {

class HuggingFaceFiles {
 public:
  explicit HuggingFaceFiles(const std::string& path);  // throws sim::InputError

  // A tensor as the file has it; undefined where there is none. Names are found with and without what stands before their first dot.
  at::Tensor find(const std::string& name) const;
  // Names of tensors that are none of `known`, and no copies of masks or angles that old versions of transformers wrote.
  std::vector<std::string> left_over(const std::set<std::string>& known) const;

 private:
  std::vector<std::unique_ptr<SafetensorsFile>> files_;
};

// folder/name, whole or as it was: written aside, then renamed.
void write_weights(const std::vector<NamedTensor>& tensors, const std::string& folder, const std::string& name);

// The files of a tokenizer that lie in the folder `from`, if there are any: a model without its tokenizer reads nothing.
void copy_tokenizer(const std::string& from, const std::string& to);

// Throws sim::InputError with each key of the weights' config.json that describes another function than the plan's network. Without a config.json
// beside the weights names and shapes are all that can be compared: false.
bool require_same_network(const std::string& path, const sim::ModelConfig& planned);  // in hugging_face_json.cpp

}  // namespace executor
