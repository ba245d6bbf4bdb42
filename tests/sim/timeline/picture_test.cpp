// A timeline as a picture (picture_text in timeline.h).
#include <gtest/gtest.h>

#include "sim/timeline/timeline.h"
#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

TEST(Picture, ShowsWhatHappensInTheMiddleOfEachCell) {
  EXPECT_EQ(picture_text(testing::two_stages(), {20}),
            "stage 0 | FFFF........==rrBBBs\n"
            "stage 1 | ....==FFBBBB........\n"
            "          0             100 us\n");
}

TEST(Picture, ComputingHidesCommunication) {
  Timeline timeline;
  timeline.devices = {{.representative = Rank(0), .stage = StageIndex(0)}};
  timeline.spans = {testing::span(0, testing::compute_key(StageIndex(0), 0, Phase::Backward), testing::us(0), testing::us(5)),
                    testing::span(0, testing::compute_key(StageIndex(0), 0, Phase::Gradients, Operation::AllReduce), testing::us(2),
                                  testing::us(10), Stream::Reduce)};
  EXPECT_EQ(picture_text(timeline, {10}), "stage 0 | BBBBB=====\n          0  10.0 us\n");
}

TEST(Picture, OfNothing) {
  Timeline timeline;
  EXPECT_EQ(picture_text(timeline, {5}).find('F'), std::string::npos);
  timeline.devices = {{.representative = Rank(0), .stage = StageIndex(0)}};
  EXPECT_EQ(picture_text(timeline, {5}).substr(0, 16), "stage 0 | .....\n");
  EXPECT_EQ(picture_text(timeline, {-3}).substr(0, 12), "stage 0 | .\n");
}

// Spans must not move when the end of time is far away.
TEST(Picture, OfALongTimeline) {
  Timeline timeline;
  timeline.devices = {{.representative = Rank(0), .stage = StageIndex(0)}};
  const SimTime day = std::chrono::hours(24);
  timeline.spans = {testing::span(0, testing::compute_key(StageIndex(0), 0, Phase::Forward), day * 25, day * 100)};
  EXPECT_EQ(picture_text(timeline, {4}).substr(0, 15), "stage 0 | .FFF\n");
}

}  // namespace
}  // namespace sim
