#include "sim/tokenizer/tokenizer.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

// A token a line.
Tokenizer lines() {
  const TextStep cut = [](TextPieces& pieces, const Passed&) {
    TextPieces lines;
    for (const TextPiece& piece : pieces)
      for (std::size_t at = 0; at < piece.text.size();) {
        const std::size_t end = std::min(piece.text.find('\n', at), piece.text.size() - 1) + 1;
        lines.push_back({piece.text.substr(at, end - at), at == 0 && piece.begins_text});
        at = end;
      }
    pieces = std::move(lines);
  };
  return Tokenizer([](std::string_view, TokenIds& ids) { ids.push_back(7); }, {}, {cut}, {{.text = "<end>", .id = 9}}, 10);
}

TEST(Tokenizer, SaysHowManyBytesAreRead) {
  std::string text;
  for (int line = 0; line < 20000; ++line) text += line == 10000 ? "<end>" : "twenty bytes a line\n";
  std::vector<HowFar> told;
  const TokenIds ids = lines().encode(text, [&](const HowFar& far) { told.push_back(far); });
  EXPECT_EQ(ids.size(), 20000u);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 9u), 1);
  ASSERT_GE(told.size(), 5u) << "every 64 KiB of 400 kB";
  for (std::size_t at = 0; at < told.size(); ++at) {
    EXPECT_EQ(told[at].all, std::ssize(text));
    EXPECT_TRUE(at == 0 || told[at].done >= told[at - 1].done);
  }
  EXPECT_LT(told.front().done, std::ssize(text) / 3);
  EXPECT_EQ(told.back().done, std::ssize(text));
  EXPECT_EQ(lines().encode(text).size(), 20000u) << "nobody need listen";
}

// The pattern looks at the whole of a long text before the model sees its first word.
TEST(Tokenizer, SaysHowFarItIsWhileItCuts) {
  std::string text;
  for (int word = 0; word < 100000; ++word) text += " words";
  bool has_begun = false;
  const Tokenizer words([&](std::string_view, TokenIds& ids) { has_begun = true, ids.push_back(7); }, {}, {byte_level(false, true)}, {},
                        10);
  std::vector<HowFar> cut;
  EXPECT_EQ(words
                .encode(text,
                        [&](const HowFar& far) {
                          if (!has_begun) cut.push_back(far);
                        })
                .size(),
            100000u);
  ASSERT_GE(cut.size(), 4u) << "half of 600 kB, every 64 KiB";
  EXPECT_LT(cut.front().done, std::ssize(text) / 4);
  EXPECT_NEAR(static_cast<double>(cut.back().done) / static_cast<double>(std::ssize(text)), 0.5, 0.1);
}

}  // namespace
}  // namespace sim
