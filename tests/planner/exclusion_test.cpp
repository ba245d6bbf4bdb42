#include "planner/exclusion.h"

#include <gtest/gtest.h>

namespace planner {
namespace {

TEST(Exclusion, HoldsTheReasonAsValueAndSentence) {
  const Reason reason{"divisibility.heads", {{"heads", "12"}, {"tensor", "8"}}};
  const Exclusion out = exclude("tensor=8", reason, "tensor=6");
  EXPECT_EQ(out.family, "tensor=8");
  EXPECT_EQ(out.code, "divisibility");
  EXPECT_EQ(out.rule, "divisibility.heads");
  EXPECT_EQ(out.reason, "12 attention heads are not divisible by 8");
  EXPECT_EQ(out.arguments, reason.arguments);
  EXPECT_EQ(out.nearest_fix, "tensor=6");
  EXPECT_EQ(out.candidates, 0);
}

}  // namespace
}  // namespace planner
