#include "sim/schedule/order_table.h"

#include <gmock/gmock.h>

#include "tests/sim/schedule/pipeline_run.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

OrderTable table_of(const Schedule& schedule, PipelineShape shape) {
  OrderTable table{.stages = {},
                   .chunks = shape.chunks,
                   .microbatches = shape.microbatches,
                   .splits_backward = schedule.splits_backward,
                   .placement = schedule.placement};
  for (StageIndex stage(0); stage.value() < shape.stages; ++stage) table.stages.push_back(schedule.order(shape, stage));
  return table;
}

OrderTable parsed(const std::vector<std::string>& rows) {
  std::vector<Violation> violations;
  OrderTable table = parse_order(rows, violations);
  EXPECT_THAT(violations, IsEmpty());
  return table;
}

TEST(OrderTable, EveryScheduleSurvivesTheRoundTripAndCanBePerformed) {
  for (const Schedule& schedule : all_schedules())
    for (const PipelineShape shape : testing::many_shapes()) {
      if (schedule.why_unsupported(shape) || shape.microbatches > 8) continue;
      const OrderTable table = table_of(schedule, shape), again = parsed(order_rows(table));
      ASSERT_EQ(again.stages, table.stages) << schedule.name;
      ASSERT_EQ(again.splits_backward, table.splits_backward);
      if (shape.stages > 1) {
        ASSERT_EQ(again.placement, table.placement);
      }
      ASSERT_THAT(order_faults(again), IsEmpty());
    }
}

TEST(OrderTable, LooksLikeTorchs) {
  const PipelineShape shape{.stages = 2, .microbatches = 2};
  EXPECT_EQ(order_rows(table_of(*find_schedule("zb-1p"), shape))[1], "1F0,1I0,1F1,1I1,1W0,1W1");
  EXPECT_EQ(order_rows(table_of(*find_schedule("1f1b"), shape))[0], "0F0,0F1,0B0,0B1");
}

TEST(OrderTable, ReadsBubblesCommunicationAndOverlappedPairs) {
  const OrderTable table =
      parsed({"0F0, 0SEND_F0,0F1,,(0B0;0F2)OVERLAP_F_B,0B1,0REDUCE_GRAD,0B2\r", "1UNSHARD,1RECV_F0,1F0,1B0,1F1,1B1,1F2,1B2"});
  EXPECT_EQ(to_text(table.stages[0]), "F0 F1 B0 F2 B1 B2");
  EXPECT_EQ(to_text(table.stages[1]), "F0 B0 F1 B1 F2 B2");
  EXPECT_EQ(table.microbatches, 3);
}

TEST(OrderTable, AWholeBackwardIsBothPartsWhereOthersAreSplit) {
  EXPECT_EQ(to_text(parsed({"0F0,0B0,0F1,0I1,0W1"}).stages[0]), "F0 B0 W0 F1 B1 W1");
}

TEST(OrderTable, TellsEveryCellThatIsNoAction) {
  std::vector<Violation> violations;
  parse_order({"0F0,0X1,F2", "1F0,1B0,99999999F0"}, violations);
  ASSERT_THAT(violations, SizeIs(3));
  EXPECT_EQ(violations[0].where, "row 0, cell 1");
  EXPECT_THAT(violations[2].problem, HasSubstr("99999999F0"));
}

TEST(OrderTable, RefusesOtherPlacements) {
  std::vector<Violation> violations;
  parse_order({"0F0,1F0,1B0,0B0", "2F0,3F0,3B0,2B0"}, violations);
  ASSERT_THAT(violations, SizeIs(1));
  EXPECT_THAT(violations[0].problem, HasSubstr("neither in a loop"));
  violations.clear();
  parse_order({}, violations);
  EXPECT_THAT(violations, IsEmpty());  // an order of no stages: refused where it meets a plan
}

}  // namespace
}  // namespace sim
