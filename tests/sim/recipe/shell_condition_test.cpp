#include <gmock/gmock.h>

#include "sim/recipe/shell_script.h"

namespace sim {
namespace {

Verdict verdict(std::vector<std::string> raw) {
  static const Texts given;
  static const std::string file = "x.sh";
  ShellScope scope{.variables = {{"SIZE", {"7b"}},
                                 {"N", {"8"}},
                                 {"NOTHING", {""}},
                                 {"STAGE", {unknown_value("2")}},
                                 {"HOST", {unknown_value("$(hostname)")}}},
                   .given = given,
                   .file = file};
  return tested(std::move(raw), scope);
}

TEST(ShellCondition, TextsAndNumbers) {
  EXPECT_EQ(verdict({"$SIZE", "=", "7b"}), Verdict::Yes);
  EXPECT_EQ(verdict({"\"$SIZE\"", "==", "7*"}), Verdict::Yes);
  EXPECT_EQ(verdict({"$SIZE", "!=", "7b"}), Verdict::No);
  EXPECT_EQ(verdict({"$N", "-gt", "4"}), Verdict::Yes);
  EXPECT_EQ(verdict({"!", "$N", "-gt", "4"}), Verdict::No);
  EXPECT_EQ(verdict({"$N", "-gt", "4", "&&", "$SIZE", "=", "13b"}), Verdict::No);
}

TEST(ShellCondition, BracketsBindFirst) {
  EXPECT_EQ(verdict({"$SIZE", "=", "13b", "&&", "(", "$N", "-gt", "4", "||", "$N", "-gt", "2", ")"}), Verdict::No);
  EXPECT_EQ(verdict({"(", "$SIZE", "=", "7b", "||", "$N", "=", "1", ")", "&&", "$N", "-gt", "4"}), Verdict::Yes);
  EXPECT_EQ(verdict({"!", "(", "$SIZE", "=", "7b", "&&", "$N", "=", "1", ")"}), Verdict::Yes);
  EXPECT_EQ(verdict({"!", "$SIZE", "=", "7b", "&&", "$N", "=", "1"}), Verdict::No);
}

TEST(ShellCondition, AVariableThatIsNotSetIsEmptyWhereThatIsAsked) {
  EXPECT_EQ(verdict({"-z", "$1"}), Verdict::Yes);
  EXPECT_EQ(verdict({"-n", "\"${NAME}\""}), Verdict::No);
  EXPECT_EQ(verdict({"-z", "$N"}), Verdict::No);
  EXPECT_EQ(verdict({"\"$STAGE\"", "==", "\"\""}), Verdict::Yes);  // STAGE=$2, as DeepSpeed-Chat asks
  EXPECT_EQ(verdict({"$STAGE", "!=", "''"}), Verdict::No);
  EXPECT_EQ(verdict({"-z", "$STAGE"}), Verdict::Yes);
  EXPECT_EQ(verdict({"$STAGE", "==", "3"}), Verdict::Unknown);
  EXPECT_EQ(verdict({"$HOST", "==", "\"\""}), Verdict::Unknown);
  EXPECT_EQ(verdict({"-z", "$HOST"}), Verdict::Unknown);
  EXPECT_EQ(verdict({"$NAME", "=", "x"}), Verdict::Unknown);
  EXPECT_EQ(verdict({"-f", "file"}), Verdict::Unknown);
}

// What to set, so that it is decided.
TEST(ShellCondition, TheVariableThatDecidesIsNamed) {
  static const Texts given;
  static const std::string file = "x.sh";
  const ShellScope scope{.variables = {{"SIZE", {unknown_value("4")}}, {"N", {"8"}}}, .given = given, .file = file};
  EXPECT_EQ(deciding_variable("[ $SIZE = 7b ]", scope), "4");
  EXPECT_EQ(deciding_variable("[[ $N -gt 1 && ${MODE} == a ]]", scope), "MODE");
  for (const char* const none : {"grep -q x $N", "[ -f $MODE ]", "[[ ! -d ${MODE} ]]", "test -e $MODE"})
    EXPECT_EQ(deciding_variable(none, scope), "") << none;
}

}  // namespace
}  // namespace sim
