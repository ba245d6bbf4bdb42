// Text -> tokens as PyPI's `tokenizers` makes them of a tokenizer.json, special tokens left out: byte-pair and unigram models behind the steps that such
// files name. A step that is not known is refused by name; nothing is skipped.
//
//   text -> cut at added tokens -> normalizer -> cut at added tokens -> pre-tokenizer -> model, a piece at a time -> ids
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/tokenizer/text_splitter.h"
#include "sim/units/told.h"

namespace sim {

using TokenIds = std::vector<std::uint32_t>;

struct AddedToken {
  std::string text;
  std::uint32_t id = 0;
  bool is_normalized = false;                    // sought behind the normalizer
  bool takes_left = false, takes_right = false;  // the white space beside it
};

class Tokenizer {
 public:
  // A piece of text that no rule cuts further -> ids, put behind those that are there.
  using Model = std::function<void(std::string_view piece, TokenIds& ids)>;

  Tokenizer(Model model, std::vector<TextStep> normalizer, std::vector<TextStep> pre_tokenizer, std::vector<AddedToken> added,
            std::int64_t vocabulary);
  TokenIds encode(std::string_view text, const Told& told = {}) const;  // which must be UTF-8; see is_utf8(); told: bytes of it
  std::int64_t vocabulary() const { return vocabulary_; }               // ids lie below it

 private:
  struct Encoded {
    TokenIds ids{};
    const Told& told;
    std::int64_t passages, passed, all;  // bytes
    void add(std::int64_t more);
  };
  void encode_normalized(const TextPiece& piece, Encoded& encoded) const;
  void encode_plain(const TextPiece& piece, Encoded& encoded) const;

  Model model_;
  std::vector<TextStep> normalizer_, pre_tokenizer_;
  std::vector<AddedToken> added_;
  std::int64_t vocabulary_;
};

Tokenizer load_tokenizer(const std::string& path);  // throws InputError with all that is wrong, or not known

}  // namespace sim
