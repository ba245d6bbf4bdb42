// Unigram: of all ways to cut a piece into tokens the one whose sum of log-probabilities is the highest (Kudo 2018).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/tokenizer/tokenizer.h"

namespace sim {

struct UnigramPieces {
  std::vector<std::pair<std::string, double>> pieces;  // with their log-probabilities, by id
  std::optional<std::uint32_t> unknown{};
  bool falls_back_to_bytes = false;
};

Tokenizer::Model unigram_model(UnigramPieces unigram);

}  // namespace sim
