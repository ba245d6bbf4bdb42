#include <gmock/gmock.h>

#include "sim/clock/behavior.h"
#include "sim/units/input_error.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

TEST(BehaviorJson, TheCommonOneLoads) {
  EXPECT_GT(common_behavior().flash_tokens, 0);
  EXPECT_LT(common_behavior().misaligned_share, common_behavior().half_aligned_share);
}

TEST(BehaviorJson, EachConstantNeedsItsMeaningAndSource) {
  Json json = load_json_file("profiles/behavior/common.json");
  json["constants"]["expert_spread"]["source"] = "";
  EXPECT_THROW(behavior_from_json(json, "f"), InputError);
  json["constants"]["expert_spread"] = {{"value", -1}, {"meaning", "m"}, {"source", "s"}};
  EXPECT_THROW(behavior_from_json(json, "f"), InputError);
  json["constants"].erase("expert_spread");
  EXPECT_THROW(behavior_from_json(json, "f"), InputError);
}

TEST(BehaviorJson, AnotherOneStandsInWhileItLives) {
  const Behavior usual = common_behavior();
  Behavior other = usual;
  other.masked_share = 0.5;
  {
    const BehaviorInstead instead(other);
    EXPECT_EQ(common_behavior().masked_share, 0.5);
  }
  EXPECT_EQ(common_behavior().masked_share, usual.masked_share);
}

}  // namespace
}  // namespace sim
