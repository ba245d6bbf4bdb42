#include <gmock/gmock.h>

#include "tests/cli/parsed_options.h"

namespace cli {
namespace {

TEST(RunOptions, MeasureRanksAreAList) {
  EXPECT_THAT(parsed<MeasureOptions>({"measure", "-o", "x"}).ranks, testing::ElementsAre(1, 2, 4));
  EXPECT_THAT(parsed<MeasureOptions>({"measure", "-o", "x", "--ranks", "1,2"}).ranks, testing::ElementsAre(1, 2));
}

TEST(RunOptions, WhatWouldBeIgnoredIsRefused) {
  EXPECT_EQ(usage_error({"simulate", "p", "--mtbf", "5 y"}, "--steps"), kUsage);
  EXPECT_EQ(usage_error({"validate", "r", "--fit", "f", "--leave-out-each"}, "--fit"), kUsage);
  EXPECT_EQ(usage_error({"run", "p", "--data", "d", "-o", "r", "--steps", "3", "--weights", "w", "--resume"}, "--weights"), kUsage);
  EXPECT_EQ(usage_error({"run", "p", "--data", "d", "-o", "r", "--steps", "3", "--fallback", "f"}, "--max-restarts"), kUsage);
}

}  // namespace
}  // namespace cli
