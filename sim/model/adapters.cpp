#include "sim/model/adapters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "sim/model/model_config.h"
#include "sim/model/segment.h"
#include "sim/units/at.h"
#include "sim/units/number_text.h"

namespace sim {
namespace {

constexpr std::int64_t kMostRank = 100'000;

template <std::size_t N>
std::optional<std::size_t> place_in(const std::string_view (&names)[N], std::string_view name) {
  const auto* const found = std::ranges::find(names, name);
  return found == std::end(names) ? std::nullopt : std::optional(static_cast<std::size_t>(found - names));
}

void read_count(const std::string& word, const std::string& text, std::int64_t& count, std::vector<Violation>& violations) {
  if (const auto read = number_in<std::int64_t>(text, 1, kMostRank))
    count = *read;
  else
    violations.push_back({word + " " + text, fmt::format("is no whole number from 1 to {}", kMostRank), "use one like 16"});
}
void read_rank(const std::string& text, Adapters& adapters, std::vector<Violation>& violations) {
  read_count("rank", text, adapters.rank, violations);
}
void read_alpha(const std::string& text, Adapters& adapters, std::vector<Violation>& violations) {
  read_count("alpha", text, adapters.alpha, violations);
}

void read_targets(const std::string& text, Adapters& adapters, std::vector<Violation>& violations) {
  std::istringstream names(text);
  for (std::string name; std::getline(names, name, ',');)
    if (const auto target = place_in(kAdapterTargetNames, name))
      adapters = adapters.on(static_cast<AdapterTarget>(*target));
    else
      violations.push_back({name, "is no product of a block", fmt::format("use {}", fmt::join(kAdapterTargetNames, ", "))});
}

void read_base(const std::string& text, Adapters& adapters, std::vector<Violation>& violations) {
  if (const auto base = place_in(kBaseFormatNames, text))
    adapters.base = static_cast<BaseFormat>(*base);
  else
    violations.push_back({"base " + text, "is no format of frozen weights", fmt::format("use {}", fmt::join(kBaseFormatNames, ", "))});
}

void read_dropout(const std::string& text, Adapters& adapters, std::vector<Violation>& violations) {
  char* end = nullptr;
  const double share = std::strtod(text.c_str(), &end);
  if (!text.empty() && *end == 0 && share >= 0 && share < 1)
    adapters.dropout = share;
  else
    violations.push_back({"dropout " + text, "is no share from 0 to below 1", "use one like 0.05"});
}

struct AdapterWord {
  std::string_view name;
  void (*read)(const std::string& text, Adapters& adapters, std::vector<Violation>& violations);
};
constexpr AdapterWord kAdapterWords[] = {
    {"rank", read_rank}, {"alpha", read_alpha}, {"on", read_targets}, {"base", read_base}, {"dropout", read_dropout}};

// Targets of `single` are pairs of their own, `joint` is one for all of their widths.
struct Single {
  AdapterTarget target;
  std::int64_t outputs;
};
AdapterPairs pairs_of(const Adapters& adapters, AdapterTarget joint, std::initializer_list<Single> single) {
  AdapterPairs found;
  std::int64_t begin = 0;
  for (const auto& [target, outputs] : single) {
    if (adapters.has(target) || adapters.has(joint)) {
      ++found.pairs;
      found.outputs += outputs;
      found.blocks.push_back({begin, outputs});
    }
    begin += outputs;
  }
  if (adapters.has(joint)) found.pairs = 1;
  return found;
}

}  // namespace

double base_bytes(BaseFormat base, double of_weights) {
  switch (base) {
    case BaseFormat::Int8:
    case BaseFormat::Fp8: return 1;
    case BaseFormat::Int4: return 0.5 + 2.5 / 128;
    case BaseFormat::Nf4: return 0.5 + (1 + 4.0 / 256) / 64;
    case BaseFormat::Weights: break;
  }
  return of_weights;
}

std::string to_text(const std::optional<Adapters>& adapters) {
  if (!adapters) return "";
  std::vector<std::string_view> targets;
  for (std::size_t at = 0; at < std::size(kAdapterTargetNames); ++at)
    if (adapters->has(static_cast<AdapterTarget>(at))) targets.push_back(kAdapterTargetNames[at]);
  const std::string base = adapters->base == BaseFormat::Weights ? "" : fmt::format(" base {}", sim::at(kBaseFormatNames, adapters->base));
  const std::string alpha = adapters->alpha == 0 ? "" : fmt::format(" alpha {}", adapters->alpha);
  const std::string dropout = adapters->dropout > 0 ? fmt::format(" dropout {}", adapters->dropout) : "";
  return fmt::format("rank {}{} on {}{}{}", adapters->rank, alpha, fmt::join(targets, ","), base, dropout);
}

std::optional<Adapters> parse_adapters(std::string_view text, std::vector<Violation>& violations) {
  std::istringstream words{std::string(text)};
  Adapters adapters;
  std::string word, value;
  while (words >> word) {
    const auto* const known = std::ranges::find(kAdapterWords, word, &AdapterWord::name);
    if (known == std::end(kAdapterWords)) {
      violations.push_back({word, "is no word of adapters", "write them like \"rank 16 on q,k,v,o base nf4\""});
      continue;
    }
    if (!(words >> value)) value.clear();
    known->read(value, adapters, violations);
  }
  const bool says_something = text.find_first_not_of(' ') != std::string_view::npos;
  if (says_something && adapters.targets == 0 && violations.empty())
    violations.push_back({std::string(text), "names no product to adapt", "say which, like \"on q,k,v,o\""});
  return says_something ? std::optional(adapters) : std::nullopt;
}

AdapterPairs adapter_pairs(const ModelConfig& config, const Operator& op) {
  using enum AdapterTarget;
  if (!config.adapters || op.experts > 0) return {};
  const AttentionWidths widths = attention_widths(op.heads, 1);
  if (op.name == "qkv" && op.heads.made_before) return pairs_of(*config.adapters, Joint, {{Query, widths.query}});
  if (op.name == "qkv" && op.heads.one_product) return pairs_of(*config.adapters, Joint, {{Query, widths.query}, {Key, widths.key}});
  if (op.name == "qkv") return pairs_of(*config.adapters, Joint, {{Query, widths.query}, {Key, widths.key}, {Value, widths.value}});
  if (op.name == "projection" && op.split == TensorSplit::Columns) return pairs_of(*config.adapters, Output, {{Output, op.outputs}});
  if (op.name == "up" && config.gated_mlp) return pairs_of(*config.adapters, Wide, {{Gate, op.outputs / 2}, {Up, op.outputs / 2}});
  if (op.name == "up") return pairs_of(*config.adapters, Wide, {{Up, op.outputs}});
  if (op.name == "down") return pairs_of(*config.adapters, Down, {{Down, op.outputs}});
  return {};
}

std::vector<Violation> adapter_violations(const ModelConfig& config) {
  using enum AdapterTarget;
  std::vector<Violation> found;
  if (!config.adapters) return found;
  const Adapters& adapters = *config.adapters;
  const auto refuse = [&](std::string problem, std::string remedy) {
    found.push_back({"/workload/adapters", std::move(problem), std::move(remedy)});
  };
  const bool of_attention = adapters.has(Query) || adapters.has(Key) || adapters.has(Value) || adapters.has(Joint);
  const bool of_mlp = adapters.has(Gate) || adapters.has(Up) || adapters.has(Wide) || adapters.has(Down);
  if (config.convolution) refuse("adapters stand beside products, and a convolutional network has none in its layers", "train all weights");
  if (of_attention && config.attention.kind == AttentionKind::Latent)
    refuse("latent attention makes queries, keys and values by way of narrow vectors, whose products have no adapters here", "adapt o");
  if (adapters.has(Joint) && (adapters.has(Query) || adapters.has(Key) || adapters.has(Value)))
    refuse("qkv is one product, and q, k, v are its pieces", "name the one or the others");
  if (adapters.has(Wide) && (adapters.has(Gate) || adapters.has(Up)))
    refuse("gate_up is one product, and gate and up are its pieces", "name the one or the others");
  if (adapters.has(Gate) && !config.gated_mlp) refuse("the network's feed-forwards have no gate", "adapt up and down");
  if (of_mlp && config.experts) refuse("experts have no adapters here", "adapt products of attention");
  if (adapters.rank > std::min(config.hidden, config.ffn))
    refuse(fmt::format("rank {} is above the network's widths", adapters.rank), "use a rank like 16");
  return found;
}

}  // namespace sim
