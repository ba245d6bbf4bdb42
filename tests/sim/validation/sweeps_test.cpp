#include <gmock/gmock.h>

#include "sim/validation/sweeps.h"

namespace sim {
namespace {

ValidationRows sweep(const std::vector<std::pair<double, double>>& predicted_and_measured) {
  ValidationRows rows;
  for (const auto& [predicted, measured] : predicted_and_measured) {
    PredictedRow row;
    row.estimate.time = Seconds(predicted);
    rows.predictions.push_back(row);
    rows.targets.push_back({.source = "s", .sweep = "s|x", .time = measured, .memory_gib = {}, .memory_kind = {}, .out_of_memory = {}});
  }
  return rows;
}

SweepScore scored(const ValidationRows& rows) {
  Score result;
  score_sweeps(rows, result);
  return result.sweeps;
}

TEST(Sweeps, RightOrder) {
  const SweepScore score = scored(sweep({{1, 10}, {2, 20}, {3, 30}}));
  EXPECT_EQ(score.sweeps, 1);
  EXPECT_DOUBLE_EQ(score.regret, 0);
  EXPECT_DOUBLE_EQ(score.top1, 1);
  EXPECT_DOUBLE_EQ(score.spearman, 1);
}

TEST(Sweeps, WrongPickCosts) {
  const SweepScore score = scored(sweep({{3, 10}, {2, 20}, {1, 15}}));
  EXPECT_DOUBLE_EQ(score.regret, 0.5);
  EXPECT_DOUBLE_EQ(score.top1, 0);
}

TEST(Sweeps, TiesShareTheCredit) {
  const SweepScore score = scored(sweep({{1, 10}, {1, 20}, {1, 30}}));
  EXPECT_DOUBLE_EQ(score.regret, 1);
  EXPECT_DOUBLE_EQ(score.spearman, 0);
}

TEST(Sweeps, OutOfMemoryIsNotPicked) {
  ValidationRows rows = sweep({{1, 20}, {2, 10}, {3, 30}});
  rows.predictions[0].estimate.out_of_memory = true;
  EXPECT_DOUBLE_EQ(scored(rows).regret, 0);
}

TEST(Sweeps, TwoRowsAreNoSweep) { EXPECT_EQ(scored(sweep({{1, 10}, {2, 20}})).sweeps, 0); }

}  // namespace
}  // namespace sim
