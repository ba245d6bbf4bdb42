#include "sim/validation/orders.h"

#include <gmock/gmock.h>

#include <cmath>

namespace sim {
namespace {

struct Run {
  double predicted = 0, measured = 0;
  std::string program = "p", sweep = "s|x", source = "s";
};

Score scored(const std::vector<Run>& runs) {
  ValidationRows rows;
  for (const Run& run : runs) {
    PredictedRow row;
    row.estimate.step = {Seconds(run.predicted), 0.1, {}};
    row.estimate.program = run.program;
    rows.predictions.push_back(row);
    rows.targets.push_back({.source = run.source,
                            .sweep = run.sweep,
                            .time = run.measured,
                            .memory_gib = {},
                            .memory_kind = {},
                            .out_of_memory = {},
                            .headline = true});
  }
  Score result;
  score_orders(rows, result);
  return result;
}

std::int64_t pairs(const Score& score) {
  std::int64_t sum = 0;
  for (const OrderScore& order : score.orders) sum += order.pairs;
  return sum;
}

TEST(Orders, SureAndRight) {
  const Score score = scored({{1, 10}, {2, 20}, {3, 30}});
  EXPECT_EQ(pairs(score), 3);
  EXPECT_EQ(score.orders.back().pairs, 3) << "gaps of a half are many times the interval";
  EXPECT_DOUBLE_EQ(score.orders.back().held, 1);
  EXPECT_GT(score.orders.back().said, 0.99);
  EXPECT_LT(score.order_surprise, 0.01);
}

TEST(Orders, SureAndWrongCosts) {
  const Score score = scored({{1, 30}, {2, 20}});
  EXPECT_DOUBLE_EQ(score.orders.back().held, 0);
  EXPECT_GT(score.order_surprise, 4);
}

TEST(Orders, EqualPredictionsAreSaidWithAHalf) {
  const Score score = scored({{1, 1}, {1, 2}});
  EXPECT_EQ(score.orders.front().pairs, 1);
  EXPECT_DOUBLE_EQ(score.orders.front().said, 0.5);
  EXPECT_NEAR(score.order_surprise, std::log(2), 1e-9);
}

TEST(Orders, OnlyRunsOfOneQuestionAndOneProgramAreCompared) {
  EXPECT_EQ(pairs(scored({{1, 1}, {2, 2, "other"}})), 0);
  EXPECT_EQ(pairs(scored({{1, 1}, {2, 2, "p", "s|y"}})), 0);
  EXPECT_EQ(pairs(scored({{1, 1}, {2, 1}})), 0) << "measured alike: no order";
}

// Three pairs of one source hold, one of another does not: by pairs 3 of 4, by source a half.
TEST(Orders, BySourceEachCountsAlike) {
  const Score score = scored({{1, 10}, {2, 20}, {3, 30}, {1, 2, "p", "t|x", "t"}, {2, 1, "p", "t|x", "t"}});
  EXPECT_DOUBLE_EQ(score.orders.back().held, 0.75);
  EXPECT_DOUBLE_EQ(score.orders.back().held_by_source, 0.5);
  EXPECT_EQ(score.orders.back().sources, 2);
}

}  // namespace
}  // namespace sim
