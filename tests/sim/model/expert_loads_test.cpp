#include "sim/model/expert_loads.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

TEST(ExpertLoads, TextsAreReadAndWritten) {
  for (const char* text : {"", "even", "untrained", "spread 0.6", "list 310 120*2 275"}) {
    std::vector<Violation> violations;
    EXPECT_EQ(to_text(parse_expert_loads(text, violations)), text);
    EXPECT_THAT(violations, testing::IsEmpty()) << text;
  }
}

TEST(ExpertLoads, EqualNeighboursAreOneWord) {
  std::vector<Violation> violations;
  const ExpertLoads loads = parse_expert_loads("list 5 5 5 7*1 0", violations);
  EXPECT_THAT(loads.tokens, testing::ElementsAre(5, 5, 5, 7, 0));
  EXPECT_EQ(to_text(loads), "list 5*3 7 0");
}

TEST(ExpertLoads, WhatIsNoneIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"uneven", "uneven"},          {"even 3", "3"},      {"untrained 3", "3"}, {"spread", "spread"}, {"spread -1", "-1"},
      {"spread nan", "nan"},         {"list", "list"},     {"list 0 0", "0"},    {"list 4 -2", "-2"},  {"list 4*0", "4*0"},
      {"list 1*100001", "1*100001"}, {"list 1 two", "two"}};
  for (const auto& [text, word] : cases) {
    std::vector<Violation> violations;
    EXPECT_EQ(parse_expert_loads(text, violations), ExpertLoads{}) << text;
    ASSERT_THAT(violations, testing::SizeIs(1)) << text;
    EXPECT_EQ(violations.front().where, word);
  }
}

}  // namespace
}  // namespace sim
