#include "cli/options.h"

#include <gmock/gmock.h>

#include "tests/cli/parsed_options.h"

namespace cli {
namespace {

TEST(Options, JsonBelongsToEverySubcommand) {
  EXPECT_TRUE(parse({"compare", "run", "--json"}).invocation.json);
  EXPECT_FALSE(parse({"compare", "run"}).invocation.json);
}

TEST(Options, UsageErrorsNameTheOption) {
  EXPECT_EQ(usage_error({}, "subcommand"), kUsage);
  EXPECT_EQ(usage_error({"plan", "--model", "m"}, "--cluster"), kUsage);
  EXPECT_EQ(usage_error(plan_with({"--fix", "tensor"}), "axis=value"), kUsage);
  EXPECT_EQ(usage_error(plan_with({"--fix", "tensor=4", "--fix", "tensor=2"}), "fixed twice"), kUsage);
  EXPECT_EQ(usage_error({"run", "p", "--data", "d", "-o", "r", "--steps", "-3"}, "--steps"), kUsage);
  EXPECT_EQ(usage_error({"measure", "-o", "x", "--ranks", "0"}, "--ranks"), kUsage);
}

TEST(Options, SlipsOfThePenAreNamed) {
  EXPECT_EQ(usage_error({"simulat", "p"}, "did you mean simulate?"), kUsage);
  EXPECT_EQ(usage_error({"simulate", "p", "--jsn"}, "did you mean --json?"), kUsage);
  EXPECT_EQ(usage_error({"plan", "--devces=8"}, "did you mean --devices?"), kUsage);
  EXPECT_EQ(usage_error(plan_with({"--tp", "8"}), "did you mean --fix tp=VALUE?"), kUsage);
  EXPECT_EQ(usage_error({"bogus"}, "bogus is no command"), kUsage);
  EXPECT_EQ(usage_error({"plan", "--bogus"}, "--bogus is no option"), kUsage);
  EXPECT_EQ(usage_error(plan_with({"--seed"}), "--seed is given without a value"), kUsage);
  EXPECT_EQ(usage_error(plan_with({"--seed", "1", "--seed", "2"}), "--seed is given more than once"), kUsage);
}

TEST(Options, HelpHasAnExample) {
  for (const char* name : {"measure", "plan", "simulate", "tokenize", "run", "compare", "calibrate"}) {
    testing::internal::CaptureStdout();
    const ParseResult result = parse({name, "--help"});
    EXPECT_TRUE(result.ended);
    EXPECT_EQ(result.exit_code, kSuccess);
    EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::HasSubstr(std::string("Example:\n  meshwright ") + name));
  }
}

}  // namespace
}  // namespace cli
