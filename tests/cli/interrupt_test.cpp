#include "cli/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>

#include "cli/exit_code.h"

namespace cli {
namespace {

TEST(Interrupt, ASignalSetsTheFlagAndTheProcessLives) {
  const auto interrupt = [] {
    const bool before = interrupted();
    raise(SIGINT);
    const bool first = interrupted() && !insisted();
    raise(SIGTERM);
    std::exit(!before && first && insisted() ? 0 : 1);
  };
  EXPECT_EXIT(interrupt(), testing::ExitedWithCode(0), "");
}

TEST(Interrupt, ABudgetWaitsForAnAnswer) {
  EXPECT_FALSE(is_over(sim::Seconds(1e9), std::nullopt, true)) << "there is none";
  EXPECT_FALSE(is_over(sim::Seconds(4), sim::Seconds(5), true));
  EXPECT_TRUE(is_over(sim::Seconds(5), sim::Seconds(5), true));
  EXPECT_FALSE(is_over(sim::Seconds(64), sim::Seconds(5), false));
  EXPECT_TRUE(is_over(sim::Seconds(65), sim::Seconds(5), false)) << "not for ever";
}

TEST(Interrupt, BeforeAnyWorkASignalEndsTheProgram) {
  const auto early = [] {
    end_on_signals();
    raise(SIGTERM);
  };
  EXPECT_EXIT(early(), testing::ExitedWithCode(kInterrupted), "");
}

TEST(Interrupt, TheThirdSignalEndsTheProcess) {
  const auto insist = [] {
    interrupted();
    for (int i = 0; i < 3; ++i) raise(SIGINT);
    std::exit(0);
  };
  EXPECT_EXIT(insist(), testing::ExitedWithCode(kInterrupted), "");
}

}  // namespace
}  // namespace cli
