#include "executor/training/hugging_face_source.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "executor/training/hugging_face_names.h"

namespace executor {
namespace {

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

// Blocks of an encoder and a decoder are numbered stack by stack, and a layer of the decoder is two (sim/model/encoder_form.h).
ParameterName in_stack(ParameterName name, const sim::ModelConfig& config) {
  if (!config.encoder || name.block.empty()) return name;
  const std::int64_t block = std::stoll(name.block), first = config.encoder->layers;
  const bool reads_source = sim::attends_to_source(config, block) && name.module.starts_with("attention");
  if (config.gated_mlp && name.module == "mlp.up") name.module = "mlp.gate_up";
  name.module = (block < first ? "encoder." : reads_source ? "source." : "decoder.") + name.module;
  if (block >= first) name.block = std::to_string((block - first) / 2);
  return name;
}

std::string with_number(std::string name, std::string_view mark, const std::string& number) {
  const std::size_t at = name.find(mark);
  return at == std::string::npos ? name : name.replace(at, mark.size(), number);
}

// Experts one after the other, of each all its pieces.
std::vector<std::string> names_of(const WeightRow& row, const ParameterName& name, std::int64_t experts) {
  const bool is_of_each = row.theirs.front().find(kExpertMark) != std::string_view::npos;
  const std::string kind = row.ours == name.module ? "." + name.kind : "";
  std::vector<std::string> names;
  for (std::int64_t expert = 0; expert < (is_of_each ? experts : 1); ++expert)
    for (const std::string_view theirs : row.theirs)
      if (!theirs.empty())
        names.push_back(with_number(with_number(std::string(theirs), "{}", name.block), kExpertMark, std::to_string(expert)) + kind);
  return names;
}

const WeightRow* find_row(std::span<const WeightRow> rows, const ParameterName& name) {
  auto row = std::ranges::find(rows, name.whole(), &WeightRow::ours);
  if (row == rows.end()) row = std::ranges::find(rows, name.module, &WeightRow::ours);
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
// Of each head that turns, of queries and keys, the numbers that turn: `from`(at, turned) says where number `at` of them comes from.
template <class From>
std::vector<std::int64_t> rows_of_turned(const sim::ModelConfig& config, From from) {
  const std::int64_t width = config.head_dim, turned = sim::rotary_width(config);
  std::vector<std::int64_t> rows;
  for (std::int64_t head = 0; head < config.heads + 2 * config.kv_heads; ++head)
    for (std::int64_t at = 0; at < width; ++at) {
      const bool turns = head < config.heads + config.kv_heads && at < turned;
      rows.push_back(head * width + (turns ? from(at, turned) : at));
    }
  return rows;
}
std::vector<std::int64_t> rows_by_neighbours(const sim::ModelConfig& config) {
  return rows_of_turned(config, [](std::int64_t at, std::int64_t turned) { return at % (turned / 2) * 2 + at / (turned / 2); });
}
std::vector<std::int64_t> rows_backwards(const sim::ModelConfig& config) {
  return rows_of_turned(config, [](std::int64_t at, std::int64_t turned) { return (at + turned / 2) % turned; });
}
// What turns is a head's last numbers, and the last ones behind the narrow vector of keys and values.
std::vector<std::int64_t> rows_by_halves(const sim::ModelConfig& config, const sim::Parameter& parameter) {
  const bool is_of_all_heads = parameter.name.find("kv_down") != std::string::npos;
  const std::int64_t turned = config.attention.qk_rope, width = is_of_all_heads ? parameter.rows : config.attention.key_width();
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < parameter.rows; ++row) {
    const std::int64_t at = row % width - (width - turned);
    rows.push_back(at < 0 ? row : row - at + at / 2 + at % 2 * (turned / 2));
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

}  // namespace

HuggingFaceSource hugging_face_source(const sim::ModelConfig& config, const sim::Parameter& parameter) {
  const ParameterName name = in_stack(parse_name(parameter.name), config);
  HuggingFaceSource source;
  const FamilyNames* names = find_names(config);
  if (names == nullptr) return source;
  const bool has_two_norms = config.model_type == "falcon" && config.parallel_blocks && !config.shared_norm;
  const WeightRow* row = find_row(has_two_norms ? names_of_two_norms() : names->instead, name);
  if (row == nullptr) row = find_row(names->rows, name);
  if (row == nullptr) return source;
  source.names = names_of(*row, name, config.experts ? config.experts->experts : 1);
  source.transposed = row->layout == WeightLayout::Transposed && (name.kind == "weight" || row->ours == name.whole());
  if (row->layout == WeightLayout::Groups) source.rows = rows_by_group(config);
  if (row->layout == WeightLayout::Neighbours) source.rows = rows_by_neighbours(config);
  if (row->layout == WeightLayout::Halves) source.rows = rows_by_halves(config, parameter);
  if (row->layout == WeightLayout::Backwards) source.rows = rows_backwards(config);
  if (row->layout == WeightLayout::PackedPairs) source.rows = rows_of_pairs(*config.experts);
  if (row->layout == WeightLayout::Packed || row->layout == WeightLayout::PackedPairs) source.experts = config.experts->experts;
  return source;
}

}  // namespace executor
