#include "sim/schedule/shape_rules.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

TEST(ShapeRules, EveryDegreeIsAtLeastOne) {
  EXPECT_FALSE(why_not_a_shape({.stages = 1, .microbatches = 1, .chunks = 1}));
  EXPECT_TRUE(why_not_a_shape({.stages = 0, .microbatches = 1, .chunks = 1}));
  EXPECT_TRUE(why_not_a_shape({.stages = 1, .microbatches = -2, .chunks = 1}));
  EXPECT_TRUE(why_not_one_chunk({.stages = 1, .microbatches = 1, .chunks = 0}));
}

TEST(ShapeRules, OneChunk) {
  EXPECT_FALSE(why_not_one_chunk({.stages = 4, .microbatches = 2, .chunks = 1}));
  EXPECT_TRUE(why_not_one_chunk({.stages = 4, .microbatches = 2, .chunks = 2}));
}

}  // namespace
}  // namespace sim
