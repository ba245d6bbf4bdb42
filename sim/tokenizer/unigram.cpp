#include "sim/tokenizer/unigram.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <unordered_map>

#include "sim/tokenizer/byte_pair.h"

namespace sim {
namespace {

// A byte at a time, from node to node; where a piece ends, its id.
class Trie {
 public:
  void add(std::string_view text, std::uint32_t id) {
    std::uint32_t node = 0;
    for (const char byte : text) node = next_.try_emplace(edge(node, byte), ++nodes_).first->second;
    ends_[node] = id;
  }
  template <class Visit>
  void each_prefix(std::string_view text, Visit visit) const {
    std::uint32_t node = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const auto found = next_.find(edge(node, text[at]));
      if (found == next_.end()) return;
      node = found->second;
      if (const auto end = ends_.find(node); end != ends_.end()) visit(at + 1, end->second);
    }
  }

 private:
  static std::uint64_t edge(std::uint32_t node, char byte) { return std::uint64_t{node} << 8 | static_cast<unsigned char>(byte); }
  std::unordered_map<std::uint64_t, std::uint32_t> next_;
  std::unordered_map<std::uint32_t, std::uint32_t> ends_;
  std::uint32_t nodes_ = 0;
};

constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();
constexpr double kUnknownPenalty = 10;  // below the least likely piece, as SentencePiece has it

struct Best {
  double score = 0;
  std::size_t from = std::string_view::npos;
  std::uint32_t id = 0;
  void offer(double other, std::size_t begin, std::uint32_t piece) {
    if (from == std::string_view::npos || other > score) *this = {other, begin, piece};
  }
};

struct Lattice {
  UnigramPieces unigram;
  Trie trie{};
  std::unordered_map<std::string, std::uint32_t> ids{};
  double unknown_score = 0;
};

std::size_t length_at(std::string_view text, std::size_t at) {
  std::size_t length = 1;
  while (at + length < text.size() && (static_cast<unsigned char>(text[at + length]) & 0xc0) == 0x80) ++length;
  return length;
}

// The best way to each byte, by the best ways to those before it.
std::vector<Best> best_ways(const Lattice& lattice, std::string_view text) {
  std::vector<Best> ways(text.size() + 1);
  for (std::size_t at = 0, length = 0; at < text.size(); at += length) {
    length = length_at(text, at);
    const double here = ways[at].score;
    bool has_character = false;
    lattice.trie.each_prefix(text.substr(at), [&](std::size_t size, std::uint32_t id) {
      ways[at + size].offer(lattice.unigram.pieces[id].second + here, at, id);
      has_character |= size == length;
    });
    if (!has_character) ways[at + length].offer(lattice.unknown_score + here, at, kUnknown);
  }
  return ways;
}

// Neighbouring unknown characters are one piece.
std::vector<std::string_view> cut(const Lattice& lattice, std::string_view text) {
  const std::vector<Best> ways = best_ways(lattice, text);
  std::vector<std::string_view> pieces;
  bool was_unknown = false;
  for (std::size_t end = text.size(); end > 0; end = ways[end].from) {
    const Best& way = ways[end];
    const bool is_unknown = way.id == kUnknown || way.id == lattice.unigram.unknown;
    if (is_unknown && was_unknown)
      pieces.back() = text.substr(way.from, pieces.back().size() + end - way.from);
    else
      pieces.push_back(text.substr(way.from, end - way.from));
    was_unknown = is_unknown;
  }
  std::ranges::reverse(pieces);
  return pieces;
}

void add_ids(const Lattice& lattice, std::string_view piece, TokenIds& ids) {
  if (const auto found = lattice.ids.find(std::string(piece)); found != lattice.ids.end()) return ids.push_back(found->second);
  if (lattice.unigram.falls_back_to_bytes && add_bytes(piece, lattice.ids, ids)) return;
  if (lattice.unigram.unknown) ids.push_back(*lattice.unigram.unknown);
}

}  // namespace

Tokenizer::Model unigram_model(UnigramPieces unigram) {
  const auto lattice = std::make_shared<Lattice>(Lattice{std::move(unigram)});
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t id = 0; id < lattice->unigram.pieces.size(); ++id) {
    const auto& [text, score] = lattice->unigram.pieces[id];
    lattice->trie.add(text, id);
    lattice->ids[text] = id;
    least = std::min(least, score);
  }
  lattice->unknown_score = least - kUnknownPenalty;
  return [lattice](std::string_view piece, TokenIds& ids) {
    for (const std::string_view one : cut(*lattice, piece)) add_ids(*lattice, one, ids);
  };
}

}  // namespace sim
