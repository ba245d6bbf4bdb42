#include "planner/reason.h"

#include <gtest/gtest.h>

namespace planner {
namespace {

TEST(Reason, SaysItsNumbers) {
  const Reason reason{"divisibility.heads", {{"heads", "48"}, {"tensor", "32"}}};
  EXPECT_EQ(to_sentence(reason), "48 attention heads are not divisible by 32");
  EXPECT_EQ(family_of(reason), "divisibility");
}

TEST(Reason, JoinsSeveral) {
  const std::vector<Reason> reasons{{"slower", {{"percent", "8.3 %"}}}, {"bubble", {{"this", "11.0 %"}, {"best", "4.1 %"}}}};
  EXPECT_EQ(to_sentence(reasons), "8.3 % slower: bubble 11.0 % against 4.1 %");
}

TEST(Reason, ShowsACodeWithoutSentenceAsItIs) { EXPECT_EQ(to_sentence(Reason{"new", {{"a", "1"}}}), "new a=1"); }

}  // namespace
}  // namespace planner
