#include "cli/disturbance_options.h"

#include <gmock/gmock.h>

#include "sim/units/input_error.h"
#include "tests/sim/plan/plans.h"

namespace cli {
namespace {

sim::ParallelPlan plan_with_lanes() {
  sim::ParallelPlan plan = sim::testing::tiny_plan({.data = 4, .pipeline = 1, .tensor = 1});
  plan.cluster.devices = 4;
  plan.cluster.hardware.devices_per_node = 2;
  plan.cluster.hardware.intra_node.lanes = 1;
  plan.cluster.hardware.inter_node.lanes = 4;
  return plan;
}

TEST(DisturbanceOptions, NamesBecomeRanksAndLinks) {
  SimulateOptions options;
  options.slow_ranks = {"3=1.5"};
  options.slow_links = {"port 1=0.25"};
  options.lost_links = {"uplink 1"};
  const sim::Disturbances found = disturbances_of(options, plan_with_lanes());
  ASSERT_EQ(found.ranks.size(), 1u);
  EXPECT_EQ(found.ranks.front().rank, sim::Rank(3));
  EXPECT_EQ(found.ranks.front().factor, 1.5);
  ASSERT_EQ(found.links.size(), 2u);
  EXPECT_EQ(found.links[0].link, sim::LinkId(1));
  EXPECT_EQ(found.links[1].link, sim::LinkId(5));
  EXPECT_EQ(found.links[1].capacity, 0.75);
}

TEST(DisturbanceOptions, NothingIsSaidTwice) {
  SimulateOptions options;
  options.slow_ranks = {"0=2", "0=1.5"};
  options.slow_links = {"uplink 1=0.5", "port 0=0.5"};
  options.lost_links = {"uplink 1"};
  try {
    disturbances_of(options, plan_with_lanes());
    FAIL() << "nothing was refused";
  } catch (const sim::InputError& error) {
    EXPECT_EQ(error.violations().size(), 2u);
  }
}

TEST(DisturbanceOptions, TellsEveryMistakeAtOnce) {
  SimulateOptions options;
  options.slow_ranks = {"4=2", "x=2", "1", "1=inf", "1=0.9"};
  options.slow_links = {"port 1=0", "uplink 2=0.5"};
  options.lost_links = {"port 0"};
  try {
    disturbances_of(options, plan_with_lanes());
    FAIL() << "nothing was refused";
  } catch (const sim::InputError& error) {
    EXPECT_EQ(error.violations().size(), 8u);
  }
}

}  // namespace
}  // namespace cli
