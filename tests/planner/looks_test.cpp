#include "planner/looks.h"

#include <gtest/gtest.h>

#include <set>

#include "planner/search_space.h"
#include "tests/planner/every_plan.h"

namespace planner {
namespace {

TEST(Looks, UsualWordsOfSmallMicrobatchesComeFirst) {
  const PlanCandidate usual{.microbatch = 2};
  EXPECT_EQ(look_of(usual, 2), Look::First);
  EXPECT_EQ(look_of(usual, 1), Look::Plain);
  PlanCandidate words = usual;
  words.zero_stage = 2;
  EXPECT_FALSE(is_plain(words));
  EXPECT_EQ(look_of(words, 2), Look::Words);
  EXPECT_EQ(look_of(words, 1), Look::Others);
  PlanCandidate each = usual;
  each.accumulation = sim::Accumulation::ReduceEach;
  EXPECT_EQ(look_of(each, 2), Look::Words);
  each.zero_stage = 3;  // which is taken to hold little: whole sums are what it would hold
  EXPECT_EQ(look_of(each, 2), Look::First);
  PlanCandidate many = usual;
  many.chunks = 8;
  EXPECT_EQ(look_of(many, 2), Look::Plain);
}

// The first look is at a small part of a space, and at some of each mesh.
TEST(Looks, TheFirstIsShort) {
  const Candidates candidates = enumerate(small_requests()[1]).candidates;
  std::size_t first = 0;
  std::set<std::tuple<int, int, int, int>> meshes, seen;
  for (const PlanCandidate& one : candidates) {
    const auto mesh = std::tuple(one.mesh.data, one.mesh.tensor, one.mesh.pipeline, one.mesh.replicas);
    meshes.insert(mesh);
    if (look_of(one, 1) != Look::First) continue;
    ++first;
    seen.insert(mesh);
  }
  EXPECT_LT(first * 4, candidates.size());
  for (const auto& mesh : meshes)
    EXPECT_TRUE(seen.contains(mesh) || std::get<3>(mesh) > 1);  // with replicas nothing is plain but ZeRO 1 and 3
}

}  // namespace
}  // namespace planner
