#include "sim/tokenizer/tokenizer.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

// A token a line.
Tokenizer lines() {
  const TextStep cut = [](TextPieces& pieces) {
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
  EXPECT_LT(told.front().done, std::ssize(text) / 4);
  EXPECT_EQ(told.back().done, std::ssize(text));
  EXPECT_EQ(lines().encode(text).size(), 20000u) << "nobody need listen";
}

}  // namespace
}  // namespace sim
