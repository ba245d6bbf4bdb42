#include "sim/units/input_error.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

TEST(InputError, TellsEveryViolationOnALineOfItsOwn) {
  const InputError error("plan.json", {{"/devices", "is 0", "give at least 1"}, {"", "is too short", ""}});
  EXPECT_STREQ(error.what(), "plan.json: /devices: is 0; give at least 1\nplan.json: is too short");
  EXPECT_EQ(error.file(), "plan.json");
  EXPECT_EQ(error.violations().size(), 2u);
}

TEST(InputError, NeedsNoFile) {
  const InputError error("", {{"--devices", "is 0", ""}, {"", "nothing to do", ""}});
  EXPECT_STREQ(error.what(), "--devices: is 0\nnothing to do");
}

TEST(InputError, WhatDiffersInNumbersAloneIsOneFromFourOn) {
  std::vector<Violation> many = {{"/a", "is missing", "add it"}, {"/b", "is missing", "add it"}};
  for (const char* row : {"/rows/1", "/rows/2", "/rows/30", "/rows/31"}) many.push_back({row, "has no batch", "add it"});
  const std::vector<Violation> groups = grouped(many);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(located(groups[2]), "/rows/1: has no batch (and 3 more like it, to /rows/31)");
  many.pop_back();
  EXPECT_EQ(grouped(many).size(), 5u);
}

}  // namespace
}  // namespace sim
