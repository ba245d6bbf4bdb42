#include "sim/tokenizer/normalizer.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

std::string text_after(const TextStep& step, const std::string& text) {
  TextPieces pieces{{text, true}};
  step(pieces, [](std::int64_t) {});
  return pieces.empty() ? "" : pieces.front().text;
}

TEST(Normalizer, NormalForms) {
  EXPECT_EQ(text_after(*normal_form("NFC"), "e\u0301"), "\u00e9");
  EXPECT_EQ(text_after(*normal_form("NFD"), "\u00e9"), "e\u0301");
  EXPECT_EQ(text_after(*normal_form("NFKC"), "\ufb01"), "fi");
  EXPECT_EQ(text_after(*normal_form("Lowercase"), "\u00c9\u03a3\u0130"), "\u00e9\u03c3i\u0307");
  EXPECT_FALSE(normal_form("Nmt"));
}

TEST(Normalizer, Replacements) {
  EXPECT_EQ(text_after(replace_text("aa", "b"), "aaaxaa"), "baxb");
  EXPECT_EQ(text_after(*replace_pattern(" {2,}", " "), "a   b c"), "a b c");
  EXPECT_EQ(text_after(prepend_text("\u2581"), "a"), "\u2581a");
  EXPECT_EQ(text_after(strip_space(true, false), " \u2003a "), "a ");
}

}  // namespace
}  // namespace sim
