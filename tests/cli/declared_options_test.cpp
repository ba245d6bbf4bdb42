#include "cli/declared_options.h"

#include <gmock/gmock.h>

#include <utility>

#include "sim/plan/parallel_plan.h"
#include "tests/cli/parsed_options.h"

namespace cli {
namespace {

TEST(DeclaredOptions, WholeNumbersAreJudgedAsIntegers) {
  std::string text = "9007199254740993";  // no double
  EXPECT_EQ(between({1, 9007199254740993})(text), "");
  EXPECT_THAT(between({1, 9007199254740992})(text), testing::HasSubstr("is above 9,007,199,254,740,992"));
  text = "1.5";
  EXPECT_THAT(up_to(8)(text), testing::HasSubstr("is no whole number from 1 to 8"));
}

TEST(DeclaredOptions, ANameThatIsNoneGetsTheNearest) {
  std::string text = "megatrn";
  EXPECT_THAT(one_of({"megatron", "deepspeed"})(text), testing::HasSubstr("did you mean megatron?"));
}

TEST(DeclaredOptions, NothingIsNoValue) {
  std::string text;
  EXPECT_THAT(named()(text), testing::HasSubstr("is given without a value"));
  text = "plan.json";
  EXPECT_EQ(named()(text), "");
  for (const char* option :
       {"--software", "--memory-limit", "--samples", "--precision", "--adapters", "--budget", "--elastic", "--model", "-o"})
    EXPECT_EQ(usage_error(plan_with({option, ""}), "is given without a value"), kUsage) << option;
}

TEST(DeclaredOptions, NumbersSayTheirRange) {
  for (std::string text : {"x", "", "0x10", "1e999", "5 %"}) {
    EXPECT_THAT(number()(text), testing::HasSubstr("is no number, like"));
    EXPECT_THAT(number({0, 8})(text), testing::HasSubstr("is no number from 0 to 8"));
  }
  for (std::string text : {"nan", "inf", "-1", "9"}) EXPECT_THAT(number({0, 8})(text), testing::HasSubstr("is no number from 0 to 8"));
  for (std::string text : {"0", "-0", "8", "1.5", "3e-4"}) EXPECT_EQ(number({0, 8})(text), "");
  for (const char* option : {"--price", "--tokens", "--learning-rate"})
    EXPECT_EQ(usage_error(plan_with({option, "x"}), "is no number"), kUsage) << option;
}

// What plan writes, every command reads: as large as a plan file may hold, and no larger.
TEST(DeclaredOptions, NumbersAreThoseOfAPlanFile) {
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

}  // namespace
}  // namespace cli
