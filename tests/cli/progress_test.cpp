#include "cli/progress.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

namespace cli {
namespace {

TEST(Progress, LineSaysHowFarAndHowLong) {
  EXPECT_EQ(progress_line("run: step", {.done = 30, .all = 120, .details = "loss 3.2100"}, std::chrono::seconds(6)),
            "run: step 30 of 120 (25 %), loss 3.2100, 6 s left");
  EXPECT_EQ(progress_line("run: step", {.done = 1, .all = 4, .details = {}}, std::chrono::minutes(90)),
            "run: step 1 of 4 (25 %), 1.5 h left");
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

TEST(Progress, TheFirstFewOfManySayNothingAboutTheRest) {
  for (const auto& [done, tells] : {std::pair(1, false), std::pair(60, true)}) {
    testing::internal::CaptureStderr();
    {
      Progress progress("search");
      progress.update({.done = 0, .all = 1000, .details = {}});
      std::this_thread::sleep_for(std::chrono::milliseconds(2100));
      progress.update({.done = done, .all = 1000, .details = {}});
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr().find("left") != std::string::npos, tells) << done;
  }
}

}  // namespace
}  // namespace cli
