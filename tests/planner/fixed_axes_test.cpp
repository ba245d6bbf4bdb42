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
  EXPECT_EQ(axes.data, 4);
  EXPECT_EQ(axes.tensor, 2);
  EXPECT_EQ(axes.pipeline, 8);
  EXPECT_EQ(axes.chunks, 3);
  EXPECT_EQ(axes.microbatch, 16);
  EXPECT_EQ(axes.zero, 3);
  EXPECT_EQ(axes.accumulation, sim::Accumulation::ReduceEach);
  EXPECT_EQ(axes.reshard, false);
  EXPECT_EQ(axes.layers_per_unit, 4);
  EXPECT_EQ(axes.reshard_ranks, 8);
  EXPECT_EQ(axes.sequence_parallel, true);
  EXPECT_EQ(axes.recompute, sim::Recompute::Full);
  EXPECT_EQ(axes.schedule, "interleaved");
}

TEST(FixedAxes, NamesEveryMistakeAtOnce) {
  try {
    read_fixed_axes({{"tenser", "2"}, {"data", "-1"}, {"zero", "4"}, {"schedule", "fast"}, {"tensor", "2"}});
    FAIL() << "accepted";
  } catch (const sim::InputError& error) {
    ASSERT_EQ(error.violations().size(), 4u);
    EXPECT_EQ(error.violations()[0].where, "--fix data");
    EXPECT_EQ(error.violations()[1].remedy, "use gpipe, 1f1b, interleaved, zb-1p, zb-2p, zbv, v-half, v-min");
    EXPECT_EQ(error.violations()[2].problem, "there is no axis 'tenser'");
  }
}

}  // namespace
}  // namespace planner
