#include "sim/recipe/shell_arguments.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

using ::testing::ElementsAre;

TEST(ShellArguments, AreSetAndShifted) {
  const Texts given;
  const std::string file = "x.sh";
  ShellScope scope{.variables = {}, .given = given, .file = file};
  set_arguments(scope, {"a", "b", "c"});
  EXPECT_EQ(shift_arguments(scope, "2"), Verdict::Yes);
  EXPECT_THAT(arguments_of(scope), ElementsAre("c"));
  EXPECT_EQ(shift_arguments(scope, "2"), Verdict::No);
  set_arguments(scope, {});
  EXPECT_THAT(arguments_of(scope), ElementsAre());
}

TEST(ShellArguments, OptionsOneByOne) {
  const Texts given;
  const std::string file = "x.sh";
  ShellScope scope{.variables = {}, .given = given, .file = file};
  set_arguments(scope, {"-a", "4", "-b5", "-z", "rest"});
  std::string all;
  while (next_option(scope, "a:b:", "o") == Verdict::Yes) all += scope.find("o")->front() + "=" + scope.find("OPTARG")->front() + " ";
  EXPECT_EQ(all, "a=4 b=5 ?= ");
  EXPECT_EQ(scope.find("OPTIND")->front(), "5");
}

TEST(ShellArguments, WhatATextNeverTakes) {
  const std::string text = "A=1\nB=${B:-2}\nC=3\nX=$C\n", file;
  const Texts given;
  ShellScope scope{.variables = {{"A", {"1"}}, {"B", {"2"}}, {"C", {"3"}}}, .given = given, .file = file};
  EXPECT_EQ(unused_in(text, scope), (std::vector<std::string>{"A", "B"}));
}

}  // namespace
}  // namespace sim
