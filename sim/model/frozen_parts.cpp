#include "sim/model/frozen_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "sim/model/model_graph.h"
#include "sim/units/at.h"
#include "sim/units/number_text.h"

namespace sim {
namespace {

using enum FrozenPart;

constexpr std::int64_t kMostFrozen = 100'000;

void read_parts(const std::string& word, FrozenParts& frozen, std::vector<Violation>& violations) {
  std::istringstream names(word);
  for (std::string name; std::getline(names, name, ',');) {
    const auto* const found = std::ranges::find(kFrozenPartNames, name);
    if (found == std::end(kFrozenPartNames))
      violations.push_back({name, "is no module of a network", fmt::format("use {}, or first 8", fmt::join(kFrozenPartNames, ", "))});
    else
      frozen = frozen.with(static_cast<FrozenPart>(found - std::begin(kFrozenPartNames)));
  }
}

void read_first(const std::string& text, FrozenParts& frozen, std::vector<Violation>& violations) {
  const auto first = number_in<decltype(frozen.first)>(text, 1, kMostFrozen);
  frozen.first = first.value_or(0);
  if (!first) violations.push_back({"first " + text, "is no number of blocks", "use one like first 8"});
}

bool holds(const FrozenParts& frozen, const ModelGraph& model, LayerIndex layer, bool of_attention) {
  if (layer == LayerIndex(0)) return frozen.has(Embedding) || frozen.first > 0;
  if (layer == model.head()) return frozen.has(Head);
  return layer.value() <= frozen.first || frozen.has(of_attention ? Attention : Mlp);
}

void freeze_layer(Layer& layer, const FrozenParts& frozen, const ModelGraph& model, LayerIndex index) {
  for (Parameter& parameter : layer.parameters) {
    const bool of_attention = parameter.name.find(".attention.") != std::string::npos;
    parameter.frozen = holds(frozen, model, index, of_attention) || (frozen.has(Norms) && parameter.norm);
  }
  const bool reads_frozen_table = index == model.head() && model.config.tied_embeddings && model.layers.front().parameters.front().frozen;
  for (SegmentGraph& segment : layer.segments)
    for (Operator& op : segment.operators) {
      const bool reads_table = reads_frozen_table && op.kind == OperatorKind::Linear && op.outputs == model.padded_vocabulary;
      const bool is_part = holds(frozen, model, index, segment.name == Operation::Attention);
      op.frozen = is_part || reads_table || (frozen.has(Norms) && op.kind == OperatorKind::Norm);
    }
}

bool trains(const Layer& layer) {
  return std::ranges::any_of(layer.parameters, [](const Parameter& parameter) { return !parameter.frozen; });
}

}  // namespace

std::string to_text(const FrozenParts& frozen) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < std::size(kFrozenPartNames); ++at)
    if (frozen.has(static_cast<FrozenPart>(at))) names.push_back(kFrozenPartNames[at]);
  const std::string first = frozen.first > 0 ? fmt::format("first {}", frozen.first) : "";
  return fmt::format("{}{}{}", fmt::join(names, ","), names.empty() || first.empty() ? "" : " ", first);
}

FrozenParts parse_frozen_parts(std::string_view text, std::vector<Violation>& violations) {
  std::istringstream words{std::string(text)};
  FrozenParts frozen;
  for (std::string word, count; words >> word;) {
    if (word != "first") {
      read_parts(word, frozen, violations);
      continue;
    }
    if (!(words >> count)) count.clear();
    read_first(count, frozen, violations);
  }
  return frozen;
}

void freeze(ModelGraph& model) {
  if (!model.config.frozen.any()) return;
  for (LayerIndex layer{0}; layer <= model.head(); ++layer) freeze_layer(model.layers[layer.position()], model.config.frozen, model, layer);
  bool is_in_front = true;  // of everything that is trained
  for (Layer& layer : model.layers) {
    const bool begins = is_in_front && trains(layer);
    layer.backward = begins && &layer != &model.layers.front() ? BackwardReach::Ends
                     : is_in_front && !begins                  ? BackwardReach::None
                                                               : BackwardReach::Passes;
    if (begins) is_in_front = false;
  }
}

std::vector<Violation> frozen_violations(const ModelConfig& config) {
  std::vector<Violation> found;
  const FrozenParts& frozen = config.frozen;
  if (!frozen.any()) return found;
  const auto refuse = [&](bool is_wrong, std::string problem, std::string remedy) {
    if (is_wrong) found.push_back({"/workload/frozen", std::move(problem), std::move(remedy)});
  };
  refuse(config.adapters.has_value(), "names modules, and adapters freeze all of the network beside them", "leave one of both out");
  refuse(config.convolution.has_value(), "names modules of blocks, and a convolutional network has stages", "train all weights");
  refuse(config.encoder.has_value(), "is not known of an encoder with its decoder", "train all weights");
  refuse(config.mtp_layers > 0, "is not known of blocks that predict further tokens", "leave mtp_layers out");
  refuse(config.linear.has_value() || config.shared_kv_layers > 0 || config.layer_inputs > 0 || !config.halves.empty() ||
             config.attention.is_sparse(),
         "names modules of blocks of attention and a feed-forward, and this network has others", "train all weights");
  refuse(config.tied_embeddings && frozen.has(Head) && !frozen.has(Embedding) && frozen.first == 0,
         "names the head, which reads the embedding's table", "freeze the embedding, too, or neither");
  refuse(frozen.first > config.layers, fmt::format("names the first {} blocks of {}", frozen.first, config.layers), "name fewer");
  const bool all_blocks = frozen.first >= config.layers || (frozen.has(Attention) && frozen.has(Mlp));
  const bool trains_head = !frozen.has(Head) && !(config.tied_embeddings && (frozen.has(Embedding) || frozen.first > 0));
  const bool trains_embedding = !frozen.has(Embedding) && frozen.first == 0;
  refuse(all_blocks && !trains_head && !trains_embedding, "leaves nothing to train but norms", "name fewer modules");
  return found;
}

}  // namespace sim
