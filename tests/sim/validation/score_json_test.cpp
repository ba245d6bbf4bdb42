#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "sim/validation/score.h"

namespace sim {
namespace {

TEST(ScoreJson, KeysOfTheFigures) {
  Score score;
  score.macro_mape = 0.05;
  score.sources.push_back({.source = "a", .rows = 4, .mape = 0.05, .worst_id = "w"});
  score.orders.push_back({.from = 0.8, .pairs = 7, .said = 0.85, .held = 0.84});
  const auto json = nlohmann::json::parse(score_document(score));
  EXPECT_EQ(json["macro_mape"], 0.05);
  EXPECT_EQ(json["sources"][0]["source"], "a");
  EXPECT_EQ(json["orders"][0]["pairs"], 7);
  EXPECT_EQ(json["orders"][0]["held"], 0.84);
  EXPECT_TRUE(json.contains("out_of_memory_accuracy"));
}

}  // namespace
}  // namespace sim
