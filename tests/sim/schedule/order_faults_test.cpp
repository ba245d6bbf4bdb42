#include <gmock/gmock.h>

#include "sim/schedule/order_table.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<Violation> faults_of(const std::vector<std::string>& rows) {
  std::vector<Violation> violations;
  const OrderTable table = parse_order(rows, violations);
  EXPECT_THAT(violations, IsEmpty());
  return order_faults(table);
}

TEST(OrderFaults, NoneInAnOrderThatEnds) { EXPECT_THAT(faults_of({"0F0,0F1,0B0,0B1", "1F0,1B0,1F1,1B1"}), IsEmpty()); }

TEST(OrderFaults, ADeadlockNamesWhoWaitsForWhom) {
  const std::vector<Violation> faults = faults_of({"0F0,0B0,0F1,0B1", "1F0,1F1,1B0,1B1"});
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_THAT(faults[0].problem, HasSubstr("row 0 waits at 0B0 for 1B0 of row 1; row 1 waits at 1F1 for 0F1 of row 0"));
}

TEST(OrderFaults, AnActionThatWaitsForItsOwnRow) {
  const std::vector<Violation> faults = faults_of({"0F0,0W0,0I0"});
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_THAT(faults[0].problem, HasSubstr("row 0 waits at 0W0 for 0I0 of row 0"));
}

TEST(OrderFaults, EachMissingAndEachDoubleActionIsNamed) {
  const std::vector<Violation> faults = faults_of({"0F0,0F0,0B0,0F1", "1F0,1B0,1F1,1B1"});
  ASSERT_THAT(faults, SizeIs(2));
  EXPECT_THAT(faults[0].problem, HasSubstr("0F0 is there twice"));
  EXPECT_THAT(faults[1].problem, HasSubstr("0B1 is missing"));
  EXPECT_EQ(faults[1].where, "row 0");
}

}  // namespace
}  // namespace sim
