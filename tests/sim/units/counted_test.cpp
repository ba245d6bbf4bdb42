#include "sim/units/counted.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

TEST(Counted, OneIsNoPlural) {
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(2, "rank"), "2 ranks");
  EXPECT_EQ(counted(0, "file"), "0 files");
  EXPECT_EQ(counted(1, "microbatch"), "1 microbatch");
  EXPECT_EQ(counted(4, "microbatch"), "4 microbatches");
  EXPECT_EQ(counted(8, "process"), "8 processes");
}

}  // namespace
}  // namespace sim
