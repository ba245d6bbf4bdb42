#include "gui/core/progress.h"

#include <gtest/gtest.h>

#include "sim/units/input_error.h"

namespace gui {
namespace {

TEST(Progress, IsWhatIsCountedElseWhatIsTold) {
  Progress progress;
  EXPECT_EQ(progress.share(), 0);
  progress.part = 0.5;
  EXPECT_EQ(progress.share(), 0.5);
  progress.all = 8;
  progress.done = 2;
  EXPECT_EQ(progress.share(), 0.25);
  progress.done = 9;
  EXPECT_EQ(progress.share(), 1);
}

TEST(Progress, APartIsOfTheWholeAndEndsWithIt) {
  Progress progress;
  const ProgressPart part{progress, 0.5, 0.9};
  part({.done = 1, .all = 4});
  EXPECT_DOUBLE_EQ(progress.share(), 0.6);
  progress.cancelled = true;
  EXPECT_THROW(part({.done = 2, .all = 4}), sim::InputError);
}

TEST(Watched, IsTheWatchersElseItsOwn) {
  Progress progress;
  Watched(&progress)->part = 0.5;
  EXPECT_EQ(progress.share(), 0.5);
  const Watched unseen(nullptr);
  ProgressPart{unseen, 0, 1}({.done = 1, .all = 4});
  EXPECT_EQ(unseen->share(), 0.25);
  EXPECT_EQ(progress.share(), 0.5);
}

TEST(InTurn, IsTheShareOfAllPiecesAndNeverFalls) {
  InTurn searches(4);
  EXPECT_DOUBLE_EQ(searches.share({.done = 0, .all = 100}), 0);
  EXPECT_DOUBLE_EQ(searches.share({.done = 50, .all = 100}), 0.125);
  EXPECT_DOUBLE_EQ(searches.share({.done = 1, .all = 60}), (1 + 1.0 / 60) / 4) << "the next one has begun";
  EXPECT_DOUBLE_EQ(searches.share({.done = 60, .all = 60}), 0.5);
  EXPECT_DOUBLE_EQ(searches.share({.done = 30, .all = 60}), 0.625);
  InTurn one(1);
  one.share({.done = 40, .all = 50});
  EXPECT_DOUBLE_EQ(one.share({.done = 10, .all = 50}), 0.8) << "there is no other: it counted anew";
}

TEST(Pace, FallsWithTheClockAndNeverBelowNothing) {
  Pace pace;
  EXPECT_FALSE(pace.left(0.25, sim::Seconds(0.5))) << "too early";
  EXPECT_FALSE(pace.left(0.01, sim::Seconds(2))) << "too little";
  EXPECT_DOUBLE_EQ(pace.left(0.25, sim::Seconds(10))->count(), 30);
  EXPECT_DOUBLE_EQ(pace.left(0.25, sim::Seconds(15))->count(), 25) << "nothing more is done: no reason to wait longer";
  EXPECT_DOUBLE_EQ(pace.left(0.5, sim::Seconds(20))->count(), 20);
  EXPECT_FALSE(pace.left(0.5, sim::Seconds(41))) << "it takes longer than it seemed";
}

}  // namespace
}  // namespace gui
