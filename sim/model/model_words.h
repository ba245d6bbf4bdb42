// What a network may have beyond the plain block (norm, attention, sum; norm, feed-forward, sum), each as one row: for those who build networks
// of their own and must say what they leave out (sim/plan/runnable, sim/recipe). The simulator prices all of them.
#pragma once

#include <span>
#include <string_view>

#include "sim/model/model_config.h"

namespace sim {

struct ModelWord {
  std::string_view name;
  std::string_view what;  // for people
  bool (*stands_in)(const ModelConfig&);
};

std::span<const ModelWord> model_words();

// Queries and keys are normed behind their turn, with weights or without: of layers that do not turn, not at all.
bool norms_turned_heads(const ModelConfig& config);

}  // namespace sim
