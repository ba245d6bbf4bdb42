#include "gui/views/rank_layouts.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

RankPicture pictureOf(const sim::ParallelPlan& plan) {
  RankPicture picture{.share = {}, .text = {}, .load = {}, .plan = simulatePlan(plan)};
  picture.load = clusterLoad(*picture.plan);
  picture.share.assign(static_cast<std::size_t>(plan.mesh.ranks()), 0.5);
  picture.text.assign(picture.share.size(), "1 %");
  return picture;
}

std::vector<Box> cells(const std::vector<Box>& boxes) {
  std::vector<Box> found;
  for (const Box& box : boxes)
    if (box.rank >= 0) found.push_back(box);
  return found;
}

TEST(RankLayouts, EveryRankHasItsCellInsideThePictureAndNoneOverlap) {
  const QRectF area(10, 30, 900, 300);
  for (const std::int32_t per_node : {1, 2, 4}) {
    sim::ParallelPlan plan = test::examplePlan();
    plan.cluster.hardware.devices_per_node = per_node;
    const RankPicture picture = pictureOf(plan);
    for (const std::vector<Box>& boxes : {machineBoxes(picture, area), meshBoxes(picture, area)}) {
      const std::vector<Box> ranks = cells(boxes);
      std::set<int> seen;
      for (const Box& box : ranks) {
        EXPECT_TRUE(seen.insert(box.rank).second);
        EXPECT_TRUE(area.contains(box.area)) << box.rank;
        for (const Box& other : ranks) EXPECT_TRUE(other.rank == box.rank || !other.area.intersects(box.area));
      }
      EXPECT_EQ(seen.size(), 4u);
    }
  }
}

TEST(RankLayouts, ContextRanksStandUnderTheirDataIndex) {
  sim::ParallelPlan plan = test::examplePlan();
  plan.mesh = {.data = 1, .pipeline = 2, .tensor = 1, .context = 2};
  const std::vector<Box> ranks = cells(meshBoxes(pictureOf(plan), {0, 0, 600, 200}));
  ASSERT_EQ(ranks.size(), 4u);
  EXPECT_TRUE(ranks[1].tip.contains("stage 0, data 0")) << ranks[1].tip.toStdString();
  EXPECT_GT(ranks[2].area.top(), ranks[1].area.bottom());
}

TEST(RankLayouts, NamesOfManyColumnsDoNotMeet) {
  sim::ParallelPlan plan = test::examplePlan();
  plan.cluster = sim::load_cluster("a100-80gb-sxm", sim::DeviceCount{64});
  plan.workload.global_batch = 64;
  plan.mesh = {.data = 32, .pipeline = 2, .tensor = 1};
  double free = 0;
  int names = 0;
  for (const Box& box : meshBoxes(pictureOf(plan), {0, 0, 600, 200})) {
    if (!box.text.startsWith("data")) continue;
    EXPECT_GE(box.area.left(), free);
    EXPECT_GE(box.area.width(), 50);
    free = box.area.right() - 1;
    ++names;
  }
  EXPECT_GT(names, 0);
}

TEST(RankLayouts, AStageIsARowOfTheMesh) {
  const std::vector<Box> ranks = cells(meshBoxes(pictureOf(test::examplePlan()), {0, 0, 600, 200}));
  EXPECT_EQ(ranks[0].area.top(), ranks[1].area.top());  // data ranks of stage 0
  EXPECT_GT(ranks[2].area.top(), ranks[1].area.bottom());
  EXPECT_TRUE(ranks[2].tip.contains("stage 1, data 0"));
}

}  // namespace
}  // namespace gui
