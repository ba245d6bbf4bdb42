// The steps between a text and its pieces, by the names and meanings of tokenizer.json.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sim {

struct TextPiece {
  std::string text;
  bool begins_text = false;  // nothing stands before it
};
using TextPieces = std::vector<TextPiece>;
using Passed = std::function<void(std::int64_t bytes)>;  // called now and then by a step that takes long: so many more are behind it
using TextStep = std::function<void(TextPieces&, const Passed&)>;  // changes pieces, or cuts them into more; empty ones are dropped

enum class SplitBehavior { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };
inline constexpr std::string_view kSplitBehaviorNames[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};

// A regular expression in Oniguruma's words, as ICU takes it; nullopt: it is none.
std::optional<TextStep> split_by_pattern(const std::string& pattern, SplitBehavior behavior, bool is_inverted);
std::optional<TextStep> change_matches(const std::string& pattern, const std::string& to);  // into pieces: what matched is `to`
TextStep split_by_text(const std::string& text, SplitBehavior behavior, bool is_inverted);

// GPT-2's: bytes become printable characters; words are cut first where `cuts_words`.
TextStep byte_level(bool adds_space, bool cuts_words);
std::string byte_level_text(std::string_view bytes);

enum class Prepend { Always, First, Never };
TextStep metaspace(std::string replacement, Prepend prepend, bool is_split);

// Bytes of white space at an end of a text.
std::size_t space_at_front(std::string_view text);
std::size_t space_at_back(std::string_view text);
bool is_utf8(std::string_view text);

}  // namespace sim
