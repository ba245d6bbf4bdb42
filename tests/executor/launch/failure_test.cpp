#include "executor/launch/failure.h"

#include <gtest/gtest.h>

#include "executor/communication/communicator.h"
#include "sim/units/input_error.h"

namespace executor {
namespace {

TEST(Failure, ExitCodesSayWhoIsToBlame) {
  EXPECT_EQ(describe(sim::InputError("plan.json", {{"/mesh", "is wrong", "mend it"}})).exit_code, 30);
  EXPECT_EQ(describe(CollectiveError("rank 1 left")).exit_code, 50);
  EXPECT_EQ(describe(std::runtime_error("oh")).exit_code, 40);
  EXPECT_EQ(describe(sim::InputError("plan.json", {{"/mesh", "is wrong", "mend it"}})).sentence, "plan.json: /mesh: is wrong; mend it");
}

TEST(Failure, AloneItOnlySaysSo) { EXPECT_EQ(end_with({.exit_code = 30, .sentence = "x"}, false, nullptr), 30); }

}  // namespace
}  // namespace executor
