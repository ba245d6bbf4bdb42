#include "executor/launch/stop_request.h"

#include <gtest/gtest.h>

#include <csignal>

namespace executor {
namespace {

TEST(StopRequest, SignalsBecomeAWish) {
  watch_stop_signals();
  EXPECT_FALSE(stop_requested());
  std::raise(SIGUSR1);
  EXPECT_TRUE(stop_requested());
  std::raise(SIGTERM);  // and do not end the process
}

}  // namespace
}  // namespace executor
