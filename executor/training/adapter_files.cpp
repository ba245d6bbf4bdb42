#include "executor/training/adapter_files.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "executor/training/hugging_face_files.h"
#include "executor/training/hugging_face_source.h"
#include "executor/training/refusal.h"
#include "sim/units/at.h"
#include "sim/units/text_file.h"

namespace executor {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAdapterWeights = "adapter_model.safetensors", kAdapterConfig = "adapter_config.json",
                           kBaseFile = "base_weights.txt";

// Of one of our parameters the rows that are one of their tensors; their row of each of ours, or the same.
struct TheirTensor {
  std::string name;
  std::int64_t first = 0, count = 0;
  std::vector<std::int64_t> rows = {};
};
struct AdapterParameter {
  const sim::Parameter* parameter = nullptr;
  std::vector<TheirTensor> pieces;
};
struct AdapterNames {
  std::vector<AdapterParameter> parameters;
  AdapterConfig config;
};

std::string module_of(const std::string& weight) { return weight.substr(0, weight.rfind('.')); }

class Naming {
 public:
  explicit Naming(const sim::ModelGraph& model, const std::string& path) : model_(model), path_(path) {
    names_.config.rank = model.config.adapters->rank;
    names_.config.alpha = model.config.adapters->alpha > 0 ? model.config.adapters->alpha : names_.config.rank;
  }
  AdapterNames names() && {
    for (const sim::Layer& layer : model_.layers)
      for (const sim::SegmentGraph& segment : layer.segments)
        for (const sim::Operator& product : segment.operators)
          if (const sim::AdapterPairs pairs = sim::adapter_pairs(model_.config, product); pairs.pairs > 0) add(layer, product, pairs);
    if (!violations_.empty()) throw sim::InputError(path_, violations_);
    std::set<std::string> targets;
    for (const std::string& module : modules_) targets.insert(target_of(module));
    names_.config.modules = {targets.begin(), targets.end()};
    return std::move(names_);
  }

 private:
  static const sim::Parameter& find(const sim::Layer& layer, const std::string& ending) {
    return *std::ranges::find_if(layer.parameters, [&](const sim::Parameter& parameter) { return parameter.name.ends_with(ending); });
  }
  void add(const sim::Layer& layer, const sim::Operator& product, const sim::AdapterPairs& pairs);
  std::string target_of(const std::string& module) const;

  const sim::ModelGraph& model_;
  std::string path_;
  AdapterNames names_;
  std::set<std::string> modules_;
  std::vector<sim::Violation> violations_;
};

// Its last name, with the one before where another module ends with it, too, as GPT-2's attn.c_proj and mlp.c_proj do.
std::string Naming::target_of(const std::string& module) const {
  const std::size_t last = module.rfind('.');
  const std::string ending = module.substr(last);
  for (const sim::Layer& layer : model_.layers)
    for (const sim::Parameter& parameter : layer.parameters)
      for (const std::string& name : hugging_face_source(model_.config, parameter).names)
        if (const std::string other = module_of(name); other.ends_with(ending) && !modules_.contains(other))
          return module.substr(module.rfind('.', last - 1) + 1);
  return ending.substr(1);
}

// Their modules are the product's blocks, or the product is one of them.
void Naming::add(const sim::Layer& layer, const sim::Operator& product, const sim::AdapterPairs& pairs) {
  const sim::Parameter& weight = find(layer, "." + product.name + ".weight");
  const HuggingFaceSource source = hugging_face_source(model_.config, weight);
  const bool is_one = source.names.size() == 1, is_whole = pairs.outputs == weight.rows && pairs.pairs == 1;
  if (source.names.empty() || is_one != is_whole) {
    if (violations_.empty())
      violations_.push_back({"/workload/adapters",
                             fmt::format("of {} are {} of PEFT's modules, and the plan's adapters stand beside {}", product.name,
                                         source.names.size(), is_whole ? "all of it" : "its pieces"),
                             is_one ? "adapt the product as one (qkv, gate_up)" : "adapt its pieces by name (q, k, v, gate, up)"});
    return;
  }
  names_.config.transposed = names_.config.transposed || source.transposed;
  const std::string prefix = weight.name.substr(0, weight.name.find('.', weight.name.find('.') + 1)) + ".adapters." + product.name;
  AdapterParameter down{&find(layer, prefix + "_a.weight"), {}}, up{&find(layer, prefix + "_b.weight"), {}};
  const std::int64_t rank = up.parameter->columns;
  std::int64_t row = 0;
  for (std::size_t at = 0; at < (is_one ? 1 : pairs.blocks.size()); ++at) {
    const sim::AdapterBlock block = is_one ? sim::AdapterBlock{0, pairs.outputs} : pairs.blocks[at];
    std::size_t number = 0;
    for (std::int64_t begin = 0; begin < block.begin; begin += weight.row_blocks[number++]) {
    }
    const std::string module = module_of(source.names[number]);
    modules_.insert(module);
    down.pieces.push_back(
        {.name = "base_model.model." + module + ".lora_A.weight", .first = static_cast<std::int64_t>(at) * rank, .count = rank});
    up.pieces.push_back({.name = "base_model.model." + module + ".lora_B.weight", .first = row, .count = block.outputs});
    for (std::int64_t each = 0; !source.rows.empty() && each < block.outputs; ++each)
      up.pieces.back().rows.push_back(sim::at(source.rows, block.begin + each) - block.begin);
    row += block.outputs;
  }
  names_.parameters.push_back(std::move(down));
  names_.parameters.push_back(std::move(up));
}

at::Tensor tensor_of_rows(const std::vector<std::int64_t>& rows) { return at::tensor(rows, at::kLong); }

// The plan's own, or what differs.
void require_same_adapters(const AdapterConfig& theirs, const AdapterConfig& ours, const std::string& path) {
  std::vector<sim::Violation> found;
  const auto compare = [&](const char* where, std::int64_t their, std::int64_t our) {
    if (their != our)
      found.push_back({where, fmt::format("is {}, the plan's is {}", their, our), "plan with the adapters that are loaded"});
  };
  compare("r", theirs.rank, ours.rank);
  compare("lora_alpha", theirs.alpha, ours.alpha);
  if (!found.empty()) throw sim::InputError(path, found);
}

// [rows, columns] of one of our parameters. What is wrong is collected.
at::Tensor whole_of(const AdapterParameter& parameter, const SafetensorsFile& file, std::vector<sim::Violation>& violations) {
  std::vector<at::Tensor> pieces;
  for (const TheirTensor& piece : parameter.pieces) {
    const std::vector<std::int64_t> shape{piece.count, parameter.parameter->columns};
    if (!file.has(piece.name) || file.entries().at(piece.name).shape != shape) {
      violations.push_back({piece.name, file.has(piece.name) ? "has another shape than the plan's" : "is missing",
                            "plan with the adapters that are loaded"});
      return {};
    }
    const at::Tensor rows = file.tensor(piece.name);
    pieces.push_back(piece.rows.empty() ? rows : rows.index_select(0, tensor_of_rows(piece.rows)));
  }
  return at::cat(pieces);
}

}  // namespace

bool is_adapter_folder(const std::string& path) { return fs::exists(fs::path(path) / kAdapterConfig); }

std::string base_of_adapters(const std::string& folder) {
  const std::string config = (fs::path(folder) / kAdapterConfig).string(), base = load_adapter_config(config).base;
  const fs::path beside = fs::path(folder) / base;
  if (!base.empty() && fs::exists(beside)) return beside;
  if (!base.empty() && fs::exists(base)) return base;
  throw sim::InputError(config, {{"base_model_name_or_path", base.empty() ? "names no weights" : "names no folder here: " + base,
                                  "write the folder of the weights there that the adapters stand beside"}});
}

void load_adapters(ParameterStore& parameters, const sim::ModelGraph& model, const std::string& folder) {
  const std::string path = (fs::path(folder) / kAdapterWeights).string(), config = (fs::path(folder) / kAdapterConfig).string();
  if (!model.config.adapters) refuse(config, "describes adapters, and the plan has none", "say them in the plan: workload, adapters");
  const AdapterNames names = Naming(model, path).names();
  require_same_adapters(load_adapter_config(config), names.config, config);
  const SafetensorsFile file(path);
  std::vector<sim::Violation> violations;
  std::set<std::string> known;
  std::map<std::string, at::Tensor> wholes;
  for (const AdapterParameter& each : names.parameters) {
    for (const TheirTensor& piece : each.pieces) known.insert(piece.name);
    wholes[each.parameter->name] = whole_of(each, file, violations);
  }
  for (const auto& [name, entry] : file.entries())
    if (!known.contains(name)) violations.push_back({name, "is no adapter of the plan", "plan with the adapters that are loaded"});
  if (!violations.empty()) throw sim::InputError(path, violations);
  for (FlatBucket& bucket : parameters.buckets()) {
    if (bucket.layout().frozen) continue;
    for (const sim::BucketSlot& slot : bucket.layout().slots)
      parameters.put_whole(bucket, slot, wholes.at(parameters.parameter(slot).name));
    bucket.stage_weights();
  }
}

void export_adapters(const SavedState& saved, const std::string& base, const std::string& folder) {
  AdapterNames names = Naming(saved.model(), folder).names();
  names.config.base = base;
  std::vector<NamedTensor> tensors;
  for (const AdapterParameter& each : names.parameters) {
    const at::Tensor whole = saved.whole("weight", *each.parameter).view({each.parameter->rows, each.parameter->columns});
    for (const TheirTensor& piece : each.pieces) {
      at::Tensor rows = whole.narrow(0, piece.first, piece.count);
      if (!piece.rows.empty()) rows = at::empty_like(rows).index_copy_(0, tensor_of_rows(piece.rows), rows);
      tensors.push_back({.name = piece.name, .values = rows.contiguous().clone()});
    }
  }
  write_weights(tensors, folder, std::string(kAdapterWeights));
  save_adapter_config(names.config, (fs::path(folder) / kAdapterConfig).string());
}

void keep_base(const std::string& run, const std::string& weights) {
  const std::string base = is_adapter_folder(weights) ? base_of_adapters(weights) : weights;
  sim::save_text_file(fs::absolute(base).lexically_normal().string(), run + "/" + std::string(kBaseFile));
}

std::string base_of_run(const std::string& run) {
  const std::string path = run + "/" + std::string(kBaseFile);
  return fs::exists(path) ? sim::load_text_file(path) : std::string();
}

}  // namespace executor
