#include "executor/training/masked_tokens.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace executor {
namespace {

constexpr NumberedSample kSample{.seed = 3, .number = 7};

TEST(MaskedTokens, AFewPositionsOfEachSample) {
  EXPECT_EQ(num_masked(100), 15);
  EXPECT_EQ(num_masked(2), 1);
  std::set<std::int64_t> seen;
  for (std::int64_t number = 0; number < 200; ++number) {
    const std::vector<std::int64_t> positions = masked_positions({.seed = 3, .number = number}, 40);
    EXPECT_EQ(std::ssize(positions), 6);
    EXPECT_TRUE(std::ranges::is_sorted(positions));
    seen.insert(positions.begin(), positions.end());
  }
  EXPECT_EQ(std::ssize(seen), 40) << "all have their turn";
}

TEST(MaskedTokens, SamplesAndSeedsHaveTheirOwn) {
  const auto positions = masked_positions(kSample, 100);
  EXPECT_EQ(positions, masked_positions(kSample, 100));
  EXPECT_NE(positions, masked_positions({.seed = 3, .number = 8}, 100));
  EXPECT_NE(positions, masked_positions({.seed = 4, .number = 7}, 100));
}

TEST(MaskedTokens, OthersStayAndPredictNothing) {
  std::vector<std::int64_t> ids(40, 1000);
  mask_tokens(ids, kSample, 900);
  const at::Tensor others =
      without_mask({.first = {.seed = 3, .number = 6}, .samples = 2, .sequence = 40});  // the sample is the second of two
  EXPECT_EQ(others.numel(), 2 * (40 - 6));
  const std::int64_t* const first = others.data_ptr<std::int64_t>();
  const std::set<std::int64_t> without(first, first + others.numel());
  for (std::int64_t position = 0; position < 40; ++position)
    EXPECT_EQ(ids[static_cast<std::size_t>(position)] == 1000, without.contains(40 + position)) << position;
}

TEST(MaskedTokens, OfNetworksThatLookAhead) {
  sim::ModelConfig config;
  EXPECT_FALSE(predicts_masked_tokens(config));
  config.bidirectional = true;
  EXPECT_TRUE(predicts_masked_tokens(config));
}

}  // namespace
}  // namespace executor
