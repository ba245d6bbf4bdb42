#include "sim/tokenizer/normalizer.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <stdexcept>

namespace sim {
namespace {

using Change = std::function<std::string(const std::string&, const Passed&)>;

TextStep on_each(Change change) {
  return [change = std::move(change)](TextPieces& pieces, const Passed& passed) {
    for (TextPiece& piece : pieces) piece.text = change(piece.text, passed);
    std::erase_if(pieces, [](const TextPiece& piece) { return piece.text.empty(); });
  };
}

const icu::Normalizer2* normalizer_named(const std::string& name) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* form = nullptr;
  if (name == "NFC") form = icu::Normalizer2::getNFCInstance(status);
  if (name == "NFD") form = icu::Normalizer2::getNFDInstance(status);
  if (name == "NFKC") form = icu::Normalizer2::getNFKCInstance(status);
  if (name == "NFKD") form = icu::Normalizer2::getNFKDInstance(status);
  if (U_FAILURE(status)) throw std::runtime_error("ICU has no data of normal forms: " + std::string(u_errorName(status)));
  return form;
}

std::string normalized(const icu::Normalizer2& form, const std::string& text) {
  UErrorCode status = U_ZERO_ERROR;
  std::string result;
  form.normalize(icu::UnicodeString::fromUTF8(text), status).toUTF8String(result);
  if (U_FAILURE(status)) throw std::runtime_error("the text has no normal form: " + std::string(u_errorName(status)));
  return result;
}

// Each character by itself, as `tokenizers` does it: no rule looks at its neighbours.
std::string lower(const std::string& text, const Passed&) {
  constexpr UChar32 kDottedI = 0x130, kDot = 0x307;
  const icu::UnicodeString wide = icu::UnicodeString::fromUTF8(text);
  icu::UnicodeString result;
  for (std::int32_t at = 0; at < wide.length(); at = wide.moveIndex32(at, 1)) {
    const UChar32 character = wide.char32At(at);
    result.append(character == kDottedI ? UChar32('i') : u_tolower(character));
    if (character == kDottedI) result.append(kDot);
  }
  std::string lowered;
  return result.toUTF8String(lowered);
}

std::string stripped(const std::string& text, bool left, bool right) {
  const icu::UnicodeString wide = icu::UnicodeString::fromUTF8(text);
  std::int32_t begin = 0, end = wide.length();
  while (left && begin < end && u_hasBinaryProperty(wide.char32At(begin), UCHAR_WHITE_SPACE)) begin = wide.moveIndex32(begin, 1);
  while (right && begin < end && u_hasBinaryProperty(wide.char32At(wide.moveIndex32(end, -1)), UCHAR_WHITE_SPACE))
    end = wide.moveIndex32(end, -1);
  std::string kept;
  return wide.tempSubStringBetween(begin, end).toUTF8String(kept);
}

}  // namespace

std::optional<TextStep> normal_form(const std::string& name) {
  if (name == "Lowercase") return on_each(lower);
  const icu::Normalizer2* form = normalizer_named(name);
  if (form == nullptr) return std::nullopt;
  return on_each([form](const std::string& text, const Passed&) { return normalized(*form, text); });
}

TextStep replace_text(std::string from, std::string to) {
  return on_each([from = std::move(from), to = std::move(to)](const std::string& text, const Passed&) {
    std::string result;
    std::size_t at = 0;
    for (std::size_t found = 0; !from.empty() && (found = text.find(from, at)) != std::string::npos; at = found + from.size())
      result += text.substr(at, found - at) + to;
    return result + text.substr(at);
  });
}

std::optional<TextStep> replace_pattern(const std::string& pattern, const std::string& to) {
  std::optional<TextStep> replaced = change_matches(pattern, to);
  if (!replaced) return std::nullopt;
  return on_each([step = *replaced](const std::string& text, const Passed& passed) {
    TextPieces pieces{{text, true}};
    step(pieces, passed);
    std::string result;
    for (const TextPiece& piece : pieces) result += piece.text;
    return result;
  });
}

TextStep prepend_text(std::string text) {
  return on_each([text = std::move(text)](const std::string& piece, const Passed&) { return piece.empty() ? piece : text + piece; });
}

TextStep strip_space(bool left, bool right) {
  return on_each([=](const std::string& text, const Passed&) { return stripped(text, left, right); });
}

}  // namespace sim
