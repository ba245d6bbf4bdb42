#include <gmock/gmock.h>

#include <fstream>

#include "sim/tokenizer/tokenizer.h"
#include "sim/units/input_error.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

std::string file_with(const std::string& model, const std::string& more = "") {
  const std::string path = testing::TempDir() + "tokenizer.json";
  std::ofstream(path) << R"({"version": "1.0", "model": )" << model << more << "}";
  return path;
}
std::string refusal_of(const std::string& model, const std::string& more = "") {
  try {
    load_tokenizer(file_with(model, more));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}
const std::string kModel = R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]})";

TEST(TokenizerJson, ReadsOlderAndNewerMerges) {
  EXPECT_THAT(load_tokenizer(file_with(kModel)).encode("abba"), ::testing::ElementsAre(2, 1, 0));
  EXPECT_THAT(load_tokenizer(file_with(R"({"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]})")).encode("ab"),
              ::testing::ElementsAre(2));
}

TEST(TokenizerJson, AddedTokensStandByThemselves) {
  const Tokenizer tokenizer =
      load_tokenizer(file_with(kModel, R"(, "added_tokens": [{"id": 7, "content": "a!", "normalized": false, "rstrip": true}])"));
  EXPECT_THAT(tokenizer.encode("aba!  b"), ::testing::ElementsAre(2, 7, 1));
  EXPECT_EQ(tokenizer.vocabulary(), 8);
}

TEST(TokenizerJson, WhatIsNotKnownIsRefusedByName) {
  EXPECT_THAT(refusal_of(R"({"type": "WordPiece", "vocab": {}})"), HasSubstr("\"WordPiece\", which is not known here"));
  EXPECT_THAT(refusal_of(kModel, R"(, "normalizer": {"type": "Sequence", "normalizers": [{"type": "Precompiled"}]})"),
              HasSubstr("/normalizer/normalizers/0/type"));
  EXPECT_THAT(refusal_of(kModel, R"(, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated"})"),
              HasSubstr("no regular expression"));
  EXPECT_THAT(refusal_of(R"({"type": "BPE", "dropout": 0.1, "vocab": {"a": -1}, "merges": ["a"]})"), HasSubstr("no id"));
  EXPECT_THAT(refusal_of(R"({"type": "BPE", "dropout": 0.1, "vocab": {"a": 1}, "merges": ["a"]})"),
              ::testing::AllOf(HasSubstr("dropout"), HasSubstr("merges")));
  EXPECT_THAT(refusal_of(R"({"type": "Unigram", "vocab": [["a", "b"]], "unk_id": 3})"),
              ::testing::AllOf(HasSubstr("vocab"), HasSubstr("unk_id")));
}

}  // namespace
}  // namespace sim
