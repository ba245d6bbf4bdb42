#include "sim/units/told.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace sim {
namespace {

TEST(Told, OneIsCountedAfterTheOther) {
  HowFar last;
  const Told told = [&](const HowFar& far) { last = far; };
  Counted counted{.told = told, .all = 3};
  counted.one();
  counted.one();
  EXPECT_EQ(last.done, 2);
  EXPECT_EQ(last.all, 3);
}

TEST(Told, WhatIsWrittenBesideAFileIsReadThere) {
  const std::string output = testing::TempDir() + "told_profile.json";
  std::filesystem::remove(told_beside(output));
  EXPECT_EQ(how_far_beside(output).all, 0) << "nobody has begun";
  tell_beside(output)({.done = 30, .all = 120});
  EXPECT_EQ(how_far_beside(output).done, 30);
  EXPECT_EQ(how_far_beside(output).all, 120);
  std::ofstream(told_beside(output)) << "31 ";
  EXPECT_EQ(how_far_beside(output).done, 0) << "half written";
  std::filesystem::remove(told_beside(output));
}

}  // namespace
}  // namespace sim
