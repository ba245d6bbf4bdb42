#include "sim/recipe/torchtitan_scales.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace sim {
namespace {

constexpr std::string_view kSmall = "auto_filter_small_kn";

// A linear layer of a block, by its name there.
struct TorchLinear {
  std::string name;
  ProductPart part{};
  std::int64_t inputs = 0, outputs = 0;
};
using TorchLinears = std::vector<TorchLinear>;

// Names in a list of texts, however it is written: ["output", "attention.wk"], output,attention.wk
std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names{""};
  for (const char letter : list)
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '.')
      names.back() += letter;
    else if (!names.back().empty())
      names.emplace_back();
  if (names.back().empty()) names.pop_back();
  return names;
}

void add_latent(TorchLinears& all, const ModelConfig& model) {
  const AttentionForm& form = model.attention;
  const std::int64_t hidden = model.hidden, query = model.heads * (form.qk_nope + form.qk_rope);
  if (form.q_lora > 0) {
    all.push_back({"attention.wq_a", ProductPart::Attention, hidden, form.q_lora});
    all.push_back({"attention.wq_b", ProductPart::Attention, form.q_lora, query});
  } else {
    all.push_back({"attention.wq", ProductPart::Attention, hidden, query});
  }
  all.push_back({"attention.wkv_a", ProductPart::Keys, hidden, form.kv_lora + form.qk_rope});
  all.push_back({"attention.wkv_b", ProductPart::Keys, form.kv_lora, model.heads * (form.qk_nope + form.v_dim)});
  all.push_back({"attention.wo", ProductPart::Attention, model.heads * form.v_dim, hidden});
}

void add_usual(TorchLinears& all, const ModelConfig& model) {
  const AttentionWidths widths = attention_widths(model);
  all.push_back({"attention.wq", ProductPart::Attention, model.hidden, widths.query});
  all.push_back({"attention.wk", ProductPart::Keys, model.hidden, widths.key});
  all.push_back({"attention.wv", ProductPart::Keys, model.hidden, widths.value});
  all.push_back({"attention.wo", ProductPart::Attention, widths.output, model.hidden});
}

void add_feed_forward(TorchLinears& all, const ModelConfig& model, const std::string& name, std::int64_t ffn) {
  if (ffn == 0) return;
  for (const char* const up : {"w1", "w3"}) all.push_back({name + up, ProductPart::Mlp, model.hidden, ffn});
  all.push_back({name + "w2", ProductPart::Mlp, ffn, model.hidden});
}

TorchLinears linears_of(const ModelConfig& model) {
  TorchLinears all;
  model.attention.kind == AttentionKind::Latent ? add_latent(all, model) : add_usual(all, model);
  if (!model.experts || model.experts->first_dense_layers > 0) add_feed_forward(all, model, "feed_forward.", model.ffn);
  if (model.experts) add_feed_forward(all, model, "moe.shared_experts.", model.experts->shared_ffn);
  return all;
}

// torchao calls the rows of a weight K and its columns N, which are outputs and inputs.
bool is_small(const TorchLinear& linear, bool by_rows) {
  if (!by_rows) return linear.outputs <= 4096 && linear.inputs <= 1024;
  return linear.inputs <= 2048 || linear.outputs <= 1024 || (linear.inputs <= 4096 && linear.outputs <= 2048);
}

bool is_named(std::string_view name, const std::vector<std::string>& filters) {
  return std::ranges::any_of(filters, [&](const std::string& filter) { return name.find(filter) != std::string_view::npos; });
}

// By the converters' names: "float8", "quantize.linear.mx", "quantize.grouped_mm.float8"; of releases before them by a switch.
bool converts_linears(const Draft& draft) {
  const std::vector<std::string> names = names_in(text_of(draft, "model.converters", ""));
  return names.empty() || std::ranges::any_of(names, [](const std::string& name) {
           return name == "float8" || name == "mx" || name.find("linear") != std::string::npos;
         });
}
bool converts_experts(Draft& draft, const std::string& section) {
  const std::string names = text_of(draft, section + ".moe_fqns_prototype", "");
  const bool names_them = names.find("experts") != std::string::npos;
  if (!names_in(names).empty() && !names_them)
    draft.notes.push_back(
        {section + ".moe_fqns_prototype", fmt::format("names {}, and no experts", names), "name experts, if they are meant"});
  return names_them || text_of(draft, "model.converters", "").find("grouped_mm." + section) != std::string::npos;
}
// Functions of the registry say what they convert themselves: all products of blocks.
bool says_converters(const Draft& draft) {
  return said(draft, "model.converters") != nullptr || flag_of(draft, "float8.enable_float8_linear", false);
}

class Converter {
 public:
  explicit Converter(const Draft& draft)
      : section_(draft.scales == ScaleRecipe::Mx ? "mx" : "float8"),
        filters_(names_in(text_of(draft, section_ + ".filter_fqns", ""))),
        by_rows_(draft.scales == ScaleRecipe::Rowwise),
        leaves_small_(std::erase(filters_, std::string(kSmall)) > 0),
        is_on_(converts_linears(draft)) {}

  const std::string& section() const { return section_; }
  bool leaves(const TorchLinear& linear) const {
    constexpr std::int64_t kMultiple = 16;
    return !is_on_ || linear.inputs % kMultiple != 0 || linear.outputs % kMultiple != 0 || is_named("layers.0." + linear.name, filters_) ||
           (leaves_small_ && is_small(linear, by_rows_));
  }
  // Names that are of no layer here; router and head always stay in 16 bit.
  std::vector<std::string> unknown(const TorchLinears& linears) const {
    std::vector<std::string> names;
    std::ranges::copy_if(filters_, std::back_inserter(names), [&](const std::string& filter) {
      const auto is_in = [&](std::string_view name) { return name.find(filter) != std::string_view::npos; };
      const bool is_of_block = std::ranges::any_of(linears, [&](const TorchLinear& one) { return is_in("layers.0." + one.name); });
      return !is_of_block && !is_in("output") && !is_in("lm_head") && !is_in("moe.router.gate");
    });
    return names;
  }
  bool leaves_head() const { return !is_on_ || is_named("output", filters_) || is_named("lm_head", filters_); }

 private:
  std::string section_;
  std::vector<std::string> filters_;
  bool by_rows_, leaves_small_, is_on_;
};

}  // namespace

ProductParts unscaled_by_torchao(Draft& draft) {
  if (!says_converters(draft)) return {};
  const Converter converter(draft);
  const std::string filters = converter.section() + ".filter_fqns";
  const TorchLinears linears = linears_of(draft.plan.model);
  ProductParts parts;
  for (const ProductPart part : {ProductPart::Keys, ProductPart::Attention, ProductPart::Mlp}) {
    const auto is_of = [&](const TorchLinear& linear) {
      return linear.part == part || (part == ProductPart::Attention && linear.part == ProductPart::Keys);
    };
    const bool leaves_all = std::ranges::all_of(linears, [&](const TorchLinear& one) { return !is_of(one) || converter.leaves(one); });
    if (leaves_all && std::ranges::any_of(linears, is_of)) parts = parts.with(part);
  }
  if (draft.plan.model.experts && !converts_experts(draft, converter.section())) parts = parts.with(ProductPart::Experts);
  if (const std::vector<std::string> unknown = converter.unknown(linears); !unknown.empty())
    draft.notes.push_back({filters,
                           fmt::format("names {}, and no linear layer of this network has that in its name", fmt::join(unknown, ", ")),
                           "correct it, if one is meant"});
  std::vector<std::string> lost;
  for (const TorchLinear& linear : linears)
    if (converter.leaves(linear) && !parts.has(linear.part)) lost.push_back(linear.name);
  if (!lost.empty())
    draft.lost.push_back(
        {filters, fmt::format("leaves {} in 16 bit, and not all of attention's or of the feed-forward's products", fmt::join(lost, ", ")),
         "mind their time; in the plan they are in 8 bit"});
  return parts;
}

bool scales_head_by_torchao(const Draft& draft) {
  return says_converters(draft) && draft.scales != ScaleRecipe::Delayed && !Converter(draft).leaves_head();
}

}  // namespace sim
