#include "sim/tokenizer/text_splitter.h"

#include <unicode/regex.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <utility>

#include "sim/units/at.h"

namespace sim {
namespace {

struct Cut {
  std::string_view text;
  bool is_match = false;
};
using Cuts = std::vector<Cut>;

// What matches and what lies between, in order.
using Matcher = std::function<Cuts(std::string_view text, const Passed& passed)>;

Cuts removed(const Cuts& cuts) {
  Cuts kept;
  std::ranges::copy_if(cuts, std::back_inserter(kept), [](const Cut& cut) { return !cut.is_match; });
  return kept;
}

std::string_view joined(std::string_view left, std::string_view right) { return {left.data(), left.size() + right.size()}; }

Cuts contiguous(const Cuts& cuts) {
  Cuts runs;
  for (const Cut& cut : cuts) {
    if (!runs.empty() && runs.back().is_match == cut.is_match)
      runs.back().text = joined(runs.back().text, cut.text);
    else
      runs.push_back(cut);
  }
  return runs;
}

Cuts with_previous(const Cuts& cuts) {
  Cuts merged;
  bool was_match = false;
  for (const Cut& cut : cuts) {
    if (cut.is_match && !was_match && !merged.empty())
      merged.back().text = joined(merged.back().text, cut.text);
    else
      merged.push_back(cut);
    was_match = cut.is_match;
  }
  return merged;
}

Cuts with_next(Cuts cuts) {
  Cuts merged;
  bool was_match = false;
  for (auto cut = cuts.rbegin(); cut != cuts.rend(); ++cut) {
    if (cut->is_match && !was_match && !merged.empty())
      merged.back().text = joined(cut->text, merged.back().text);
    else
      merged.push_back(*cut);
    was_match = cut->is_match;
  }
  std::ranges::reverse(merged);
  return merged;
}

Cuts arranged(Cuts cuts, SplitBehavior behavior) {
  switch (behavior) {
    case SplitBehavior::Removed: return removed(cuts);
    case SplitBehavior::Isolated: return cuts;
    case SplitBehavior::MergedWithPrevious: return with_previous(cuts);
    case SplitBehavior::MergedWithNext: return with_next(std::move(cuts));
    case SplitBehavior::Contiguous: return contiguous(cuts);
  }
  return cuts;
}

TextStep split_by(Matcher matcher, SplitBehavior behavior, bool is_inverted) {
  return [matcher = std::move(matcher), behavior, is_inverted](TextPieces& pieces, const Passed& passed) {
    TextPieces all;
    for (const TextPiece& piece : pieces) {
      Cuts cuts = matcher(piece.text, passed);
      if (is_inverted)
        for (Cut& cut : cuts) cut.is_match = !cut.is_match;
      for (const Cut& cut : arranged(std::move(cuts), behavior))
        if (!cut.text.empty()) all.push_back({std::string(cut.text), piece.begins_text && cut.text.data() == piece.text.data()});
    }
    pieces = std::move(all);
  };
}

// Oniguruma's \s, \d and \w are properties of Unicode; ICU's differ in a few characters.
std::string as_icu(const std::string& pattern) {
  std::string words;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '\\' || at + 1 == pattern.size()) {
      words += pattern[at];
      continue;
    }
    switch (const char letter = pattern[++at]; letter) {
      case 's': words += "\\p{White_Space}"; break;
      case 'S': words += "\\P{White_Space}"; break;
      case 'w': words += "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]"; break;
      case 'W': words += "[^\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]"; break;
      default: words += std::string("\\") + letter;
    }
  }
  return words;
}

std::size_t utf8_length(const icu::UnicodeString& text, std::int32_t begin, std::int32_t end) {
  std::size_t bytes = 0;
  for (std::int32_t at = begin; at < end; ++at) {
    const char16_t unit = text[at];
    const bool is_half = unit >= 0xd800 && unit < 0xe000;
    bytes += is_half ? 2 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
  }
  return bytes;
}

Cuts matches_of(const icu::RegexPattern& pattern, std::string_view text, const Passed& passed) {
  constexpr std::size_t kOften = 1 << 16;
  UErrorCode status = U_ZERO_ERROR;
  const icu::UnicodeString wide = icu::UnicodeString::fromUTF8({text.data(), static_cast<std::int32_t>(text.size())});
  const std::unique_ptr<icu::RegexMatcher> matcher(pattern.matcher(wide, status));
  Cuts cuts;
  std::int32_t seen = 0;
  std::size_t at = 0, told = 0;
  const auto add = [&](std::int32_t end, bool is_match) {
    const std::size_t bytes = utf8_length(wide, seen, end);
    if (bytes > 0) cuts.push_back({text.substr(at, bytes), is_match});
    seen = end, at += bytes;
    if (at - told < kOften) return;
    passed(static_cast<std::int64_t>(at - told));
    told = at;
  };
  while (U_SUCCESS(status) && matcher->find(status)) {
    add(matcher->start(status), false);
    add(matcher->end(status), true);
  }
  if (U_FAILURE(status))
    throw std::runtime_error("the tokenizer's pattern cannot be matched against this text: " + std::string(u_errorName(status)));
  add(wide.length(), false);
  return cuts;
}

std::optional<Matcher> matcher_of(const std::string& pattern) {
  UErrorCode status = U_ZERO_ERROR;
  UParseError where;
  const std::shared_ptr<icu::RegexPattern> compiled(
      icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(as_icu(pattern)), where, status));
  if (U_FAILURE(status)) return std::nullopt;
  return [compiled](std::string_view text, const Passed& passed) { return matches_of(*compiled, text, passed); };
}

Cuts occurrences(std::string_view text, const std::string& sought) {
  Cuts cuts;
  std::size_t at = 0;
  for (std::size_t found = 0; !sought.empty() && (found = text.find(sought, at)) != std::string_view::npos; at = found + sought.size()) {
    if (found > at) cuts.push_back({text.substr(at, found - at), false});
    cuts.push_back({text.substr(found, sought.size()), true});
  }
  if (at < text.size()) cuts.push_back({text.substr(at), false});
  return cuts;
}

// GPT-2: printable bytes are themselves, the others the characters from 256 on.
std::array<std::string, 256> byte_characters() {
  std::array<std::string, 256> characters;
  std::int32_t other = 256;
  for (std::int32_t byte = 0; byte < 256; ++byte) {
    const bool is_printable = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    icu::UnicodeString(static_cast<UChar32>(is_printable ? byte : other++)).toUTF8String(sim::at(characters, byte));
  }
  return characters;
}

}  // namespace

std::optional<TextStep> split_by_pattern(const std::string& pattern, SplitBehavior behavior, bool is_inverted) {
  const std::optional<Matcher> matcher = matcher_of(pattern);
  return matcher ? std::optional(split_by(*matcher, behavior, is_inverted)) : std::nullopt;
}

std::optional<TextStep> change_matches(const std::string& pattern, const std::string& to) {
  const std::optional<Matcher> matcher = matcher_of(pattern);
  if (!matcher) return std::nullopt;
  return [matcher = *matcher, to](TextPieces& pieces, const Passed& passed) {
    TextPieces all;
    for (const TextPiece& piece : pieces)
      for (const Cut& cut : matcher(piece.text, passed)) all.push_back({cut.is_match ? to : std::string(cut.text)});
    pieces = std::move(all);
  };
}

TextStep split_by_text(const std::string& text, SplitBehavior behavior, bool is_inverted) {
  return split_by([text](std::string_view where, const Passed&) { return occurrences(where, text); }, behavior, is_inverted);
}

std::string byte_level_text(std::string_view bytes) {
  static const std::array<std::string, 256> characters = byte_characters();
  std::string text;
  for (const char byte : bytes) text += characters[static_cast<unsigned char>(byte)];
  return text;
}

TextStep byte_level(bool adds_space, bool cuts_words) {
  static const char* const kWords = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  const TextStep words = *split_by_pattern(kWords, SplitBehavior::Isolated, false);
  return [=](TextPieces& pieces, const Passed& passed) {
    if (adds_space)
      for (TextPiece& piece : pieces)
        if (!piece.text.starts_with(' ')) piece.text.insert(0, 1, ' ');
    if (cuts_words) words(pieces, passed);
    for (TextPiece& piece : pieces) piece.text = byte_level_text(piece.text);
  };
}

TextStep metaspace(std::string replacement, Prepend prepend, bool is_split) {
  const TextStep split = split_by_text(replacement, SplitBehavior::MergedWithNext, false);
  return [replacement = std::move(replacement), split, prepend, is_split](TextPieces& pieces, const Passed& passed) {
    for (TextPiece& piece : pieces) {
      std::string text;
      for (const char byte : piece.text) text += byte == ' ' ? replacement : std::string(1, byte);
      const bool is_asked = prepend == Prepend::Always || (prepend == Prepend::First && piece.begins_text);
      piece.text = is_asked && !text.starts_with(replacement) ? replacement + text : text;
    }
    if (is_split) split(pieces, passed);
  };
}

std::size_t space_at_front(std::string_view text) {
  const auto size = static_cast<std::int32_t>(text.size());
  const char* const bytes = text.data();
  std::int32_t at = 0;
  for (std::int32_t next = 0; next < size; at = next) {
    UChar32 character = 0;
    U8_NEXT(bytes, next, size, character);
    if (character < 0 || !u_isUWhiteSpace(character)) break;
  }
  return static_cast<std::size_t>(at);
}

std::size_t space_at_back(std::string_view text) {
  const char* const bytes = text.data();
  auto at = static_cast<std::int32_t>(text.size());
  for (std::int32_t next = at; next > 0; at = next) {
    UChar32 character = 0;
    U8_PREV(bytes, 0, next, character);
    if (character < 0 || !u_isUWhiteSpace(character)) break;
  }
  return text.size() - static_cast<std::size_t>(at);
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (length == 0 || at + length > text.size()) return false;
    std::uint32_t point = length == 1 ? first : first & (0x7fU >> length);
    for (std::size_t next = 1; next < length; ++next) {
      const auto byte = static_cast<unsigned char>(text[at + next]);
      if ((byte & 0xc0) != 0x80) return false;
      point = point << 6 | (byte & 0x3fU);
    }
    const bool is_overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
    if (is_overlong || (point >= 0xd800 && point < 0xe000) || point > 0x10ffff) return false;
    at += length;
  }
  return true;
}

}  // namespace sim
