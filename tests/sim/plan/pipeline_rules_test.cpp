#include <gmock/gmock.h>

#include "tests/sim/plan/broken.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using testing::broken;
using ::testing::IsEmpty;

TEST(PipelineRules, GroupsOfMicrobatchesAreOfInterleavedChunks) {
  ParallelPlan plan = testing::interleaved_plan({.data = 1, .pipeline = 2, .tensor = 1}, 2);
  plan.microbatch_group = 4;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.microbatch_group = 7;
  EXPECT_THAT(violations(plan), broken("/schedule", "groups of 7 cut 8 microbatches"));
  plan = testing::tiny_plan();
  plan.microbatch_group = 4;
  EXPECT_THAT(violations(plan), broken("/microbatch_group", "1f1b"));
}

TEST(PipelineRules, CutMustCoverTheLayers) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 1});
  plan.cut.first = {LayerIndex(1), LayerIndex(3)};
  EXPECT_THAT(violations(plan), broken("/cut", "must start with layer 0"));
}

TEST(PipelineRules, APartMayBeTheEmbeddingOrTheHeadAlone) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 1});
  plan.cut.first = {LayerIndex(0), LayerIndex(1)};
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
  plan.cut.first = {LayerIndex(0), LayerIndex(5)};
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
  plan.cut.first = {LayerIndex(0), LayerIndex(6)};
  EXPECT_THAT(violations(plan), broken("/cut", "leave the head to the last chunk"));
}

TEST(PipelineRules, EmbeddingAndHeadMayStandAlone) {
  ParallelPlan plan = testing::tiny_plan({.pipeline = 3});
  plan.cut.first = {LayerIndex(0), LayerIndex(1), LayerIndex(5)};
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.cut.first = {LayerIndex(0), LayerIndex(1), LayerIndex(6)};
  EXPECT_THAT(violations(plan), broken("/cut", "leave the head to the last chunk"));
  plan.cut.first = {LayerIndex(0), LayerIndex(0), LayerIndex(5)};
  EXPECT_THAT(violations(plan), broken("/cut", "must start with layer 0"));
  EXPECT_THAT(violations(testing::tiny_plan({.pipeline = 6})), IsEmpty());
  EXPECT_THAT(violations(testing::tiny_plan({.pipeline = 7})), broken("/mesh/pipeline", "7 virtual stages, but the model has 4 blocks"));
}

TEST(PipelineRules, APartWithoutALayerIsAWholeStages) {
  ParallelPlan plan = testing::tiny_plan({.pipeline = 3});
  plan.cut.first = {LayerIndex(0), LayerIndex(5), LayerIndex(5)};
  EXPECT_THAT(violations(plan), IsEmpty());
  plan = testing::interleaved_plan({.pipeline = 2}, 2);
  plan.cut.first = {LayerIndex(0), LayerIndex(2), LayerIndex(2), LayerIndex(4)};
  EXPECT_THAT(violations(plan), broken("/cut", "a chunk without a layer among 2"));
}

TEST(PipelineRules, UnknownScheduleNamesTheKnownOnes) {
  ParallelPlan plan = testing::tiny_plan();
  plan.schedule = "dualpipe";
  ASSERT_THAT(violations(plan), broken("/schedule", "dualpipe"));
  EXPECT_THAT(violations(plan).front().remedy, HasSubstr("interleaved"));
}

TEST(PipelineRules, AWrittenOrderMustBeOfThePlansShapeAndEnd) {
  const auto found = [](const std::vector<std::string>& rows) {
    ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2});
    plan.workload.global_batch = 2;
    std::vector<Violation> unreadable;
    plan.take_order(parse_order(rows, unreadable));
    EXPECT_TRUE(unreadable.empty());
    const std::vector<Violation> all = violations(plan);
    return all.empty() ? std::string() : all.front().problem;
  };
  EXPECT_EQ(found({"0F0,0F1,0I0,0W0,0I1,0W1", "1F0,1I0,1F1,1I1,1W0,1W1"}), "");
  EXPECT_THAT(found({"0F0,0B0", "1F0,1B0"}), ::testing::HasSubstr("1 microbatch; the plan has 2 stages, 1 chunk and 2 microbatches"));
  EXPECT_THAT(found({"0F0,0B0,0F1,0B1", "1F0,1F1,1B0,1B1"}), ::testing::HasSubstr("nobody can go on"));
  EXPECT_THAT(found({"0F0,0F1,3F0,3F1,3B0,3B1,0B0,0B1", "1F0,1F1,2F0,2F1,2B0,2B1,1B0,1B1"}), "");  // a V of two chunks
}

TEST(PipelineRules, ScheduleCsvNeedsItsOrder) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2});
  plan.schedule = "csv";
  ASSERT_FALSE(violations(plan).empty());
  EXPECT_EQ(violations(plan).front().where, "/order");
}

// Two microbatches each: the second pass begins where the first has drained.
TEST(PipelineRules, APassIsAStepOfTheScheduleByItself) {
  ParallelPlan plan = testing::tiny_plan({.pipeline = 2});
  plan.passes = 2;
  plan.workload.global_batch = 4 * plan.microbatch_size;
  EXPECT_THAT(violations(plan), IsEmpty());
  EXPECT_EQ(to_text(plan.order(StageIndex(0))), "F0 F1 B0 B1 F2 F3 B2 B3");
  EXPECT_EQ(to_text(plan.order(StageIndex(1))), "F0 B0 F1 B1 F2 B2 F3 B3");
  EXPECT_EQ(plan.order_table().microbatches, 4);
}

TEST(PipelineRules, PassesShareTheMicrobatchesOfAPipeline) {
  constexpr const char* kWhere = "/passes";
  ParallelPlan plan = testing::tiny_plan({.pipeline = 2});
  plan.workload.global_batch = 4 * plan.microbatch_size;
  const auto with = [&](const auto& change) {
    ParallelPlan changed = plan;
    changed.passes = 2;
    change(changed);
    return violations(changed);
  };
  EXPECT_THAT(with([](ParallelPlan& p) { p.passes = 3; }), broken(kWhere, "3 passes of 4 microbatches have unequally many"));
  EXPECT_THAT(
      with([](ParallelPlan& p) { p.mesh = {}, p.cluster.devices = 1, p.cut = even_cut(p.model.inner_layers(), p.pipeline_shape()); }),
      broken(kWhere, "there is one stage"));
  EXPECT_THAT(with([](ParallelPlan& p) { p.take_order(p.order_table()); }), broken(kWhere, "written for all microbatches"));
  // A pass of one microbatch has none to interleave with.
  EXPECT_THAT(with([](ParallelPlan& p) { p.schedule = "interleaved", p.chunks = 2, p.passes = 4; }), ::testing::Not(IsEmpty()));
  EXPECT_THAT(with([](ParallelPlan& p) { p.passes = 0; }), ::testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace sim
