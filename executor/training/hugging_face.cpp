#include "executor/training/hugging_face.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <set>

#include "executor/training/hugging_face_files.h"
#include "executor/training/saved_state.h"

namespace executor {
namespace {

namespace fs = std::filesystem;

// "{}": the number of the block; "{e}": each expert's, one after the other.
struct Row {
  std::string_view ours;
  std::array<std::string_view, 3> theirs;
  bool is_conv1d = false;  // of GPT-2: weights are [inputs, outputs]
};
constexpr std::string_view kExpert = "{e}", kHead = "lm_head.weight";

constexpr auto kGpt2 = std::to_array<Row>({
    {"embedding.tokens", {"transformer.wte"}},
    {"embedding.positions", {"transformer.wpe"}},
    {"attention.norm", {"transformer.h.{}.ln_1"}},
    {"attention.qkv", {"transformer.h.{}.attn.c_attn"}, true},
    {"attention.projection", {"transformer.h.{}.attn.c_proj"}, true},
    {"mlp.norm", {"transformer.h.{}.ln_2"}},
    {"mlp.up", {"transformer.h.{}.mlp.c_fc"}, true},
    {"mlp.down", {"transformer.h.{}.mlp.c_proj"}, true},
    {"head.norm", {"transformer.ln_f"}},
    {"head", {"lm_head"}},
});
constexpr auto kLlama = std::to_array<Row>({
    {"embedding.tokens", {"model.embed_tokens"}},
    {"attention.norm", {"model.layers.{}.input_layernorm"}},
    {"attention.qkv", {"model.layers.{}.self_attn.q_proj", "model.layers.{}.self_attn.k_proj", "model.layers.{}.self_attn.v_proj"}},
    {"attention.q", {"model.layers.{}.self_attn.q_proj"}},
    {"attention.q_down", {"model.layers.{}.self_attn.q_a_proj"}},
    {"attention.q_norm", {"model.layers.{}.self_attn.q_a_layernorm"}},
    {"attention.q_up", {"model.layers.{}.self_attn.q_b_proj"}},
    {"attention.kv_down", {"model.layers.{}.self_attn.kv_a_proj_with_mqa"}},
    {"attention.kv_norm", {"model.layers.{}.self_attn.kv_a_layernorm"}},
    {"attention.kv_up", {"model.layers.{}.self_attn.kv_b_proj"}},
    {"attention.projection", {"model.layers.{}.self_attn.o_proj"}},
    {"mlp.norm", {"model.layers.{}.post_attention_layernorm"}},
    {"mlp.up", {"model.layers.{}.mlp.gate_proj", "model.layers.{}.mlp.up_proj"}},
    {"mlp.down", {"model.layers.{}.mlp.down_proj"}},
    {"mlp.router", {"model.layers.{}.mlp.gate"}},
    {"mlp.experts.up", {"model.layers.{}.mlp.experts.{e}.gate_proj", "model.layers.{}.mlp.experts.{e}.up_proj"}},
    {"mlp.experts.down", {"model.layers.{}.mlp.experts.{e}.down_proj"}},
    {"mlp.shared.up", {"model.layers.{}.mlp.shared_experts.gate_proj", "model.layers.{}.mlp.shared_experts.up_proj"}},
    {"mlp.shared.down", {"model.layers.{}.mlp.shared_experts.down_proj"}},
    {"head.norm", {"model.norm"}},
    {"head", {"lm_head"}},
});

// In the place of Llama's rows of the same parameters.
constexpr auto kMixtral = std::to_array<Row>({
    {"mlp.router", {"model.layers.{}.block_sparse_moe.gate"}},
    {"mlp.experts.up", {"model.layers.{}.block_sparse_moe.experts.{e}.w1", "model.layers.{}.block_sparse_moe.experts.{e}.w3"}},
    {"mlp.experts.down", {"model.layers.{}.block_sparse_moe.experts.{e}.w2"}},
});

// Families whose classes hold weights that this network has not, or a router that learns otherwise.
struct Foreign {
  std::string_view family, what;
};
constexpr auto kForeign = std::to_array<Foreign>({
    {"qwen2_moe", "a gate in front of the shared expert"},
    {"qwen3_moe", "norms of queries and keys"},
    {"olmoe", "norms of queries and keys"},
    {"grok-1", "norms behind attention and experts"},
    {"kimi_k2", "a correction of the router's scores that is no gradient's"},
    {"deepseek_v3", "a correction of the router's scores that is no gradient's"},
});
// Families whose weights have the names of these tables.
constexpr std::string_view kNamed[] = {"gpt2",  "llama",    "mistral",     "qwen2",       "mixtral", "qwen2_moe", "qwen3_moe",
                                       "olmoe", "deepseek", "deepseek_v2", "deepseek_v3", "kimi_k2", "grok-1"};

void require_known(const sim::ModelConfig& config, const std::string& path) {
  if (std::ranges::find(kNamed, config.model_type) == std::end(kNamed))
    throw sim::InputError(path, {{.where = "model_type",
                                  .problem = fmt::format("is {}, the names of whose weights are not known here", config.model_type),
                                  .remedy = "train without Hugging Face's weights: checkpoints of the run hold its own"}});
  for (const Foreign& foreign : kForeign)
    if (foreign.family == config.model_type && config.experts)
      throw sim::InputError(path,
                            {{.where = "model_type",
                              .problem = fmt::format("{} has {}, which the network trained here has not", foreign.family, foreign.what),
                              .remedy = "use a mixtral, or train without Hugging Face's weights: checkpoints of the run hold its own"}});
  if (config.model_type == "mixtral" && config.experts &&
      (config.experts->shared_ffn > 0 || config.experts->first_dense_layers > 0 || config.experts->expert_ffn != config.ffn))
    throw sim::InputError(path,
                          {{.where = "model_type",
                            .problem = "mixtral has neither shared experts nor dense layers, and its experts are intermediate_size wide",
                            .remedy = "plan a network that its family has; what is left out would be another one"}});
}

// "layers.3.attention.qkv.weight", taken apart.
struct ParameterName {
  std::string block, module, kind;  // "3", "attention.qkv", "weight"
};
ParameterName parse_name(std::string name) {
  ParameterName parsed;
  constexpr std::string_view kLayers = "layers.";
  if (name.starts_with(kLayers)) {
    const std::size_t dot = name.find('.', kLayers.size());
    parsed.block = name.substr(kLayers.size(), dot - kLayers.size());
    name = name.substr(dot + 1);
  }
  const std::size_t last = name.rfind('.');
  parsed.module = name.substr(0, last);
  parsed.kind = name.substr(last + 1);
  return parsed;
}

std::string with_number(std::string name, std::string_view mark, const std::string& number) {
  const std::size_t at = name.find(mark);
  return at == std::string::npos ? name : name.replace(at, mark.size(), number);
}

// Experts one after the other, of each all its pieces.
std::vector<std::string> names_of(const Row& row, const ParameterName& name, std::int64_t experts) {
  const bool is_of_each = row.theirs.front().find(kExpert) != std::string_view::npos;
  std::vector<std::string> names;
  for (std::int64_t expert = 0; expert < (is_of_each ? experts : 1); ++expert)
    for (const std::string_view theirs : row.theirs)
      if (!theirs.empty())
        names.push_back(with_number(with_number(std::string(theirs), "{}", name.block), kExpert, std::to_string(expert)) + "." + name.kind);
  return names;
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
      if (source.transposed) piece = piece.t();
      pieces.push_back(piece.view({piece.size(0), -1}));
    }
    const at::Tensor whole = at::cat(pieces);
    if (whole.size(0) == rows && whole.size(1) == parameter.columns) return whole;
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

// Of the whole network, not of this rank's part alone. A tied head may be written out: then it is the embedding's.
void Weights::require_nothing_left(const sim::ModelGraph& model) {
  std::set<std::string> known;
  for (const sim::Layer& layer : model.layers)
    for (const sim::Parameter& parameter : layer.parameters)
      for (std::string& name : hugging_face_source(model.config, parameter).names) known.insert(std::move(name));
  for (const std::string& name : files_.left_over(known)) {
    if (model.config.tied_embeddings && name == kHead) {
      const at::Tensor embedding = files_.find(model.config.model_type == "gpt2" ? "transformer.wte.weight" : "model.embed_tokens.weight");
      if (embedding.defined() && at::equal(embedding, files_.find(name))) continue;
      refuse_tensor(name, "differs from the embedding, to which the plan's network ties it");
      continue;
    }
    violations_.push_back(
        {.where = name, .problem = "is no weight of the plan's network", .remedy = "plan with the config.json of the weights"});
  }
}

std::int64_t rows_without_padding(const sim::ModelConfig& config, const sim::Parameter& parameter) {
  const bool is_over_vocabulary = parameter.name == "embedding.tokens.weight" || parameter.name == "head.weight";
  return is_over_vocabulary ? config.vocabulary : parameter.rows;
}

void add_pieces(std::vector<NamedTensor>& tensors, const sim::ModelConfig& config, const sim::Parameter& parameter,
                const at::Tensor& flat) {
  const at::Tensor whole = flat.view({parameter.rows, parameter.columns});
  const HuggingFaceSource source = hugging_face_source(config, parameter);
  const std::int64_t rows = rows_without_padding(config, parameter);
  std::int64_t first = 0;
  for (std::size_t at = 0; at < source.names.size(); ++at) {
    const std::int64_t count = source.names.size() == 1 ? rows : parameter.row_blocks[at];
    at::Tensor piece = whole.narrow(0, first, count);
    if (!parameter.weight_decay) piece = piece.squeeze(1);  // a vector
    if (source.transposed) piece = piece.t();
    tensors.push_back({.name = source.names[at], .values = piece.contiguous().clone()});
    first += count;
  }
}

}  // namespace

HuggingFaceSource hugging_face_source(const sim::ModelConfig& config, const sim::Parameter& parameter) {
  const ParameterName name = parse_name(parameter.name);
  HuggingFaceSource source;
  const auto take = [&](const Row& row) {
    if (row.ours != name.module) return;
    source.names = names_of(row, name, config.experts ? config.experts->experts : 1);
    source.transposed = row.is_conv1d && name.kind == "weight";
  };
  if (config.model_type == "gpt2")
    std::ranges::for_each(kGpt2, take);
  else
    std::ranges::for_each(kLlama, take);
  if (config.model_type == "mixtral") std::ranges::for_each(kMixtral, take);
  return source;
}

void load_hugging_face(ParameterStore& parameters, const sim::ModelGraph& model, const std::string& path) {
  const sim::ModelConfig& config = model.config;
  require_known(config, path);
  Weights weights(path);
  if (!require_same_network(path, config))
    fmt::print(stderr, "{}: no config.json beside the weights: their names and shapes are all that is compared with the plan\n", path);
  for (FlatBucket& bucket : parameters.buckets())
    for (const sim::BucketSlot& slot : bucket.layout().slots) {
      const sim::Parameter& parameter = parameters.parameter(slot);
      const at::Tensor whole = weights.read(parameter, hugging_face_source(config, parameter), rows_without_padding(config, parameter));
      if (!whole.defined()) continue;
      const TensorPart place(parameter, parameters.tensor());
      const at::Tensor numbers = whole.to(bucket.master({.begin = bucket.stepped().begin, .count = 0}).scalar_type()).contiguous().view(-1);
      const auto fill = [&](const ParameterStore::SlotPart& part, const at::Tensor& into) {
        const at::Tensor values = at::empty({part.range.count}, numbers.options());
        take_part(values, numbers, place, part.from);
        into.copy_(values);
      };
      const auto resident = ParameterStore::meet(slot, bucket.resident()), stepped = ParameterStore::meet(slot, bucket.stepped());
      if (resident.range.count > 0) fill(resident, bucket.weights_of(resident.range));
      if (stepped.range.count > 0 && bucket.has_master()) fill(stepped, bucket.master(stepped.range));
    }
  weights.require_nothing_left(model);
  weights.require_clean();
}

void export_hugging_face(const std::string& checkpoints, const std::string& folder) {
  const std::string newest = newest_checkpoint(checkpoints);
  const CheckpointIndex index = load_checkpoint_index(newest);
  require_known(index.plan.model, folder);
  const SavedState saved(index, newest);
  std::vector<NamedTensor> tensors;
  for (const sim::Layer& layer : saved.model().layers)
    for (const sim::Parameter& parameter : layer.parameters)
      add_pieces(tensors, index.plan.model, parameter, saved.whole("weight", parameter));
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  const std::string weights = folder + "/model.safetensors", aside = weights + ".part";
  write_safetensors(aside, tensors);
  fs::rename(aside, weights);  // an export that breaks off leaves the older one whole
  save_exported_config(index.plan.model, tensors.front().values.scalar_type(), folder + "/config.json");
  copy_tokenizer(fs::path(checkpoints).parent_path() / "tokenizer", folder);
}

}  // namespace executor
