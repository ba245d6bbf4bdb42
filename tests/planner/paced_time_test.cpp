#include "planner/paced_time.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace planner {
namespace {

using sim::SimTime;

// One task after the other, as the engine does it: a task starts when the device is free and the host begins to issue it.
Paces walk(Paces paces, const std::vector<IssuedTask>& tasks) {
  for (const IssuedTask& task : tasks) {
    paces.device = std::max(paces.device, paces.host) + task.time;
    paces.host += task.issue;
    if (task.drains) paces.host = std::max(paces.host, paces.device);
  }
  return paces;
}

PacedTime sum(const std::vector<IssuedTask>& tasks) {
  PacedTime all;
  for (const IssuedTask& task : tasks) all = all + paced(task);
  return all;
}

TEST(PacedTime, ASumIsItsTasksOneByOne) {
  std::mt19937 random(5);
  const auto time = [&] { return SimTime(static_cast<std::int64_t>(random() % 100)); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<IssuedTask> tasks(random() % 8);
    for (IssuedTask& task : tasks) task = {.time = time(), .issue = time(), .drains = random() % 4 == 0};
    const Paces begin{.device = time() * 3, .host = time() * 3}, expected = walk(begin, tasks);
    Paces found = begin;
    found.take(sum(tasks));
    EXPECT_EQ(found.device, expected.device);
    EXPECT_EQ(found.host, expected.host);
  }
}

TEST(PacedTime, NoTaskWaitsForNobody) {
  Paces paces{.device = SimTime(3), .host = SimTime(7)};
  paces.take({});
  EXPECT_EQ(paces.device.count(), 3);
  EXPECT_EQ(paces.host.count(), 7);
}

TEST(PacedTime, AHostThatWaitsIsNoLongerAhead) {
  const IssuedTask kernel{.time = SimTime(10), .issue = SimTime(6)}, waited{.time = SimTime(10), .issue = SimTime(6), .drains = true};
  Paces ahead, behind;
  ahead.take(sum({kernel, kernel, kernel}));
  behind.take(sum({waited, kernel, waited}));
  EXPECT_EQ(ahead.device.count(), 30);
  EXPECT_EQ(ahead.host.count(), 18);
  EXPECT_EQ(behind.device.count(), 30);
  EXPECT_EQ(behind.host.count(), 30);
}

}  // namespace
}  // namespace planner
