// What a row of a batch is made of: one value with one text, which plan file, command line and tables share.
//
//   ""                                                one document fills it
//   "packed lognormal mean 800 spread 1.2"            documents one behind the other, cut where a row ends (Megatron's GPT data sets, torchtitan)
//   "fitted list 128 512*3 2048"                      whole documents, as many as fit, the fullest row first (NeMo, TRL); the rest of a row is padding
//   "padded fixed 512"                                one document a row; the rest of it is padding
//   "packed fixed 512 seed 7 end 2"                   lengths drawn by this seed; in a file of tokens 2 ends a document
//
// Everywhere a document attends to itself alone, its positions begin at 0, and the loss is the mean over all tokens that have a next one in their
// document. Lengths are of the data; a document that is longer than a row is cut. Spread: standard deviation over mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/input_error.h"

namespace sim {

enum class RowFilling : std::uint8_t { OneDocument, Packed, Fitted, Padded };
inline constexpr std::string_view kRowFillingNames[] = {"", "packed", "fitted", "padded"};
enum class LengthKind : std::uint8_t { Fixed, List, LogNormal };
inline constexpr std::string_view kLengthKindNames[] = {"fixed", "list", "lognormal"};

struct SamplesPolicy {
  struct Length {  // of a document, so many times as often as one of weight 1
    std::int64_t tokens = 1, weight = 1;
    bool operator==(const Length&) const = default;
  };
  RowFilling filling = RowFilling::OneDocument;
  LengthKind kind = LengthKind::Fixed;
  std::vector<Length> lengths{};  // Fixed: one
  double mean = 0, spread = 0;    // LogNormal
  std::uint64_t seed = 1;
  std::optional<std::int64_t> end_token{};

  bool operator==(const SamplesPolicy&) const = default;
  bool has_documents() const { return filling != RowFilling::OneDocument; }
  double mean_length() const;  // tokens of a document
};

std::string to_text(const SamplesPolicy& policy);
// What is wrong is told in `violations`, by word.
SamplesPolicy parse_samples_policy(std::string_view text, std::vector<Violation>& violations);

}  // namespace sim
