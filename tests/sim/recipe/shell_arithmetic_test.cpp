#include <gmock/gmock.h>

#include "sim/recipe/shell_script.h"

namespace sim {
namespace {

std::optional<long long> value_of(const std::string& expression) {
  static const Texts given;
  static const std::string file = "x.sh";
  ShellScope scope{.variables = {{"GPUS", {"8"}}, {"TEXT", {"eight"}}}, .given = given, .file = file};
  return arithmetic(expression, scope);
}

TEST(ShellArithmetic, SumsProductsBrackets) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * GPUS / 4 % 4"), 2);
  EXPECT_EQ(value_of("-3 - -5"), 2);
  EXPECT_EQ(value_of("GPUS >= 8 && 2 != 3"), 1);
}

TEST(ShellArithmetic, Choices) {
  EXPECT_EQ(value_of("(GPUS > 1) ? 1 : 0"), 1);
  EXPECT_EQ(value_of("GPUS < 1 ? 2 : GPUS == 8 ? 3 : 4"), 3);
  EXPECT_EQ(value_of("2 * (1 ? 3 : 4)"), 6);
  for (const char* const wrong : {"1 ? 2", "NODES ? 1 : 2", "1 ? : 2", "1 ? TEXT : 2"}) EXPECT_EQ(value_of(wrong), std::nullopt) << wrong;
}

TEST(ShellArithmetic, WhatIsChanged) {
  static const Texts given;
  static const std::string file = "x.sh";
  ShellScope scope{.variables = {{"N", {"8"}}}, .given = given, .file = file};
  for (const char* const none : {"N == 8", "N > 2", "8", "", "N", "2++"}) EXPECT_FALSE(change_in(none, scope).has_value()) << none;
  EXPECT_EQ(change_in("N++", scope)->after, 9);
  EXPECT_EQ(change_in("N++", scope)->value, 8);
  EXPECT_EQ(change_in("--N", scope)->value, 7);
  EXPECT_EQ(change_in("N *= 1 + 2", scope)->after, 24);
  EXPECT_EQ(change_in("M = N / 2", scope)->name, "M");
  EXPECT_EQ(change_in("M = N / 2", scope)->after, 4);
  EXPECT_EQ(change_in("M++", scope)->after, std::nullopt);
}

TEST(ShellArithmetic, NothingWhereItCannotBeKnown) {
  for (const char* const wrong : {"", "1 /0", "7 % 0", "TEXT + 1", "NODES * 8", "9223372036854775807 + 1", "(1", "1 2"})
    EXPECT_EQ(value_of(wrong), std::nullopt) << wrong;
  EXPECT_EQ(value_of(std::string(100'000, '(')), std::nullopt);
}

}  // namespace
}  // namespace sim
