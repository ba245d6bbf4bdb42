#include <gmock/gmock.h>

#include "tests/sim/validation/rows.h"

namespace sim {
namespace {

TEST(ReadTarget, EverythingThatAScoreNeeds) {
  const RowTarget target = read_target(valid_row(), "mine");
  EXPECT_EQ(target.source, "mine");
  EXPECT_EQ(target.time, 2.0);
  EXPECT_EQ(target.memory_gib, 40);
  EXPECT_EQ(target.memory_kind, "allocated");
  EXPECT_EQ(target.out_of_memory, false);
  EXPECT_TRUE(target.headline);
}

TEST(ReadTarget, NothingMeasured) {
  Json row = valid_row();
  row.erase("target");
  EXPECT_FALSE(read_target(row, "mine").time.has_value());
}

TEST(ReadTarget, SweepsShareWhatIsFixed) {
  Json other = valid_row();
  other["plan"]["tp"] = 8;
  EXPECT_EQ(read_target(other, "a").sweep, read_target(valid_row(), "b").sweep);
  other["plan"]["global_batch"] = 8;
  EXPECT_NE(read_target(other, "a").sweep, read_target(valid_row(), "b").sweep);
}

}  // namespace
}  // namespace sim
