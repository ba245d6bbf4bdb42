#include "sim/tokenizer/text_splitter.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> after(const TextStep& step, const std::string& text) {
  TextPieces pieces{{text, true}};
  step(pieces, [](std::int64_t) {});
  std::vector<std::string> texts;
  for (const TextPiece& piece : pieces) texts.push_back(piece.text);
  return texts;
}
std::vector<std::string> cut(SplitBehavior behavior, bool is_inverted = false) {
  return after(*split_by_pattern("-", behavior, is_inverted), "the-final--countdown");
}

// The example of the original's documentation.
TEST(TextSplitter, EachBehavior) {
  EXPECT_THAT(cut(SplitBehavior::Removed), ElementsAre("the", "final", "countdown"));
  EXPECT_THAT(cut(SplitBehavior::Isolated), ElementsAre("the", "-", "final", "-", "-", "countdown"));
  EXPECT_THAT(cut(SplitBehavior::MergedWithPrevious), ElementsAre("the-", "final-", "-", "countdown"));
  EXPECT_THAT(cut(SplitBehavior::MergedWithNext), ElementsAre("the", "-final", "-", "-countdown"));
  EXPECT_THAT(cut(SplitBehavior::Contiguous), ElementsAre("the", "-", "final", "--", "countdown"));
  EXPECT_THAT(cut(SplitBehavior::Removed, true), ElementsAre("-", "-", "-"));
}

TEST(TextSplitter, WordsOfGpt2InPrintableBytes) {
  EXPECT_THAT(after(byte_level(false, true), "I'll go\n  on \u00e9"),
              ElementsAre("I", "'ll", "\u0120go", "\u010a\u0120", "\u0120on", "\u0120\u00c3\u00a9"));
  EXPECT_THAT(after(byte_level(true, false), "a b"), ElementsAre("\u0120a\u0120b"));
}

TEST(TextSplitter, SpacesBecomeVisible) {
  EXPECT_THAT(after(metaspace("\u2581", Prepend::Always, true), "a  b"), ElementsAre("\u2581a", "\u2581", "\u2581b"));
  EXPECT_THAT(after(metaspace("\u2581", Prepend::Never, false), "a b"), ElementsAre("a\u2581b"));
}

// What ICU's own \s leaves out.
TEST(TextSplitter, WhiteSpaceIsUnicodes) {
  EXPECT_THAT(after(*split_by_pattern("\\s", SplitBehavior::Removed, false),
                    "a\x0b"
                    "b\u0085c\u2003"
                    "d"),
              ElementsAre("a", "b", "c", "d"));
}

TEST(TextSplitter, NoPatternIsNone) { EXPECT_FALSE(split_by_pattern("(", SplitBehavior::Removed, false)); }

TEST(TextSplitter, KnowsUtf8) {
  EXPECT_TRUE(is_utf8("a\u00e9\u2581\U0001f600"));
  for (const char* text : {"\x80", "\xc0\x80", "\xe2\x82", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xff"}) EXPECT_FALSE(is_utf8(text));
}

TEST(TextSplitter, SpaceAtTheEnds) {
  EXPECT_EQ(space_at_front(" \u2003x"), 4u);
  EXPECT_EQ(space_at_back("x\u2003 "), 4u);
}

}  // namespace
}  // namespace sim
