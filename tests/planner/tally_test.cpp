#include "planner/tally.h"

#include <gmock/gmock.h>

#include <random>

namespace planner {
namespace {

using ::testing::UnorderedElementsAre;

Judgement judged(Verdict verdict, std::int64_t bytes, std::int64_t picoseconds) {
  return {.verdict = verdict, .memory = sim::Bytes(bytes), .time = sim::SimTime(picoseconds)};
}

TEST(Tally, CountsAndFindsTheNearest) {
  Tally tally;
  tally.add(3, judged(Verdict::Beaten, 5, 70));
  tally.add(4, judged(Verdict::Beaten, 9, 60));
  tally.add(5, judged(Verdict::TooLarge, 90, 1));
  tally.add(6, judged(Verdict::TooLarge, 80, 2));
  tally.add(7, judged(Verdict::TooLarge, 80, 0));
  EXPECT_EQ(tally.size(), 5);
  EXPECT_EQ(tally.count(Verdict::Beaten), 2);
  EXPECT_EQ(tally.count(Verdict::Simulated), 0);
  EXPECT_EQ(tally.least(Verdict::Beaten), 4U);
  EXPECT_EQ(tally.least(Verdict::TooLarge), 6U);
  EXPECT_FALSE(tally.is_refused());
}

TEST(Tally, IsRefusedWhereARuleWasAskedAndLetNobodyIn) {
  Tally tally;
  Judgement sketched = judged(Verdict::Beaten, 1, 1);
  sketched.is_sketch = true;
  tally.add(0, sketched);
  EXPECT_FALSE(tally.is_refused());
  tally.add(1, judged(Verdict::NotRunnable, 0, 0));
  EXPECT_TRUE(tally.is_refused());
  EXPECT_THAT(tally.refused(), UnorderedElementsAre(1U));
  tally.add(2, judged(Verdict::Simulated, 1, 1));
  EXPECT_FALSE(tally.is_refused());
}

TEST(Tally, PartsAddUpInAnyOrder) {
  std::mt19937 random(1);
  Tally all;
  std::vector<Tally> parts(4);
  for (std::size_t at = 0; at < 200; ++at) {
    const Judgement one =
        judged(static_cast<Verdict>(random() % 7), static_cast<std::int64_t>(random() % 20), static_cast<std::int64_t>(random() % 20));
    all.add(at, one);
    parts[random() % parts.size()].add(at, one);
  }
  Tally sum;
  for (const std::size_t part : {2, 0, 3, 1}) sum.add(parts[part]);
  EXPECT_EQ(sum.size(), all.size());
  EXPECT_EQ(sum.first(), 0U);
  for (const Verdict verdict : {Verdict::TooLarge, Verdict::TooRisky, Verdict::Beaten, Verdict::Simulated}) {
    EXPECT_EQ(sum.count(verdict), all.count(verdict));
    EXPECT_EQ(sum.least(verdict), all.least(verdict));
  }
  EXPECT_EQ(sum.refused().size(), all.refused().size());
}

}  // namespace
}  // namespace planner
