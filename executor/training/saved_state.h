// A checkpoint as whole parameters, whatever layout wrote it: its files hold parts as its ranks had cut them. Used to go on under another
// layout, and to export.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "executor/training/checkpoint.h"

namespace executor {

class SavedState {
 public:
  // index must outlive it. Throws sim::InputError: a file or a tensor of the index is missing.
  SavedState(const CheckpointIndex& index, const std::string& folder);

  const sim::ModelGraph& model() const { return model_; }
  const sim::Parameter& parameter(const std::string& name) const { return *parameters_.at(name); }  // with the saved padding
  // Flat, of the saved padding. Throws sim::InputError: damaged, or a part is missing.
  at::Tensor whole(std::string_view kind, const sim::Parameter& parameter) const;

 private:
  // "weight:head.weight@t1:0-4096", taken apart.
  struct Part {
    std::string tensor;  // its name in the file
    const SafetensorsFile* file = nullptr;
    std::string path, hash;
    std::int64_t tensor_rank = 0, expert_rank = 0, from = 0, end = 0;  // end: 0 of a whole parameter
    std::int64_t elements(const sim::Parameter& parameter) const { return end > 0 ? end - from : parameter.elements(); }
  };
  at::Tensor verified(const Part& part) const;

  TensorPosition degrees_;  // ranks are a part's own
  sim::ModelGraph model_;
  std::string folder_, remedy_;
  std::vector<std::unique_ptr<SafetensorsFile>> files_;
  std::map<std::string, const sim::Parameter*> parameters_;
  std::map<std::string, std::vector<Part>> parts_;  // by kind and parameter: "moment1:head.weight"
};

}  // namespace executor
