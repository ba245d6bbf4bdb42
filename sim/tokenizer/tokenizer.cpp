#include "sim/tokenizer/tokenizer.h"

#include <algorithm>

namespace sim {
namespace {

struct FoundToken {
  const AddedToken* token = nullptr;
  std::size_t begin = 0, end = 0;
};

// The longest of those that begin here.
const AddedToken* token_at(std::string_view text, const std::vector<AddedToken>& added, bool is_normalized) {
  const AddedToken* longest = nullptr;
  for (const AddedToken& token : added)
    if (token.is_normalized == is_normalized && text.starts_with(token.text) &&
        (longest == nullptr || token.text.size() > longest->text.size()))
      longest = &token;
  return longest;
}

// By first byte: most bytes of a text begin no added token.
std::string first_bytes(const std::vector<AddedToken>& added, bool is_normalized) {
  std::string bytes;
  for (const AddedToken& token : added)
    if (token.is_normalized == is_normalized && bytes.find(token.text.front()) == std::string::npos) bytes += token.text.front();
  return bytes;
}

std::vector<FoundToken> tokens_in(std::string_view text, const std::vector<AddedToken>& added, bool is_normalized) {
  std::vector<FoundToken> found;
  const std::string firsts = first_bytes(added, is_normalized);
  std::size_t seen = 0;
  for (std::size_t at = text.find_first_of(firsts); at != std::string_view::npos; at = text.find_first_of(firsts, at)) {
    const AddedToken* token = token_at(text.substr(at), added, is_normalized);
    if (token == nullptr) {
      ++at;
      continue;
    }
    FoundToken one{token, at, at + token->text.size()};
    if (token->takes_left) one.begin -= space_at_back(text.substr(seen, at - seen));
    if (token->takes_right) one.end += space_at_front(text.substr(one.end));
    found.push_back(one);
    seen = at = one.end;
  }
  return found;
}

// `between` gets what is no added token.
template <class Between>
void cut_at_tokens(const TextPiece& piece, const std::vector<AddedToken>& added, bool is_normalized, TokenIds& ids, Between between) {
  std::size_t at = 0;
  const auto plain = [&](std::size_t end) {
    if (end > at) between(TextPiece{piece.text.substr(at, end - at), piece.begins_text && at == 0});
  };
  for (const FoundToken& one : tokens_in(piece.text, added, is_normalized)) {
    plain(one.begin);
    ids.push_back(one.token->id);
    at = one.end;
  }
  plain(piece.text.size());
}

std::int64_t bytes_of(const TextPieces& pieces) {
  std::int64_t bytes = 0;
  for (const TextPiece& piece : pieces) bytes += std::ssize(piece.text);
  return bytes;
}

// Every step passes all bytes that it is given, whether it tells of some or of none.
void take(const std::vector<TextStep>& steps, TextPieces& pieces, const Passed& passed) {
  for (const TextStep& step : steps) {
    std::int64_t left = bytes_of(pieces);
    step(pieces, [&](std::int64_t bytes) {
      left -= bytes;
      passed(bytes);
    });
    passed(left);
  }
}

}  // namespace

Tokenizer::Tokenizer(Model model, std::vector<TextStep> normalizer, std::vector<TextStep> pre_tokenizer, std::vector<AddedToken> added,
                     std::int64_t vocabulary)
    : model_(std::move(model)),
      normalizer_(std::move(normalizer)),
      pre_tokenizer_(std::move(pre_tokenizer)),
      added_(std::move(added)),
      vocabulary_(vocabulary) {
  for (AddedToken& token : added_) {
    if (!token.is_normalized) continue;
    TextPieces pieces{{token.text, true}};
    take(normalizer_, pieces, [](std::int64_t) {});
    token.text.clear();
    for (const TextPiece& piece : pieces) token.text += piece.text;
  }
  std::erase_if(added_, [](const AddedToken& token) { return token.text.empty(); });
}

// Each byte goes through every step and then through the model, which share its passage alike. A step may make more or fewer bytes of those that are
// read: never more are told than there are.
void Tokenizer::Encoded::add(std::int64_t more) {
  constexpr std::int64_t kOften = 1 << 16;
  const std::int64_t before = passed / passages;
  passed += more;
  const std::int64_t now = passed / passages;
  if (told && before / kOften != now / kOften) told({.done = std::min(now, all), .all = all});
}

void Tokenizer::encode_plain(const TextPiece& piece, Encoded& encoded) const {
  TextPieces pieces{piece};
  take(pre_tokenizer_, pieces, [&](std::int64_t bytes) { encoded.add(bytes); });
  for (const TextPiece& one : pieces) {
    model_(one.text, encoded.ids);
    encoded.add(std::ssize(one.text));
  }
}

void Tokenizer::encode_normalized(const TextPiece& piece, Encoded& encoded) const {
  TextPieces pieces{piece};
  take(normalizer_, pieces, [&](std::int64_t bytes) { encoded.add(bytes); });
  for (const TextPiece& one : pieces)
    cut_at_tokens(one, added_, true, encoded.ids, [&](const TextPiece& plain) { encode_plain(plain, encoded); });
}

TokenIds Tokenizer::encode(std::string_view text, const Told& told) const {
  Encoded encoded{.told = told, .passages = std::ssize(normalizer_) + std::ssize(pre_tokenizer_) + 1, .passed = 0, .all = std::ssize(text)};
  cut_at_tokens({std::string(text), true}, added_, false, encoded.ids, [&](const TextPiece& piece) { encode_normalized(piece, encoded); });
  if (told) told({.done = encoded.all, .all = encoded.all});
  return std::move(encoded.ids);
}

}  // namespace sim
