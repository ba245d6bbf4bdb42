// Under which names, and in which layout, Hugging Face's transformers keeps the weights of a family: a row of a table each.
// Not for other rooms.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/model/model_config.h"

namespace executor {

enum class WeightLayout : std::uint8_t {
  Plain,
  Transposed,  // of GPT-2: weights are [inputs, outputs]; of Ernie a vector of one row
  Groups,      // queries, then the key and the value of each group of heads, group after group
  Neighbours,  // positions turn neighbours (2i, 2i + 1) of a head; ours (i, i + half)
  Halves,      // of latent attention: positions turn (i, i + half); ours neighbours
  Backwards,   // positions turn the other way round: halves of a head change places
  Packed,      // of all experts in one tensor, [experts, inputs, outputs]
  PackedPairs  // likewise, gate and up in turns
};

// "{}": the number of the block; "{e}": each expert's, one after the other. `ours`: a module, or a parameter whose name has no "weight" there.
struct WeightRow {
  std::string_view ours;
  std::array<std::string_view, 4> theirs;
  WeightLayout layout = WeightLayout::Plain;
};
inline constexpr std::string_view kExpertMark = "{e}", kLogitsBias = "final_logits_bias";  // of BART and its kin: a buffer of zeros
// Of BERT's kin: the bias of the projection, which is that of the head.
inline constexpr std::string_view kSecondBiases[] = {"cls.predictions.decoder.bias", "lm_head.decoder.bias"};
// Of Marian and Pegasus: a table of sines, which is not trained.
inline constexpr std::string_view kSineTables[] = {"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"};

// Families whose weights have the names of these tables; `instead` of rows of the same parameters.
struct FamilyNames {
  std::string_view family;
  std::span<const WeightRow> rows, instead = {};
};
// Of the network's model_type, nullptr where the names are not known.
const FamilyNames* find_names(const sim::ModelConfig& config);
// In the place of a family's rows where the network has two norms in front of its branches (Falcon-40B).
std::span<const WeightRow> names_of_two_norms();

}  // namespace executor
