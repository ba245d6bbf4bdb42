#include "sim/schedule/gpipe.h"

#include <gtest/gtest.h>

#include "tests/sim/schedule/pipeline_run.h"

namespace sim {
namespace {

TEST(Gpipe, RunsAllForwardsThenAllBackwardsAscending) {
  for (StageIndex s(0); s.value() < 3; ++s)
    EXPECT_EQ(to_text(kGpipeSchedule.order({.stages = 3, .microbatches = 4}, s)), "F0 F1 F2 F3 B0 B1 B2 B3");
}

TEST(Gpipe, SlicesGoForwardAndComeBackTheOtherWay) {
  EXPECT_EQ(to_text(kGpipeSchedule.order({.stages = 2, .microbatches = 2, .slices = 2}, StageIndex(0))),
            "F0@0 F0@1 F1@0 F1@1 B0@1 B0@0 B1@1 B1@0");
}

TEST(Gpipe, HoldsEveryMicrobatch) {
  for (const PipelineShape shape : testing::many_shapes()) {
    if (kGpipeSchedule.why_unsupported(shape)) continue;
    for (StageIndex s(0); s.value() < shape.stages; ++s) EXPECT_EQ(peak_in_flight(kGpipeSchedule.order(shape, s)), shape.microbatches);
  }
}

TEST(Gpipe, RefusesChunksWithTheirNumber) {
  const auto why = kGpipeSchedule.why_unsupported({.stages = 2, .microbatches = 4, .chunks = 3});
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("not 3"), std::string::npos) << *why;
  EXPECT_FALSE(kGpipeSchedule.why_unsupported({.stages = 8, .microbatches = 1}));
}

}  // namespace
}  // namespace sim
