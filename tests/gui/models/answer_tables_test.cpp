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
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), static_cast<std::size_t>(table.headers.size()));
}

TEST(AnswerTables, AGainStandsBesideThePlanAsItIs) {
  const Answer answer{.sentence = "",
                      .arguments = {},
                      .variants = {{.name = "now", .plan = {}, .tokens_per_second = 100, .is_now = true},
                                   {.name = "b", .plan = {}, .tokens_per_second = 150, .out_of_memory_chance = 0.25, .faster_chance = 0.9}},
                      .parts = {}};
  const Table table = answerTable(answer);
  EXPECT_EQ(table.rows[0][3].text, QStringLiteral("–"));
  EXPECT_EQ(table.rows[1][3].text, "+50.0 %");
  EXPECT_EQ(table.rows[1][4].text, "90.0 %");
  EXPECT_EQ(table.rows[1][6].text, "25.0 %");
}

TEST(AnswerTables, PartsHaveTheirSizes) {
  const Table table = answerTable({.sentence = "", .arguments = {}, .variants = {}, .parts = {{"layer 3", sim::Bytes(2048)}}});
  EXPECT_EQ(table.rows[0][1].sort.toLongLong(), 2048);
}

}  // namespace
}  // namespace gui
