#include "sim/engine/link_sharing.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <vector>

namespace sim {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// Runs activities to their ends and notes when.
class Race {
 public:
  explicit Race(std::int32_t num_links) : links_(LinkSharing::NumLinks{num_links}) {}

  void start(std::int32_t id, SimTime duration, std::vector<LinkUse> uses) { links_.start(id, now_, duration, uses); }
  void settle() {
    for (const auto& end : links_.settle(now_)) pending_[end.id] = end.time;
  }
  void advance_to(SimTime time) {
    settle();
    while (!pending_.empty()) {
      const auto next =
          std::min_element(pending_.begin(), pending_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
      if (next->second > time) break;
      now_ = next->second;
      ended_[next->first] = now_;
      links_.finish(next->first);
      pending_.erase(next);
      settle();
    }
    now_ = time;
  }
  std::map<std::int32_t, SimTime> finish() {
    advance_to(SimTime(std::int64_t{1} << 60));
    return ended_;
  }

 private:
  LinkSharing links_;
  SimTime now_{};
  std::map<std::int32_t, SimTime> pending_, ended_;
};

LinkUse on(std::int32_t link, double share) { return {LinkId(link), share}; }

TEST(LinkSharing, AloneTakesExactlyItsDuration) {
  Race run(1);
  run.start(0, SimTime(1'234'567'890'123), {on(0, 1.0)});
  EXPECT_THAT(run.finish(), UnorderedElementsAre(Pair(0, SimTime(1'234'567'890'123))));
}

TEST(LinkSharing, PartsThatFitDoNotSlow) {
  Race run(1);
  run.start(0, SimTime(1001), {on(0, 0.5)});
  run.start(1, SimTime(777), {on(0, 0.5)});
  EXPECT_THAT(run.finish(), UnorderedElementsAre(Pair(0, SimTime(1001)), Pair(1, SimTime(777))));
}

TEST(LinkSharing, TwoHalveEachOtherWhileBothRun) {
  Race run(1);
  run.start(0, SimTime(1000), {on(0, 1.0)});
  run.advance_to(SimTime(400));  // 600 left
  run.start(1, SimTime(100), {on(0, 1.0)});
  // Until 600 both at half speed: 1 ends, 0 has 500 left.
  EXPECT_THAT(run.finish(), UnorderedElementsAre(Pair(0, SimTime(1100)), Pair(1, SimTime(600))));
}

TEST(LinkSharing, SpeedsAreMaxMinFair) {
  Race run(2);
  run.start(0, SimTime(1000), {on(0, 1.0)});              // half speed, beside 1
  run.start(1, SimTime(1000), {on(0, 1.0), on(1, 1.0)});  // half speed: link 0 is its bottleneck
  run.start(2, SimTime(1000), {on(1, 0.5)});              // what 1 leaves of link 1 is enough for full speed
  EXPECT_THAT(run.finish(), UnorderedElementsAre(Pair(0, SimTime(2000)), Pair(1, SimTime(2000)), Pair(2, SimTime(1000))));
}

TEST(LinkSharing, WhatABottleneckLeavesGoesToTheOthers) {
  Race run(2);
  for (std::int32_t id = 0; id < 3; ++id) run.start(id, SimTime(1000), {on(0, 1.0)});
  run.start(3, SimTime(999), {on(0, 1.0), on(1, 1.0)});  // a quarter of link 0
  run.start(4, SimTime(3000), {on(1, 1.0)});             // three quarters of link 1
  const auto ended = run.finish();
  EXPECT_EQ(ended.at(3), SimTime(3996));
  EXPECT_EQ(ended.at(4), SimTime(3000 + 999));  // 0.75 * 3996 = 2997 done, 3 at full speed
}

TEST(LinkSharing, SharesOnOneLinkAddUp) {
  Race run(1);
  run.start(0, SimTime(1000), {on(0, 1.0), on(0, 1.0)});
  EXPECT_THAT(run.finish(), UnorderedElementsAre(Pair(0, SimTime(2000))));
}

TEST(LinkSharing, ManyEqualOnesAreOneOfManyShares) {
  for (const std::int32_t many : {2, 3, 7, 8, 64})
    for (const double share : {1.0, 0.75, 1.0 / 3, 0.1}) {
      const double exact = quantized_share(share);
      Race folded(2), unfolded(2);
      const auto start_all = [&](SimTime duration, std::int32_t id) {
        folded.start(id, duration, {on(0, exact * many)});
        for (std::int32_t copy = 0; copy < many; ++copy) unfolded.start(id + copy, duration, {on(0, exact)});
      };
      start_all(SimTime(1'000'003), 0);
      folded.advance_to(SimTime(77'777));
      unfolded.advance_to(SimTime(77'777));
      start_all(SimTime(500'009), 1000);
      const auto one = folded.finish();
      for (const auto& [id, end] : unfolded.finish()) EXPECT_EQ(end, one.at(id < 1000 ? 0 : 1000)) << many << " of " << share;
    }
}

}  // namespace
}  // namespace sim
