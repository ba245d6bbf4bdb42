#include "planner/what_if.h"

#include <gmock/gmock.h>

#include "tests/planner/every_plan.h"

namespace planner {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> words_of(const SearchRequest& request) {
  std::vector<std::string> words;
  for (const WhatIf& one : what_ifs(request)) words.push_back(one.words);
  return words;
}

TEST(WhatIf, AsksWhatTheQuestionHasRoomFor) {
  EXPECT_THAT(words_of(small_request({.devices = 8, .devices_per_node = 8})),
              ElementsAre("4 GiB more a device", "a node more", "a global batch twice as large"));
  EXPECT_THAT(words_of(small_request({.devices = 8, .devices_per_node = 2})),
              ElementsAre("4 GiB more a device", "a network twice as fast", "a node less", "a node more", "a global batch twice as large"));
  EXPECT_THAT(words_of(small_request({.devices = 6, .devices_per_node = 8})),
              ElementsAre("4 GiB more a device", "a global batch twice as large"));
}

// More memory and a faster network leave every plan as good as it was.
TEST(WhatIf, MoreIsNeverWorse) {
  SearchRequest request = small_requests()[1];
  request.gap = 0;
  request.memory_limit = sim::Bytes(std::int64_t{300} << 20);
  request.risk = 1;
  const SearchResult now = planner::search(request);
  ASSERT_FALSE(now.ranked.empty());
  bool gains = false;
  for (const WhatIf& one : what_ifs(request)) {
    const SearchResult then = planner::search(one.request);
    if (one.words.find("node") != std::string::npos) continue;  // other degrees divide it
    ASSERT_FALSE(then.ranked.empty()) << one.words;
    EXPECT_LE(time_per_token(then.ranked.front()), time_per_token(now.ranked.front())) << one.words;
    gains = gains || time_per_token(then.ranked.front()) < time_per_token(now.ranked.front());
  }
  EXPECT_TRUE(gains);
}

TEST(WhatIf, TheNetworkIsPricedWhateverItsPriceRestsOn) {
  SearchRequest request = small_requests()[1];
  request.workload.sequence = 64;  // little to compute beside the sums of gradients
  request.fixed = {{"data", "8"}};
  request.top = 1;
  for (const bool is_modelled : {false, true}) {
    if (is_modelled) {
      request.cluster.hardware.kernels = sim::KernelTraits{};
      request.cluster.hardware.inter_node.peak_bandwidth = sim::BytesPerSecond(400e9);
    }
    for (const WhatIf& one : what_ifs(request)) {
      if (one.words != "a network twice as fast") continue;
      EXPECT_LT(planner::search(one.request).ranked.front().result.step_time, planner::search(request).ranked.front().result.step_time);
    }
  }
}

}  // namespace
}  // namespace planner
