#include <gmock/gmock.h>

#include "sim/validation/score.h"

namespace sim {
namespace {

TEST(ScoreText, ATableInPercent) {
  Score score;
  score.macro_mape = 0.0512;
  score.sources.push_back({.source = "a", .rows = 4, .mape = 0.05, .bias = -0.02, .worst_id = "w"});
  const std::string text = score_text(score);
  EXPECT_THAT(text, testing::HasSubstr("| a | 4 | 5.0 | -2.0 |"));
  EXPECT_THAT(text, testing::HasSubstr("macro MAPE | 5.12 %"));
}

}  // namespace
}  // namespace sim
