#include "planner/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace planner {
namespace {

using sim::SimTime;

std::vector<SimTime> times(std::vector<std::int64_t> picoseconds) {
  std::vector<SimTime> result;
  for (const std::int64_t time : picoseconds) result.emplace_back(time);
  return result;
}

std::vector<std::int32_t> firsts(const sim::StageCut& cut) {
  std::vector<std::int32_t> result;
  for (const sim::LayerIndex first : cut.first) result.push_back(first.value());
  return result;
}

// The slowest part of the best cut, by trying all of them.
SimTime best_by_brute_force(const std::vector<SimTime>& layers, sim::StageCut cut, std::size_t part) {
  if (part == cut.first.size()) return slowest_part(layers, cut);
  SimTime best = SimTime::max();
  const auto blocks_left = static_cast<std::int32_t>(layers.size() - 2 - (cut.first.size() - part));
  for (std::int32_t first = std::max(cut.first[part - 1].value(), 1) + 1; first <= blocks_left + 1; ++first) {
    cut.first[part] = sim::LayerIndex(first);
    best = std::min(best, best_by_brute_force(layers, cut, part + 1));
  }
  return best;
}

TEST(Partition, IsTheEvenCutWhenBlocksAreEqualAndTheEndsAreFree) {
  for (std::int32_t blocks = 1; blocks <= 13; ++blocks)
    for (std::int32_t stages = 1; stages <= blocks; ++stages) {
      std::vector<SimTime> layers(static_cast<std::size_t>(blocks) + 2, SimTime(7));
      layers.front() = layers.back() = SimTime(0);
      const sim::PipelineShape shape{.stages = stages, .microbatches = 1, .chunks = 1};
      EXPECT_EQ(firsts(optimal_cut(layers, shape)), firsts(sim::even_cut(blocks, shape)));
    }
}

TEST(Partition, TakesBlocksFromTheStageWithTheHead) {
  std::vector<SimTime> layers(10, SimTime(10));  // 8 blocks
  layers.front() = SimTime(0);
  layers.back() = SimTime(20);  // the head weighs two blocks
  const sim::StageCut cut = optimal_cut(layers, {.stages = 2, .microbatches = 1, .chunks = 1});
  EXPECT_EQ(firsts(cut), (std::vector<std::int32_t>{0, 6}));
  EXPECT_EQ(slowest_part(layers, cut), SimTime(50));
}

TEST(Partition, AHeavyHeadStandsAloneWhereItMay) {
  std::vector<SimTime> layers(8, SimTime(10));
  layers.front() = SimTime(0);
  layers.back() = SimTime(30);
  const sim::PipelineShape shape{.stages = 3, .microbatches = 1, .chunks = 1};
  EXPECT_EQ(firsts(optimal_cut(layers, shape, HeadPlace::MayStandAlone)), (std::vector<std::int32_t>{0, 4, 7}));
  EXPECT_EQ(slowest_part(layers, optimal_cut(layers, shape, HeadPlace::MayStandAlone)), SimTime(30));
  EXPECT_EQ(slowest_part(layers, optimal_cut(layers, shape)), SimTime(40));
}

TEST(Partition, NoCutIsFasterWhereTheHeadMayStandAlone) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> picoseconds(3 + random() % 8);
    for (std::int64_t& time : picoseconds) time = static_cast<std::int64_t>(random() % 20);
    const auto inner = static_cast<std::int32_t>(picoseconds.size()) - 2;
    const sim::PipelineShape shape{
        .stages = 1 + static_cast<std::int32_t>(random() % static_cast<unsigned>(inner)), .microbatches = 1, .chunks = 1};
    const std::vector<SimTime> layers = times(picoseconds);
    const sim::StageCut cut = optimal_cut(layers, shape, HeadPlace::MayStandAlone);
    picoseconds.push_back(0);  // behind the head
    EXPECT_EQ(slowest_part(layers, cut), best_by_brute_force(times(picoseconds), sim::even_cut(inner, shape), 1));
    EXPECT_LE(cut.first.back().value(), inner + 1);
  }
}

TEST(Partition, SpreadsWhatTheHeadPushesAway) {
  std::vector<SimTime> layers(98, SimTime(10));
  layers.front() = SimTime(0);
  layers.back() = SimTime(30);
  const sim::StageCut cut = optimal_cut(layers, {.stages = 8, .microbatches = 1, .chunks = 1});
  EXPECT_EQ(slowest_part(layers, cut), SimTime(130));
  EXPECT_EQ(firsts(cut), (std::vector<std::int32_t>{0, 13, 25, 37, 49, 61, 74, 87}));
}

TEST(Partition, NoCutIsFaster) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> picoseconds(3 + random() % 8);
    for (std::int64_t& time : picoseconds) time = static_cast<std::int64_t>(random() % 20);
    const auto blocks = static_cast<std::int32_t>(picoseconds.size()) - 2;
    const sim::PipelineShape shape{
        .stages = 1 + static_cast<std::int32_t>(random() % static_cast<unsigned>(blocks)), .microbatches = 1, .chunks = 1};
    const std::vector<SimTime> layers = times(picoseconds);
    const sim::StageCut cut = optimal_cut(layers, shape);
    EXPECT_EQ(slowest_part(layers, cut), best_by_brute_force(layers, sim::even_cut(blocks, shape), 1));
    for (std::size_t part = 1; part < cut.first.size(); ++part) EXPECT_LT(cut.first[part - 1], cut.first[part]);
    EXPECT_LE(cut.first.back().value(), blocks);
  }
}

TEST(Partition, ChunksAreParts) {
  const std::vector<SimTime> layers(10, SimTime(1));
  EXPECT_EQ(optimal_cut(layers, {.stages = 2, .microbatches = 2, .chunks = 2}).first.size(), 4u);
}

}  // namespace
}  // namespace planner
