#include <gmock/gmock.h>

#include "sim/recipe/shell_script.h"

namespace sim {
namespace {

using ::testing::ElementsAre;

class ShellExpand : public ::testing::Test {
 protected:
  std::vector<std::string> words(const std::string& raw) {
    std::vector<std::string> all = expanded_words(raw, scope_);
    for (std::string& word : all) word = shown(word);
    return all;
  }
  Texts given_;
  std::string file_ = "x.sh";
  ShellScope scope_{.variables = {{"A", {"1 2"}}, {"L", {"x", "y z"}}, {"E", {""}}}, .given = given_, .file = file_};
};

TEST_F(ShellExpand, QuotesKeepWordsTogether) {
  EXPECT_THAT(words("$A"), ElementsAre("1", "2"));
  EXPECT_THAT(words("\"$A\""), ElementsAre("1 2"));
  EXPECT_THAT(words("'$A'"), ElementsAre("$A"));
  EXPECT_THAT(words("a\\ b\"c\"'d'"), ElementsAre("a bcd"));
}

TEST_F(ShellExpand, ListsAndTheirFirst) {
  EXPECT_THAT(words("\"${L[@]}\""), ElementsAre("x", "y z"));
  EXPECT_THAT(words("${L[@]}"), ElementsAre("x", "y", "z"));
  EXPECT_THAT(words("$L"), ElementsAre("x"));
}

TEST_F(ShellExpand, OneOfAList) {
  EXPECT_THAT(words("${L[1]}"), ElementsAre("y", "z"));
  EXPECT_THAT(words("${L[-1]} ${L[A]} ${L[7]:-none} ${L[0]:-none}"), ElementsAre("y", "z", "$L", "none", "x"));
  EXPECT_THAT(words("${L[$N]} ${L[$N]:-none} ${L[7]}"), ElementsAre("$N", "$N", "$L"));
  EXPECT_THAT(words("${!L[@]} ${#L[@]}"), ElementsAre("0", "1", "2"));
  scope_.variables["M"] = {"[7b]=32", "[13b]=40"};
  EXPECT_THAT(words("${M[13b]}"), ElementsAre("40"));
}

TEST_F(ShellExpand, Defaults) {
  EXPECT_THAT(words("${N:-4}"), ElementsAre("4"));
  EXPECT_THAT(words("${E:-4}${E-5}"), ElementsAre("4"));
  EXPECT_THAT(words("${N:-${A}}"), ElementsAre("1", "2"));
  EXPECT_THAT(words("${A:+set}${N:+set}"), ElementsAre("set"));
  EXPECT_THAT(words("${N:=7}$N"), ElementsAre("77"));
}

TEST_F(ShellExpand, WhatIsNotKnownKeepsItsName) {
  EXPECT_THAT(words("$N"), ElementsAre("$N"));
  EXPECT_THAT(words("$(nproc) `hostname -s` ${A%1}"), ElementsAre("$(nproc)", "`hostname -s`", "$A%1"));
  EXPECT_THAT(words("$((2 * 3 + 1))x$(($N * 2))"), ElementsAre("7x(($N*2))"));
}

TEST_F(ShellExpand, NoEndInsideItself) {
  std::string deep = "1";
  for (int level = 0; level < 100; ++level) deep = "${N:-" + deep + "}";
  EXPECT_THROW(words(deep), InputError);
}

// What a formula depends on is what has to be given, not the formula.
TEST_F(ShellExpand, AnOpenFormulaNamesItsVariables) {
  static const Texts given;
  static const std::string file = "x.sh";
  ShellScope scope{.variables = {{"B", {"64"}}, {"M", {unknown_value("1")}}}, .given = given, .file = file};
  const std::string value = expanded_text("$(( B / (M * RANKS) ))", scope);
  EXPECT_THAT(unknowns_in(value), ::testing::ElementsAre("1", "RANKS"));
  EXPECT_EQ(shown(value), "((64/($1*$RANKS)))");
  EXPECT_EQ(expanded_words("$(( B / RANKS ))", scope).size(), 1U);
}

// A program that only counts is counted; its open names are asked for.
TEST_F(ShellExpand, ExprCounts) {
  EXPECT_THAT(words("$(expr 32 / 4 \\* 2)"), ElementsAre("16"));
  EXPECT_THAT(words("`expr 9 - 2`"), ElementsAre("7"));
  EXPECT_THAT(words("$(expr 32 / $N)"), ElementsAre("((32/$N))"));
  EXPECT_THAT(words("$(exprs 1)"), ElementsAre("$(exprs 1)"));
}

}  // namespace
}  // namespace sim
