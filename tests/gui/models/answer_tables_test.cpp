#include "gui/models/answer_tables.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

TEST(AnswerTables, ArgumentsStandInTheSentence) {
  EXPECT_EQ(sentenceOf({.sentence = "Up to %1 of %2.", .arguments = {"3", "4"}, .variants = {}, .parts = {}}), "Up to 3 of 4.");
}

TEST(AnswerTables, AVariantThatBreaksARuleSaysWhich) {
  Answer answer{.sentence = "",
                .arguments = {},
                .variants = {{.name = "a", .plan = {}, .why_not = "it cannot"}, {.name = "b", .plan = {}, .fits = true, .is_now = true}},
                .parts = {}};
  const Table table = answerTable(answer);
  EXPECT_EQ(table.rows[0].back().text, "it cannot");
  EXPECT_EQ(table.rows[1].back().text, "fits");
  EXPECT_EQ(table.marked, (std::vector<bool>{false, true}));
}

TEST(AnswerTables, PartsHaveTheirSizes) {
  const Table table = answerTable({.sentence = "", .arguments = {}, .variants = {}, .parts = {{"layer 3", sim::Bytes(2048)}}});
  EXPECT_EQ(table.rows[0][1].sort.toLongLong(), 2048);
}

}  // namespace
}  // namespace gui
