#include "executor/training/hugging_face.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <set>
#include <span>

#include "executor/training/adapter_files.h"
#include "executor/training/hugging_face_files.h"
#include "executor/training/saved_state.h"

namespace executor {
namespace {

namespace fs = std::filesystem;

enum class Layout : std::uint8_t {
  Plain,
  Transposed,  // of GPT-2: weights are [inputs, outputs]
  Groups,      // queries, then the key and the value of each group of heads, group after group
  Neighbours,  // positions turn neighbours (2i, 2i + 1) of a head; ours (i, i + half)
  Packed,      // of all experts in one tensor, [experts, inputs, outputs]
  PackedPairs  // likewise, gate and up in turns
};

// "{}": the number of the block; "{e}": each expert's, one after the other. `ours`: a module, or a parameter whose name has no "weight" there.
struct Row {
  std::string_view ours;
  std::array<std::string_view, 3> theirs;
  Layout layout = Layout::Plain;
};
constexpr std::string_view kExpert = "{e}", kHead = "lm_head.weight";

constexpr auto kGpt2 = std::to_array<Row>({
    {"embedding.tokens", {"transformer.wte"}},
    {"embedding.positions", {"transformer.wpe"}},
    {"attention.norm", {"transformer.h.{}.ln_1"}},
    {"attention.qkv", {"transformer.h.{}.attn.c_attn"}, Layout::Transposed},
    {"attention.projection", {"transformer.h.{}.attn.c_proj"}, Layout::Transposed},
    {"mlp.norm", {"transformer.h.{}.ln_2"}},
    {"mlp.up", {"transformer.h.{}.mlp.c_fc"}, Layout::Transposed},
    {"mlp.down", {"transformer.h.{}.mlp.c_proj"}, Layout::Transposed},
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
    {"attention.q_head_norm", {"model.layers.{}.self_attn.q_norm"}},
    {"attention.k_head_norm", {"model.layers.{}.self_attn.k_norm"}},
    {"attention.sinks", {"model.layers.{}.self_attn.sinks"}},
    {"attention.projection", {"model.layers.{}.self_attn.o_proj"}},
    {"mlp.norm", {"model.layers.{}.post_attention_layernorm"}},
    {"mlp.up", {"model.layers.{}.mlp.gate_proj", "model.layers.{}.mlp.up_proj"}},
    {"mlp.down", {"model.layers.{}.mlp.down_proj"}},
    {"mlp.router", {"model.layers.{}.mlp.gate"}},
    {"mlp.router.correction", {"model.layers.{}.mlp.gate.e_score_correction_bias"}},
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
constexpr auto kQwen2Moe = std::to_array<Row>({
    {"mlp.shared.up", {"model.layers.{}.mlp.shared_expert.gate_proj", "model.layers.{}.mlp.shared_expert.up_proj"}},
    {"mlp.shared.down", {"model.layers.{}.mlp.shared_expert.down_proj"}},
    {"mlp.shared.gate", {"model.layers.{}.mlp.shared_expert_gate"}},
});
constexpr auto kGptOss = std::to_array<Row>({
    {"mlp.router", {"model.layers.{}.mlp.router"}},
    {"mlp.experts.up.weight", {"model.layers.{}.mlp.experts.gate_up_proj"}, Layout::PackedPairs},
    {"mlp.experts.up.bias", {"model.layers.{}.mlp.experts.gate_up_proj_bias"}, Layout::PackedPairs},
    {"mlp.experts.down.weight", {"model.layers.{}.mlp.experts.down_proj"}, Layout::Packed},
    {"mlp.experts.down.bias", {"model.layers.{}.mlp.experts.down_proj_bias"}, Layout::Packed},
});
constexpr auto kGemma2 = std::to_array<Row>({
    {"attention.norm_behind", {"model.layers.{}.post_attention_layernorm"}},
    {"mlp.norm", {"model.layers.{}.pre_feedforward_layernorm"}},
    {"mlp.norm_behind", {"model.layers.{}.post_feedforward_layernorm"}},
});
constexpr auto kPhi3 = std::to_array<Row>({
    {"attention.qkv", {"model.layers.{}.self_attn.qkv_proj"}},
    {"mlp.up", {"model.layers.{}.mlp.gate_up_proj"}},
});
constexpr auto kGlm4 = std::to_array<Row>({
    {"attention.qkv",
     {"model.layers.{}.self_attn.q_proj", "model.layers.{}.self_attn.k_proj", "model.layers.{}.self_attn.v_proj"},
     Layout::Neighbours},
    {"attention.norm_behind", {"model.layers.{}.post_self_attn_layernorm"}},
    {"mlp.norm_behind", {"model.layers.{}.post_mlp_layernorm"}},
    {"mlp.up", {"model.layers.{}.mlp.gate_up_proj"}},
});
constexpr auto kStarcoder2 = std::to_array<Row>({
    {"mlp.up", {"model.layers.{}.mlp.c_fc"}},
    {"mlp.down", {"model.layers.{}.mlp.c_proj"}},
});

constexpr auto kGptNeox = std::to_array<Row>({
    {"embedding.tokens", {"gpt_neox.embed_in"}},
    {"attention.norm", {"gpt_neox.layers.{}.input_layernorm"}},
    {"attention.qkv", {"gpt_neox.layers.{}.attention.query_key_value"}, Layout::Groups},
    {"attention.projection", {"gpt_neox.layers.{}.attention.dense"}},
    {"mlp.norm", {"gpt_neox.layers.{}.post_attention_layernorm"}},
    {"mlp.up", {"gpt_neox.layers.{}.mlp.dense_h_to_4h"}},
    {"mlp.down", {"gpt_neox.layers.{}.mlp.dense_4h_to_h"}},
    {"head.norm", {"gpt_neox.final_layer_norm"}},
    {"head", {"embed_out"}},
});
constexpr auto kBloom = std::to_array<Row>({
    {"embedding.tokens", {"transformer.word_embeddings"}},
    {"embedding.norm", {"transformer.word_embeddings_layernorm"}},
    {"attention.norm", {"transformer.h.{}.input_layernorm"}},
    {"attention.qkv", {"transformer.h.{}.self_attention.query_key_value"}, Layout::Groups},
    {"attention.projection", {"transformer.h.{}.self_attention.dense"}},
    {"mlp.norm", {"transformer.h.{}.post_attention_layernorm"}},
    {"mlp.up", {"transformer.h.{}.mlp.dense_h_to_4h"}},
    {"mlp.down", {"transformer.h.{}.mlp.dense_4h_to_h"}},
    {"head.norm", {"transformer.ln_f"}},
    {"head", {"lm_head"}},
});
constexpr auto kFalconOfTwoNorms = std::to_array<Row>({
    {"attention.norm", {"transformer.h.{}.ln_attn"}},
    {"mlp.norm", {"transformer.h.{}.ln_mlp"}},
});
constexpr auto kOpt = std::to_array<Row>({
    {"embedding.tokens", {"model.decoder.embed_tokens"}},
    {"embedding.positions", {"model.decoder.embed_positions"}},
    {"attention.norm", {"model.decoder.layers.{}.self_attn_layer_norm"}},
    {"attention.qkv",
     {"model.decoder.layers.{}.self_attn.q_proj", "model.decoder.layers.{}.self_attn.k_proj", "model.decoder.layers.{}.self_attn.v_proj"}},
    {"attention.projection", {"model.decoder.layers.{}.self_attn.out_proj"}},
    {"mlp.norm", {"model.decoder.layers.{}.final_layer_norm"}},
    {"mlp.up", {"model.decoder.layers.{}.fc1"}},
    {"mlp.down", {"model.decoder.layers.{}.fc2"}},
    {"head.norm", {"model.decoder.final_layer_norm"}},
    {"head", {"lm_head"}},
});

// Families whose weights have the names of these tables; `instead` of rows of the same parameters.
struct FamilyNames {
  std::string_view family;
  std::span<const Row> rows, instead = {};
};
constexpr FamilyNames kFamilies[] = {
    {"gpt2", kGpt2},
    {"llama", kLlama},
    {"mistral", kLlama},
    {"qwen2", kLlama},
    {"qwen3", kLlama},
    {"gemma", kLlama},
    {"gemma2", kLlama, kGemma2},
    {"gemma3_text", kLlama, kGemma2},
    {"olmo2", kLlama, kGemma2},
    {"phi3", kLlama, kPhi3},
    {"glm4", kLlama, kGlm4},
    {"starcoder2", kLlama, kStarcoder2},
    {"mixtral", kLlama, kMixtral},
    {"qwen2_moe", kLlama, kQwen2Moe},
    {"qwen3_moe", kLlama},
    {"olmoe", kLlama},
    {"gpt_oss", kLlama, kGptOss},
    {"glm4_moe", kLlama},
    {"deepseek", kLlama},
    {"deepseek_v2", kLlama},
    {"deepseek_v3", kLlama},
    {"kimi_k2", kLlama},
    {"gpt_neox", kGptNeox},
    {"bloom", kBloom},
    {"falcon", kBloom},
    {"opt", kOpt},
};

const FamilyNames* find_names(const sim::ModelConfig& config) {
  const auto* found = std::ranges::find(kFamilies, std::string_view(config.model_type), &FamilyNames::family);
  return found == std::end(kFamilies) ? nullptr : found;
}

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

// "layers.3.attention.qkv.weight", taken apart.
struct ParameterName {
  std::string block, module, kind;  // "3", "attention.qkv", "weight"
  std::string whole() const { return module + "." + kind; }
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
  const std::string kind = row.ours == name.module ? "." + name.kind : "";
  std::vector<std::string> names;
  for (std::int64_t expert = 0; expert < (is_of_each ? experts : 1); ++expert)
    for (const std::string_view theirs : row.theirs)
      if (!theirs.empty())
        names.push_back(with_number(with_number(std::string(theirs), "{}", name.block), kExpert, std::to_string(expert)) + kind);
  return names;
}

const Row* find_row(std::span<const Row> rows, const ParameterName& name) {
  auto row = std::ranges::find(rows, name.whole(), &Row::ours);
  if (row == rows.end()) row = std::ranges::find(rows, name.module, &Row::ours);
  return row == rows.end() ? nullptr : &*row;
}

// Their row of each of ours.
std::vector<std::int64_t> rows_by_group(const sim::ModelConfig& config) {
  const std::int64_t width = config.head_dim, each = config.heads / config.kv_heads;
  std::vector<std::int64_t> rows;
  const auto add_head = [&](std::int64_t group, std::int64_t place) {
    for (std::int64_t at = 0; at < width; ++at) rows.push_back((group * (each + 2) + place) * width + at);
  };
  for (std::int64_t head = 0; head < config.heads; ++head) add_head(head / each, head % each);
  for (const std::int64_t place : {each, each + 1})
    for (std::int64_t group = 0; group < config.kv_heads; ++group) add_head(group, place);
  return rows;
}
std::vector<std::int64_t> rows_by_neighbours(const sim::ModelConfig& config) {
  const std::int64_t width = config.head_dim, turned = sim::rotary_width(config);
  std::vector<std::int64_t> rows;
  for (std::int64_t head = 0; head < config.heads + 2 * config.kv_heads; ++head)
    for (std::int64_t at = 0; at < width; ++at) {
      const bool turns = head < config.heads + config.kv_heads && at < turned;
      rows.push_back(head * width + (turns ? at % (turned / 2) * 2 + at / (turned / 2) : at));
    }
  return rows;
}
std::vector<std::int64_t> rows_of_pairs(const sim::ExpertForm& form) {
  std::vector<std::int64_t> rows;
  for (std::int64_t expert = 0; expert < form.experts; ++expert)
    for (std::int64_t at = 0; at < 2 * form.expert_ffn; ++at)
      rows.push_back(expert * 2 * form.expert_ffn + at % form.expert_ffn * 2 + at / form.expert_ffn);
  return rows;
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
  if (is_vector) return rows.squeeze(1);
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

// Of the whole network, not of this rank's part alone. A tied head may be written out: then it is the embedding's.
void Weights::require_nothing_left(const sim::ModelGraph& model) {
  std::set<std::string> known;
  for (const sim::Layer& layer : model.layers)
    for (const sim::Parameter& parameter : layer.parameters)
      for (std::string& name : hugging_face_source(model.config, parameter).names) known.insert(std::move(name));
  for (const std::string& name : files_.left_over(known)) {
    if (model.config.tied_embeddings && name == kHead) {
      const at::Tensor embedding = files_.find(hugging_face_source(model.config, model.layers.front().parameters.front()).names.front());
      if (embedding.defined() && at::equal(embedding, files_.find(name))) continue;
      refuse_tensor(name, "differs from the embedding, to which the plan's network ties it");
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

HuggingFaceSource hugging_face_source(const sim::ModelConfig& config, const sim::Parameter& parameter) {
  const ParameterName name = parse_name(parameter.name);
  HuggingFaceSource source;
  const FamilyNames* names = find_names(config);
  if (names == nullptr) return source;
  const bool has_two_norms = config.model_type == "falcon" && config.parallel_blocks && !config.shared_norm;
  const Row* row = find_row(has_two_norms ? std::span<const Row>(kFalconOfTwoNorms) : names->instead, name);
  if (row == nullptr) row = find_row(names->rows, name);
  if (row == nullptr) return source;
  source.names = names_of(*row, name, config.experts ? config.experts->experts : 1);
  source.transposed = row->layout == Layout::Transposed && name.kind == "weight";
  if (row->layout == Layout::Groups) source.rows = rows_by_group(config);
  if (row->layout == Layout::Neighbours) source.rows = rows_by_neighbours(config);
  if (row->layout == Layout::PackedPairs) source.rows = rows_of_pairs(*config.experts);
  if (row->layout == Layout::Packed || row->layout == Layout::PackedPairs) source.experts = config.experts->experts;
  return source;
}

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
      if (whole.defined()) put_whole(parameters, bucket, slot, whole);
    }
  weights.require_nothing_left(model);
  weights.require_clean();
  if (config.adapters) parameters.fill_trained_values();
}

void put_whole(ParameterStore& parameters, FlatBucket& bucket, const sim::BucketSlot& slot, const at::Tensor& whole) {
  if (bucket.is_packed())
    return parameters.put_frozen(bucket, slot, whole.to(c10::typeMetaToScalarType(parameters.options().dtype())).contiguous().view(-1));
  const TensorPart place(parameters.parameter(slot), parameters.tensor());
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
  write_weights(tensors, folder, "model.safetensors");
  save_exported_config(index.plan.model, tensors.front().values.scalar_type(), folder + "/config.json");
}

}  // namespace executor
