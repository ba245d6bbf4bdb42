#include "cli/report.h"

#include <gmock/gmock.h>

#include <sstream>

namespace cli {
namespace {

using testing::HasSubstr;

TEST(Report, NoLineIsLongerThanAScreen) {
  std::string words;
  for (int word = 0; word < 60; ++word) words += "word ";
  const Report report{.title = words, .sections = {{.heading = "h", .rows = {{"a", "b"}, {"1", words}}, .lines = {words}}}};
  std::istringstream lines(screen_text(report, Console(Form::Json)));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), kScreenColumns) << line;
}

TEST(Report, WhatIsTooLongGoesOnUnderItsCell) {
  const std::string text = wrapped("one  two  " + std::string(60, 'a') + " " + std::string(40, 'b'));
  EXPECT_EQ(text, "one  two  " + std::string(60, 'a') + "\n          " + std::string(40, 'b') + "\n");
  EXPECT_EQ(wrapped(std::string(150, 'x')), std::string(150, 'x') + "\n");  // nowhere to cut
}

TEST(Report, ANumberKeepsItsUnit) {
  const std::string text = wrapped(std::string(92, 'a') + " than 80 % of them");
  EXPECT_EQ(text, std::string(92, 'a') + " than\n  80 % of them\n");
}

TEST(Report, MarkdownHasTables) {
  const std::string text =
      markdown_text({.title = "t", .sections = {{.heading = "h", .rows = {{"a", "b"}, {"1", "x|y"}}, .lines = {"l"}}}});
  EXPECT_EQ(text, "## t\n\n### h\n\n| a | b |\n|---|---|\n| 1 | x\\|y |\n\nl\n\n");
}

TEST(Report, NumbersAreGrouped) {
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(999), "999");
}

}  // namespace
}  // namespace cli
