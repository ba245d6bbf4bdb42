#include "cli/options.h"

#include <gmock/gmock.h>

#include <utility>

#include "cli/exit_code.h"
#include "sim/plan/parallel_plan.h"

namespace cli {
namespace {

ParseResult parse(std::vector<const char*> words) {
  words.insert(words.begin(), "meshwright");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

template <class Options>
Options parsed(const std::vector<const char*>& words) {
  const ParseResult result = parse(words);
  EXPECT_FALSE(result.ended);
  return std::get<Options>(result.invocation.options);
}

int usage_error(const std::vector<const char*>& words, const std::string& part) {
  testing::internal::CaptureStderr();
  const ParseResult result = parse(words);
  EXPECT_TRUE(result.ended);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr(part));
  return result.exit_code;
}

const std::vector<const char*> kPlan{"plan", "--model", "m", "--cluster", "c", "--global-batch", "8", "--sequence", "64", "-o", "p"};

std::vector<const char*> plan_with(const std::vector<const char*>& more) {
  std::vector<const char*> words = kPlan;
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Options, PlanTakesEveryOption) {
  const auto plan = parsed<PlanOptions>(
      plan_with({"--gpus", "16", "--fix", "tensor=4", "--fix", "pipeline=2", "--top", "3", "--runnable", "--memory-limit", "80 GiB"}));
  EXPECT_EQ(plan.devices, 16);
  EXPECT_EQ(plan.fixed, (std::map<std::string, std::string>{{"tensor", "4"}, {"pipeline", "2"}}));
  EXPECT_EQ(plan.top, 3);
  EXPECT_TRUE(plan.runnable);
  EXPECT_EQ(plan.memory_limit, "80 GiB");
}

TEST(Options, ExportGoesToAProgramOfTheTable) {
  EXPECT_EQ(parsed<ExportOptions>({"export", "run", "-o", "x"}).to, "");
  EXPECT_EQ(parsed<ExportOptions>({"export", "plan.json", "--to", "megatron", "-o", "x"}).to, "megatron");
  EXPECT_EQ(usage_error({"export", "plan.json", "--to", "horovod", "-o", "x"}, "--to"), kUsage);
  EXPECT_EQ(parsed<ImportOptions>({"import", "a.sh", "--model", "m", "--cluster", "c", "--microbatch", "2", "-o", "p"}).microbatch, 2);
}

TEST(Options, MeasureRanksAreAList) {
  EXPECT_THAT(parsed<MeasureOptions>({"measure", "-o", "x"}).ranks, testing::ElementsAre(1, 2, 4));
  EXPECT_THAT(parsed<MeasureOptions>({"measure", "-o", "x", "--ranks", "1,2"}).ranks, testing::ElementsAre(1, 2));
}

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

// What plan writes, every command reads: as large as a plan file may hold, and no larger.
TEST(Options, NumbersAreThoseOfAPlanFile) {
  for (const auto& [option, most] :
       {std::pair("--seed", sim::kLargestSeed), std::pair("--vocabulary-multiple", sim::kMostVocabularyMultiple),
        std::pair("--checkpoint-interval", sim::kMostSteps)}) {
    const std::string largest = std::to_string(most), beyond = std::to_string(most + 1);
    EXPECT_NO_THROW(parsed<PlanOptions>(plan_with({option, largest.c_str()})));
    EXPECT_EQ(usage_error(plan_with({option, beyond.c_str()}), option), kUsage);
    EXPECT_EQ(usage_error(plan_with({option, "-1"}), option), kUsage);
  }
  EXPECT_EQ(usage_error({"plan", "--model", "m", "--cluster", "c", "--global-batch", "8000000000", "--sequence", "64", "-o", "p"},
                        "--global-batch"),
            kUsage);
}

TEST(Options, WhatWouldBeIgnoredIsRefused) {
  EXPECT_EQ(usage_error({"simulate", "p", "--mtbf", "5 y"}, "--steps"), kUsage);
  EXPECT_EQ(usage_error({"validate", "r", "--fit", "f", "--leave-out-each"}, "--fit"), kUsage);
  EXPECT_EQ(usage_error({"validate", "r", "--fit", "f", "--leave-out-each"}, "--fit"), kUsage);
  EXPECT_EQ(usage_error({"run", "p", "--data", "d", "-o", "r", "--steps", "3", "--weights", "w", "--resume"}, "--weights"), kUsage);
  EXPECT_EQ(usage_error({"run", "p", "--data", "d", "-o", "r", "--steps", "3", "--fallback", "f"}, "--max-restarts"), kUsage);
}

TEST(Options, SlipsOfThePenAreNamed) {
  EXPECT_EQ(usage_error({"simulat", "p"}, "did you mean simulate?"), kUsage);
  EXPECT_EQ(usage_error({"simulate", "p", "--jsn"}, "did you mean --json?"), kUsage);
  EXPECT_EQ(usage_error({"plan", "--devces=8"}, "did you mean --devices?"), kUsage);
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
