#include "sim/tokenizer/unigram.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

using ::testing::ElementsAre;

TokenIds ids_of(const UnigramPieces& unigram, const std::string& text) {
  TokenIds ids;
  unigram_model(unigram)(text, ids);
  return ids;
}

TEST(Unigram, TheLikeliestCut) {
  UnigramPieces unigram{.pieces = {{"<unk>", 0}, {"a", -1}, {"b", -1}, {"ab", -1.5}, {"bb", -5}}, .unknown = 0};
  EXPECT_THAT(ids_of(unigram, "ab"), ElementsAre(3));
  EXPECT_THAT(ids_of(unigram, "abb"), ElementsAre(3, 2));
}

TEST(Unigram, UnknownCharactersAreOne) {
  UnigramPieces unigram{.pieces = {{"<unk>", 0}, {"a", -1}}, .unknown = 0};
  EXPECT_THAT(ids_of(unigram, "a\u00e9\u00e9za"), ElementsAre(1, 0, 1));
  unigram.falls_back_to_bytes = true;
  unigram.pieces.insert(unigram.pieces.end(), {{"<0xC3>", -3}, {"<0xA9>", -3}});
  EXPECT_THAT(ids_of(unigram, "a\u00e9"), ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace sim
