#include "sim/tokenizer/byte_pair.h"

#include <fmt/format.h>

#include <memory>
#include <queue>

namespace sim {
namespace {

constexpr std::int32_t kNone = -1;

struct Symbol {
  std::uint32_t id;
  std::int32_t before, behind;
  bool is_gone = false;
};
struct Candidate {
  std::uint32_t rank;
  std::int32_t left;
  std::uint32_t merged;
  bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : left > other.left; }  // the least on top
};

std::size_t length_of_character(unsigned char first) { return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4; }

class Word {
 public:
  Word(const BytePairs& pairs, const TokenIds& ids) : pairs_(pairs) {
    for (std::size_t at = 0; at < ids.size(); ++at)
      symbols_.push_back({ids[at], static_cast<std::int32_t>(at) - 1, at + 1 < ids.size() ? static_cast<std::int32_t>(at) + 1 : kNone});
    for (std::size_t at = 0; at + 1 < ids.size(); ++at) offer(static_cast<std::int32_t>(at));
  }

  void merge(TokenIds& found) {
    for (; !candidates_.empty();) {
      const Candidate best = candidates_.top();
      candidates_.pop();
      merge(best);
    }
    for (const Symbol& symbol : symbols_)
      if (!symbol.is_gone) found.push_back(symbol.id);
  }

 private:
  const BytePairs::Merge* of_pair(std::int32_t left) const {
    if (left == kNone || symbols_[left].is_gone || symbols_[left].behind == kNone) return nullptr;
    const auto found = pairs_.merges.find(std::uint64_t{symbols_[left].id} << 32 | symbols_[symbols_[left].behind].id);
    return found == pairs_.merges.end() ? nullptr : &found->second;
  }
  void offer(std::int32_t left) {
    if (const BytePairs::Merge* merge = of_pair(left)) candidates_.push({merge->rank, left, merge->id});
  }
  void merge(const Candidate& best) {
    const BytePairs::Merge* now = of_pair(best.left);
    if (now == nullptr || now->id != best.merged) return;  // a neighbour is another one since
    Symbol& left = symbols_[best.left];
    Symbol& right = symbols_[left.behind];
    left.id = now->id;
    left.behind = right.behind;
    right.is_gone = true;
    if (left.behind != kNone) symbols_[left.behind].before = best.left;
    offer(left.before);
    offer(best.left);
  }

  const BytePairs& pairs_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Candidate> candidates_;
};

// A character at a time: a token, its bytes, or the unknown one; without that it is left out, as the original does.
TokenIds characters_of(std::string_view piece, const BytePairs& pairs) {
  TokenIds ids;
  bool was_unknown = false;
  for (std::size_t at = 0, length = 0; at < piece.size(); at += length) {
    length = std::min(length_of_character(static_cast<unsigned char>(piece[at])), piece.size() - at);
    const std::string character(piece.substr(at, length));
    const auto found = pairs.ids.find(character);
    const bool is_known = found != pairs.ids.end();
    if (is_known) ids.push_back(found->second);
    if (is_known || (pairs.falls_back_to_bytes && add_bytes(character, pairs.ids, ids))) {
      was_unknown = false;
    } else if (pairs.unknown && !(was_unknown && pairs.fuses_unknown)) {
      ids.push_back(*pairs.unknown);
      was_unknown = true;
    }
  }
  return ids;
}

TokenIds encoded(std::string_view piece, const BytePairs& pairs) {
  if (pairs.ignores_merges)
    if (const auto whole = pairs.ids.find(std::string(piece)); whole != pairs.ids.end()) return {whole->second};
  TokenIds ids;
  Word(pairs, characters_of(piece, pairs)).merge(ids);
  return ids;
}

}  // namespace

bool add_bytes(std::string_view text, const std::unordered_map<std::string, std::uint32_t>& ids, TokenIds& found) {
  TokenIds bytes;
  for (const char byte : text) {
    const auto id = ids.find(fmt::format("<0x{:02X}>", static_cast<unsigned char>(byte)));
    if (id == ids.end()) return false;
    bytes.push_back(id->second);
  }
  found.insert(found.end(), bytes.begin(), bytes.end());
  return true;
}

Tokenizer::Model byte_pair_model(BytePairs pairs) {
  constexpr std::size_t kWords = 1 << 20, kLongest = 64;  // words come again
  struct Kept {
    BytePairs pairs;
    std::unordered_map<std::string, TokenIds> words{};
  };
  return [kept = std::make_shared<Kept>(Kept{std::move(pairs)})](std::string_view piece, TokenIds& ids) {
    const std::string word(piece);
    auto found = kept->words.find(word);
    if (found == kept->words.end()) {
      TokenIds fresh = encoded(piece, kept->pairs);
      if (word.size() > kLongest || kept->words.size() >= kWords) {
        ids.insert(ids.end(), fresh.begin(), fresh.end());
        return;
      }
      found = kept->words.emplace(word, std::move(fresh)).first;
    }
    ids.insert(ids.end(), found->second.begin(), found->second.end());
  };
}

}  // namespace sim
