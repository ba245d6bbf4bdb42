// Parts of a network that are not trained, beside the rest, which is: no gradients, no optimizer states, no masters of them, and no rank reduces anything of
// them. In front of the first layer that trains something nothing goes backward, and nothing is kept for it (PyTorch: requires_grad_(False), of which autograd
// makes the same). One value with one text, which plan file, command line and tables share:
//
//   ""                  everything is trained
//   "embedding,norms"   the tables of tokens and positions; all norms
//   "first 8"           so many blocks, and the embedding
//   "mlp first 8"       those blocks, and the feed-forwards of the rest
//
// A parameter that two parts hold is frozen with either. A head that reads the embedding's table is frozen with that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/index.h"
#include "sim/units/input_error.h"

namespace sim {

// Mlp: with router and experts. Norms: of queries and keys, too.
enum class FrozenPart : std::uint8_t { Embedding, Head, Norms, Attention, Mlp };
inline constexpr std::string_view kFrozenPartNames[] = {"embedding", "head", "norms", "attention", "mlp"};

struct FrozenParts {
  std::uint32_t parts = 0;  // a bit each
  std::int64_t first = 0;   // blocks, and the embedding in front of them
  bool any() const { return parts != 0 || first > 0; }
  bool has(FrozenPart part) const { return (parts >> static_cast<std::uint32_t>(part) & 1) != 0; }
  FrozenParts with(FrozenPart part) const { return {.parts = parts | 1U << static_cast<std::uint32_t>(part), .first = first}; }
  bool operator==(const FrozenParts&) const = default;
};

std::string to_text(const FrozenParts& frozen);
// What is wrong is told in `violations`, by word.
FrozenParts parse_frozen_parts(std::string_view text, std::vector<Violation>& violations);

struct ModelConfig;
struct ModelGraph;
// Marks parameters and operators, and says of each layer how far a backward comes.
void freeze(ModelGraph& model);
std::vector<Violation> frozen_violations(
    const ModelConfig& config);  // parts that the network has not, or that share weights; at "/workload/frozen"

}  // namespace sim
