#include "cli/progress.h"

#include <gtest/gtest.h>

namespace cli {
namespace {

TEST(Progress, LineSaysHowFarAndHowLong) {
  EXPECT_EQ(progress_line("run: step", {.done = 30, .all = 120, .details = "loss 3.2100"}, std::chrono::seconds(6)),
            "run: step 30 of 120 (25 %), loss 3.2100, 6 s left");
}

TEST(Progress, UnknownTotalHasNoShareAndNoEnd) {
  EXPECT_EQ(progress_line("measure: pass", {.done = 3, .all = 0, .details = {}}, std::chrono::seconds(-1)), "measure: pass 3");
}

TEST(Progress, SaysNothingInTheFirstTwoSeconds) {
  testing::internal::CaptureStderr();
  {
    Progress progress("quick");
    for (int done = 0; done < 100; ++done) progress.update({.done = done, .all = 100, .details = {}});
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace cli
