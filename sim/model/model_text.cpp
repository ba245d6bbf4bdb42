#include "sim/model/model_text.h"

#include <fmt/format.h>

#include <utility>

#include "sim/model/model_graph.h"

namespace sim {

std::string count_text(std::int64_t count) {
  const auto value = static_cast<double>(count);
  for (const auto& [name, factor] : {std::pair("T", 1e12), std::pair("B", 1e9), std::pair("M", 1e6), std::pair("K", 1e3)})
    if (value >= 0.9995 * factor && count >= 10000) return fmt::format("{:.3g} {}", value / factor, name);
  return fmt::format("{}", count);
}

std::string family_and_size(const ModelConfig& config) {
  return fmt::format("{} ({})", config.model_type, count_text(num_parameters(make_model_graph(config, VocabularyMultiple{1}))));
}

std::string letters_of_layers(const ModelConfig& config) {
  std::string letters;
  for (std::int64_t block = 0; block < config.layers; ++block) {
    const bool experts = config.experts && config.experts->has_experts(block);
    letters += half_of(config, block) == BlockHalf::FeedForward ? (experts ? 'E' : '-') : is_linear(config, block) ? 'M' : '*';
  }
  return letters;
}

}  // namespace sim
