#include "cli/estimate_json.h"

#include <gtest/gtest.h>

#include "sim/units/json_reader.h"

namespace cli {
namespace {

TEST(EstimateDocument, HoldsEachLayoutWithItsInterval) {
  planner::EstimatedLayout layout;
  layout.run.layout.expert = 8;
  layout.step.time = sim::Seconds(2);
  layout.step.low = sim::Seconds(1.5);
  layout.step.high = sim::Seconds(2.5);
  const sim::Json document =
      sim::parse_json(estimate_document({.ranked = {layout}, .candidates = 7, .over_memory = 3, .smallest = {}}), "document");
  EXPECT_EQ(document["candidates"], 7);
  EXPECT_EQ(document["ranked"][0]["layout"]["expert"], 8);
  EXPECT_EQ(document["ranked"][0]["step_time_high_seconds"], 2.5);
}

}  // namespace
}  // namespace cli
