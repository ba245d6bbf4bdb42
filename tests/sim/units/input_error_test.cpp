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

}  // namespace
}  // namespace sim
