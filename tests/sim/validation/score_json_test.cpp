#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "sim/validation/score.h"

namespace sim {
namespace {

TEST(ScoreJson, KeysOfTheFigures) {
  Score score;
  score.macro_mape = 0.05;
  score.sources.push_back({.source = "a", .rows = 4, .mape = 0.05, .worst_id = "w"});
  const auto json = nlohmann::json::parse(score_document(score));
  EXPECT_EQ(json["macro_mape"], 0.05);
  EXPECT_EQ(json["sources"][0]["source"], "a");
  EXPECT_TRUE(json.contains("out_of_memory_accuracy"));
}

}  // namespace
}  // namespace sim
