#include "planner/candidates.h"

#include <gmock/gmock.h>

#include "planner/search_space.h"
#include "tests/planner/problems.h"

namespace planner {
namespace {

std::vector<PlanCandidate> shape_of(std::int32_t microbatch, std::vector<std::int32_t> stages) {
  std::vector<PlanCandidate> all;
  for (const std::int32_t stage : stages) all.push_back({.mesh = {.data = 4}, .microbatch = microbatch, .zero_stage = stage});
  return all;
}

TEST(Candidates, AreWhatWasAddedInItsOrder) {
  Candidates all;
  EXPECT_TRUE(all.empty());
  EXPECT_TRUE(all.begin() == all.end());
  std::vector<PlanCandidate> expected;
  for (const auto& shape : {shape_of(1, {0, 1}), shape_of(2, {}), shape_of(4, {0, 1}), shape_of(8, {3})}) {
    all.add(shape);
    expected.insert(expected.end(), shape.begin(), shape.end());
  }
  EXPECT_EQ(all.all(), expected);
  for (std::size_t at = 0; at < expected.size(); ++at) EXPECT_EQ(all[at], expected[at]);
  all.clear();
  EXPECT_EQ(all.size(), 0U);
  EXPECT_TRUE(all.words().empty());
}

TEST(Candidates, AnIteratorBeginsAnywhereAndKnowsItsShape) {
  Candidates all;
  all.add(shape_of(1, {0, 1, 2}));
  all.add(shape_of(2, {0, 1, 2}));
  auto at = all.from(1);
  EXPECT_EQ(at.shape_end(), 3U);
  at++;
  ++at;
  EXPECT_EQ(at.index(), 3U);
  EXPECT_EQ((*at).microbatch, 2);
  EXPECT_EQ(at.shape_end(), 6U);
  EXPECT_TRUE(all.from(6) == all.end());
}

TEST(Candidates, AShapeMayHaveTheWordsOfAnother) {
  Candidates all, alike;
  const std::optional<std::size_t> words = all.add(shape_of(1, {0, 3}));
  ASSERT_TRUE(words);
  all.add(shape_of(2, {0, 3}).front(), *words);
  for (const std::int32_t microbatch : {1, 2}) alike.add(shape_of(microbatch, {0, 3}));
  EXPECT_EQ(all.all(), alike.all());
  EXPECT_EQ(all.words().size(), 1U);
  EXPECT_EQ(all.num_shapes(), 2U);
  EXPECT_EQ(all.from(3).shape(), 1U);
  EXPECT_EQ(all.from(3).place(), 1U);
  EXPECT_EQ(all.from(3).words(), *words);
  EXPECT_FALSE(all.add({}));
}

// Shapes follow each other whole, and a list of words is not mixed with another's.
TEST(Candidates, OfASpaceAreEachAtTheirIndex) {
  const Candidates space = enumerate(small_request({.devices = 8})).candidates;
  const std::vector<PlanCandidate> all = space.all();
  ASSERT_EQ(all.size(), space.size());
  for (std::size_t at = 0; at < all.size(); ++at) {
    ASSERT_EQ(space[at], all[at]);
    const std::size_t end = space.from(at).shape_end();
    if (at + 1 < end) {
      EXPECT_TRUE(same_shape(all[at], all[at + 1]));
    }
  }
}

}  // namespace
}  // namespace planner
