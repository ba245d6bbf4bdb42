#include "executor/communication/wait_circle.h"

#include <gmock/gmock.h>

namespace executor {
namespace {

using Time = WaitCircle::Time;
using ::testing::HasSubstr;

Waiting waiting(std::int32_t rank, std::int32_t for_rank, std::int64_t number = 1) {
  return {.number = number, .rank = rank, .for_rank = for_rank, .in = "operation of " + std::to_string(rank)};
}

// What rank 0 finds from 0 ms on, every 10 ms, when the ranks answer at once with `answers` (none: it computes). Empty: nothing in 5 s.
std::string found(const Waiting& mine, const std::vector<Waiting>& answers) {
  WaitCircle circle;
  for (Time now{0}; now < Time(5000); now += Time(10)) {
    const WaitCircle::Finding finding = circle.look(mine, now);
    if (!finding.circle.empty()) return finding.circle;
    for (const Waiting& answer : answers)
      if (finding.ask == answer.rank) circle.learn(answer, now + Time(5));
  }
  return "";
}

TEST(WaitCircle, NamesEachMemberAndItsOperation) {
  const std::string text = found(waiting(0, 2), {waiting(2, 1), waiting(1, 0)});
  EXPECT_THAT(text,
              HasSubstr("rank 0 waits for rank 2 in operation of 0; rank 2 waits for rank 1 in operation of 2; rank 1 waits for rank 0"));
}

TEST(WaitCircle, ARankOutsideTheCircleFindsItToo) {
  const std::string text = found(waiting(0, 1), {waiting(1, 2), waiting(2, 1)});
  EXPECT_THAT(text, HasSubstr("rank 1 waits for rank 2 in operation of 1; rank 2 waits for rank 1 in operation of 2."));
  EXPECT_THAT(text, Not(HasSubstr("rank 0")));
}

TEST(WaitCircle, WaitsForWhoComputes) {
  EXPECT_EQ(found(waiting(0, 1), {}), "");
  EXPECT_EQ(found(waiting(0, 1), {waiting(1, 2)}), "");
  EXPECT_EQ(found(waiting(0, 1), {waiting(1, -1)}), "");
  EXPECT_EQ(found(waiting(0, -1), {}), "");
}

// Rank 1 waits for rank 0, but never in the same wait when it is asked again: it moves, and so there is no circle.
TEST(WaitCircle, MovingRanksMakeNoCircle) {
  WaitCircle circle;
  for (Time now{0}; now < Time(5000); now += Time(10)) {
    const WaitCircle::Finding finding = circle.look(waiting(0, 1), now);
    ASSERT_EQ(finding.circle, "");
    if (finding.ask) circle.learn(waiting(1, 0, now.count()), now);
  }
}

// An old answer is no second witness.
TEST(WaitCircle, AsksTwice) {
  WaitCircle circle;
  EXPECT_EQ(circle.look(waiting(0, 1), Time(0)).ask, 1);
  circle.learn(waiting(1, 0), Time(1));
  EXPECT_FALSE(circle.look(waiting(0, 1), Time(2)).ask);
  EXPECT_EQ(circle.look(waiting(0, 1), Time(1000)).ask, 1);
  circle.learn(waiting(1, 0), Time(1001));
  EXPECT_THAT(circle.look(waiting(0, 1), Time(1002)).circle, HasSubstr("wait for each other"));
}

TEST(WaitCircle, AnotherWaitOfItsOwnBeginsAgain) {
  WaitCircle circle;
  circle.look(waiting(0, 1), Time(0));
  circle.learn(waiting(1, 0), Time(1));
  circle.look(waiting(0, 1), Time(2));
  EXPECT_EQ(circle.look(waiting(0, 1, 2), Time(1000)).ask, 1);
}

}  // namespace
}  // namespace executor
