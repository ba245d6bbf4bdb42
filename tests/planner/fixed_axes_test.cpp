#include "planner/fixed_axes.h"

#include <gtest/gtest.h>

#include "sim/units/input_error.h"

namespace planner {
namespace {

TEST(FixedAxes, ReadsEveryAxis) {
  const FixedAxes axes = read_fixed_axes({{"data", "4"},
                                          {"tensor", "2"},
                                          {"pipeline", "8"},
                                          {"chunks", "3"},
                                          {"microbatch", "16"},
                                          {"zero", "3"},
                                          {"accumulation", "reduce_each"},
                                          {"reshard", "false"},
                                          {"layers_per_unit", "4"},
                                          {"reshard_ranks", "8"},
                                          {"sequence_parallel", "true"},
                                          {"recompute", "full"},
                                          {"schedule", "interleaved"}});
  EXPECT_EQ(axes.at.mesh.data, 4);
  EXPECT_EQ(axes.at.mesh.tensor, 2);
  EXPECT_EQ(axes.at.mesh.pipeline, 8);
  EXPECT_EQ(axes.at.chunks, 3);
  EXPECT_EQ(axes.at.microbatch, 16);
  EXPECT_EQ(axes.at.zero_stage, 3);
  EXPECT_EQ(axes.at.accumulation, sim::Accumulation::ReduceEach);
  EXPECT_EQ(axes.at.reshard, false);
  EXPECT_EQ(axes.at.layers_per_unit, 4);
  EXPECT_EQ(axes.at.reshard_ranks, 8);
  EXPECT_EQ(axes.at.sequence_parallel, true);
  EXPECT_EQ(axes.at.recompute, sim::Recompute::Full);
  EXPECT_EQ(sim::all_schedules()[static_cast<std::size_t>(axes.at.schedule)].name, "interleaved");
  EXPECT_TRUE(axes.has("zero"));
  EXPECT_FALSE(axes.has("expert"));
}

TEST(FixedAxes, NamesEveryMistakeAtOnce) {
  try {
    read_fixed_axes({{"tenser", "2"}, {"data", "-1"}, {"zero", "4"}, {"schedule", "fast"}, {"tensor", "2"}});
    FAIL() << "accepted";
  } catch (const sim::InputError& error) {
    ASSERT_EQ(error.violations().size(), 4u);
    EXPECT_EQ(error.violations()[0].where, "data");
    EXPECT_EQ(error.violations()[1].remedy, "use gpipe, 1f1b, interleaved, zb-1p, zb-2p, zbv, v-half, v-min, looped-bfs, dualpipev");
    EXPECT_EQ(error.violations()[2].where, "tenser");
    EXPECT_EQ(error.violations()[2].problem, "there is no such axis");
  }
}

}  // namespace
}  // namespace planner
