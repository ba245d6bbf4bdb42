#include "executor/training/saved_state.h"

#include <ATen/Dispatch.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ranges>

#include "executor/training/content_hash.h"
#include "executor/training/refusal.h"
#include "sim/units/at.h"

namespace executor {
namespace {

std::int64_t number_behind(std::string_view text, char mark) {
  std::int64_t value = 0;
  const std::size_t at = text.find(mark);
  if (at != std::string_view::npos) std::from_chars(text.data() + at + 1, text.data() + text.size(), value);
  return value;
}

}  // namespace

SavedState::SavedState(const CheckpointIndex& index, const std::string& folder)
    : degrees_{.degree = index.plan.mesh.tensor, .expert_degree = index.plan.mesh.expert, .expert_cut = index.plan.mesh.expert_cut()},
      model_(sim::make_model_graph(index.plan)),
      folder_(folder),
      remedy_(fmt::format("remove {} to resume from the checkpoint before it", folder)) {
  for (const sim::Layer& layer : model_.layers)
    for (const sim::Parameter& parameter : layer.parameters) parameters_[parameter.name] = &parameter;
  for (const auto& [file, tensors] : index.hashes) {
    const std::string path = folder + "/" + file;
    files_.push_back(std::make_unique<SafetensorsFile>(path));
    require_header(index, folder, file, files_.back()->header());
    for (const auto& [name, hash] : tensors) {
      if (!files_.back()->has(name)) refuse(path, "tensor " + name + " is missing", remedy_);
      const std::size_t part = name.find('@');
      const std::string_view place = part == std::string::npos ? std::string_view() : std::string_view(name).substr(part);
      parts_[name.substr(0, part)].push_back({.tensor = name,
                                              .file = files_.back().get(),
                                              .path = path,
                                              .hash = hash,
                                              .tensor_rank = number_behind(place, 't'),
                                              .expert_rank = number_behind(place, 'e'),
                                              .from = number_behind(place, ':'),
                                              .end = number_behind(place, '-')});
    }
  }
}

at::Tensor SavedState::verified(const Part& part) const {
  if (hash_text(content_hash(part.file->bytes(part.tensor))) != part.hash)
    refuse(part.path, "tensor " + part.tensor + " is damaged: its content has another hash than the index says", remedy_);
  return part.file->tensor(part.tensor);
}

// Copies on several ranks are equal: each is written over the other. Of running statistics that ranks have of their own samples the first rank's stand, as
// PyTorch DDP, which hands them to the others.
at::Tensor SavedState::whole(std::string_view kind, const sim::Parameter& parameter) const {
  const std::string name = fmt::format("{}:{}", kind, parameter.name);
  const auto parts = parts_.find(name);
  if (parts == parts_.end()) refuse(folder_, "tensor " + name + " is missing", remedy_);
  at::Tensor result;
  std::vector<bool> is_there(sim::count_of(parameter.elements()));
  for (const Part& part : std::views::reverse(parts->second)) {
    at::Tensor values = verified(part);
    if (kind.starts_with("scale")) values = values.repeat_interleave(sim::kMomentBlock).narrow(0, 0, part.elements(parameter));
    if (!result.defined()) result = at::empty({parameter.elements()}, values.options());
    TensorPosition position = degrees_;
    position.rank = position.expert_part = part.tensor_rank;  // of those that cut this parameter
    position.expert_rank = part.expert_rank;
    const TensorPart place(parameter, position);
    AT_DISPATCH_FLOATING_TYPES_AND3(at::kBFloat16, at::kHalf, at::kByte, values.scalar_type(), "assemble_parameter", [&] {
      for (std::int64_t at = 0; at < values.numel(); ++at) {
        const std::int64_t element = place.global_element(part.from + at);
        result.data_ptr<scalar_t>()[element] = values.const_data_ptr<scalar_t>()[at];
        sim::at(is_there, element) = true;
      }
    });
  }
  if (std::find(is_there.begin(), is_there.end(), false) != is_there.end())
    refuse(folder_, "a shard of tensor " + name + " is missing", remedy_);
  return result;
}

}  // namespace executor
