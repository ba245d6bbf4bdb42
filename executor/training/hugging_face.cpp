#include "executor/training/hugging_face.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/count_nonzero.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <span>

#include "executor/model/sines.h"
#include "executor/training/adapter_files.h"
#include "executor/training/hugging_face_files.h"
#include "executor/training/hugging_face_names.h"
#include "executor/training/hugging_face_source.h"
#include "executor/training/saved_state.h"

namespace executor {
namespace {

namespace fs = std::filesystem;

void require_known(const sim::ModelConfig& config, const std::string& path) {
  if (find_names(config) == nullptr)
    throw sim::InputError(path, {{.where = "model_type",
                                  .problem = fmt::format("is {}, the names of whose weights are not known here", config.model_type),
                                  .remedy = "train without Hugging Face's weights: checkpoints of the run hold its own"}});
  if (config.model_type == "falcon" && config.position == sim::Position::Alibi)
    throw sim::InputError(
        path, {{.where = "alibi",
                .problem = "is divided by the root of a head's width in this family, and rounded to bf16, which no network here does",
                .remedy = "train without Hugging Face's weights: checkpoints of the run hold its own"}});
  if (config.model_type == "mixtral" && config.experts &&
      (config.experts->shared_ffn > 0 || config.experts->first_dense_layers > 0 || config.experts->expert_ffn != config.ffn))
    throw sim::InputError(path,
                          {{.where = "model_type",
                            .problem = "mixtral has neither shared experts nor dense layers, and its experts are intermediate_size wide",
                            .remedy = "plan a network that its family has; what is left out would be another one"}});
}

at::Tensor as_index(const std::vector<std::int64_t>& rows) { return at::tensor(rows, at::kLong); }

// [rows, columns] of a tensor as the file has it, and back.
at::Tensor as_rows(const at::Tensor& theirs, const HuggingFaceSource& source) {
  if (source.experts > 0) return theirs.dim() == 3 ? theirs.transpose(1, 2).flatten(0, 1) : theirs.reshape({-1, 1});
  const at::Tensor straight = source.transposed ? theirs.t() : theirs;
  return straight.view({straight.size(0), -1});
}
at::Tensor as_theirs(const at::Tensor& rows, const HuggingFaceSource& source, bool is_vector) {
  if (source.experts > 0 && is_vector) return rows.reshape({source.experts, -1});
  if (source.experts > 0) return rows.unflatten(0, {source.experts, -1}).transpose(1, 2);
  if (is_vector && !source.transposed) return rows.squeeze(1);
  return source.transposed ? rows.t() : rows;
}

// What is wrong is collected: all is told at once.
class Weights {
 public:
  explicit Weights(const std::string& path) : path_(path), files_(path) {}

  // [rows, columns] as ours.
  at::Tensor read(const sim::Parameter& parameter, const HuggingFaceSource& source, std::int64_t rows) {
    std::vector<at::Tensor> pieces;
    for (const std::string& name : source.names) {
      at::Tensor piece = files_.find(name);
      if (!piece.defined()) return refuse_tensor(name, fmt::format("is missing; {} needs it", parameter.name));
      pieces.push_back(as_rows(piece, source));
    }
    const at::Tensor whole = at::cat(pieces);
    if (whole.size(0) == rows && whole.size(1) == parameter.columns)
      return source.rows.empty() ? whole : whole.index_select(0, as_index(source.rows));
    return refuse_tensor(source.names.front(), fmt::format("is {} x {} for {}, the model's config says {} x {}", whole.size(0),
                                                           whole.size(1), parameter.name, rows, parameter.columns));
  }
  void require_nothing_left(const sim::ModelGraph& model);
  void require_clean() {
    if (!violations_.empty()) throw sim::InputError(path_, violations_);
  }

 private:
  at::Tensor refuse_tensor(const std::string& where, std::string problem) {
    violations_.push_back({.where = where, .problem = std::move(problem), .remedy = "give the weights of this config.json"});
    return {};
  }

  std::string path_;
  HuggingFaceFiles files_;
  std::vector<sim::Violation> violations_;
};

bool keeps_sines(const sim::ModelConfig& config) { return config.encoder && config.encoder->sines == sim::Sines::Vaswani; }

at::Tensor kept_sines(const sim::ModelConfig& config, c10::ScalarType type) {
  return sine_table({.form = config.encoder->sines, .first = 0, .count = config.max_positions}, config.hidden,
                    at::TensorOptions().dtype(type));
}

std::string name_of(const sim::ModelConfig& config, std::string ours) {
  sim::Parameter parameter;
  parameter.name = std::move(ours);
  const HuggingFaceSource source = hugging_face_source(config, parameter);
  return source.names.empty() ? std::string() : source.names.front();
}

// What may be written out a second time, and of what it is a copy: a tied head of the embedding, the projection's bias of the head's.
std::string original_of(const sim::ModelConfig& config, const std::string& name) {
  if (config.tied_embeddings && name == name_of(config, "head.weight")) return name_of(config, "embedding.tokens.weight");
  return config.head_bias && std::ranges::find(kSecondBiases, name) != std::end(kSecondBiases) ? name_of(config, "head.bias") : "";
}

// Of the whole network, not of this rank's part alone.
void Weights::require_nothing_left(const sim::ModelGraph& model) {
  std::set<std::string> known;
  for (const sim::Layer& layer : model.layers)
    for (const sim::Parameter& parameter : layer.parameters)
      for (std::string& name : hugging_face_source(model.config, parameter).names) known.insert(std::move(name));
  for (const std::string& name : files_.left_over(known)) {
    if (const std::string original = original_of(model.config, name); !original.empty()) {
      const at::Tensor first = files_.find(original);
      if (first.defined() && at::equal(first, files_.find(name))) continue;
      refuse_tensor(name, fmt::format("differs from {}, to which the plan's network ties it", original));
      continue;
    }
    if (keeps_sines(model.config) && std::ranges::find(kSineTables, name) != std::end(kSineTables)) {
      constexpr double kRounded = 1e-2;  // of 16 bit
      const at::Tensor table = files_.find(name).to(at::kDouble), ours = kept_sines(model.config, at::kDouble);
      if (table.sizes() == ours.sizes() && (table - ours).abs().max().item<double>() < kRounded) continue;
      refuse_tensor(name, "is no table of sines, and the plan's network trains no positions");
      continue;
    }
    if (model.config.encoder && name == kLogitsBias) {
      if (at::count_nonzero(files_.find(name)).item<std::int64_t>() == 0) continue;
      refuse_tensor(name, "is not zero, and the plan's network has no bias of logits");
      continue;
    }
    violations_.push_back(
        {.where = name, .problem = "is no weight of the plan's network", .remedy = "plan with the config.json of the weights"});
  }
}

std::int64_t rows_without_padding(const sim::ModelConfig& config, const sim::Parameter& parameter) {
  const bool is_over_vocabulary =
      parameter.name == "embedding.tokens.weight" || parameter.name == "head.weight" || parameter.name == "head.bias";
  return is_over_vocabulary ? config.vocabulary : parameter.rows;
}

void add_pieces(std::vector<NamedTensor>& tensors, const sim::ModelConfig& config, const sim::Parameter& parameter,
                const at::Tensor& flat) {
  const HuggingFaceSource source = hugging_face_source(config, parameter);
  at::Tensor whole = flat.view({parameter.rows, parameter.columns});
  if (!source.rows.empty()) whole = at::empty_like(whole).index_copy_(0, as_index(source.rows), whole);
  const std::int64_t rows = rows_without_padding(config, parameter);
  std::int64_t first = 0;
  for (std::size_t at = 0; at < source.names.size(); ++at) {
    const std::int64_t count = source.names.size() == 1 ? rows : parameter.row_blocks[at];
    const at::Tensor piece = as_theirs(whole.narrow(0, first, count), source, /*is_vector=*/!parameter.weight_decay);
    tensors.push_back({.name = source.names[at], .values = piece.contiguous().clone()});
    first += count;
  }
}

}  // namespace

void load_hugging_face(ParameterStore& parameters, const sim::ModelGraph& model, const std::string& path) {
  const sim::ModelConfig& config = model.config;
  require_known(config, path);
  if (is_adapter_folder(path)) {
    load_hugging_face(parameters, model, base_of_adapters(path));
    return load_adapters(parameters, model, path);
  }
  Weights weights(path);
  if (!require_same_network(path, config))
    fmt::print(stderr, "{}: no config.json beside the weights: their names and shapes are all that is compared with the plan\n", path);
  for (FlatBucket& bucket : parameters.buckets())
    for (const sim::BucketSlot& slot : bucket.layout().slots) {
      const sim::Parameter& parameter = parameters.parameter(slot);
      if (config.adapters && !parameter.frozen) continue;  // an adapter, which begins anew
      const at::Tensor whole = weights.read(parameter, hugging_face_source(config, parameter), rows_without_padding(config, parameter));
      if (whole.defined()) parameters.put_whole(bucket, slot, whole);
    }
  weights.require_nothing_left(model);
  weights.require_clean();
  if (config.adapters) parameters.fill_trained_values();
}

void export_hugging_face(const std::string& checkpoints, const std::string& folder) {
  const std::string newest = newest_checkpoint(checkpoints);
  const CheckpointIndex index = load_checkpoint_index(newest);
  require_known(index.plan.model, folder);
  const SavedState saved(index, newest);
  const std::string run = fs::path(checkpoints).parent_path();
  copy_tokenizer(run + "/tokenizer", folder);
  if (index.plan.model.adapters) return export_adapters(saved, base_of_run(run), folder);
  std::vector<NamedTensor> tensors;
  for (const sim::Layer& layer : saved.model().layers)
    for (const sim::Parameter& parameter : layer.parameters)
      add_pieces(tensors, index.plan.model, parameter, saved.whole("weight", parameter));
  const c10::ScalarType type = tensors.front().values.scalar_type();
  for (const std::string_view name : kSineTables)
    if (keeps_sines(index.plan.model)) tensors.push_back({.name = std::string(name), .values = kept_sines(index.plan.model, type)});
  write_weights(tensors, folder, "model.safetensors");
  save_exported_config(index.plan.model, type, folder + "/config.json");
}

}  // namespace executor
