#include "gui/core/pairing.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

sim::Span spanOf(std::int32_t device, std::int32_t layer) {
  sim::TaskKey key;
  key.layer = sim::LayerIndex(layer);
  return {sim::DeviceId(device), sim::Stream::Compute, key, sim::SimTime(layer), sim::SimTime(layer + 1)};
}
sim::GraphDevice deviceOf(std::int32_t rank, std::int32_t stage, std::int32_t multiplicity = 1) {
  return {sim::Rank(rank), sim::StageIndex(stage), multiplicity};
}

TEST(Pairing, MeetsByRankAndKey) {
  const sim::Timeline left{{deviceOf(0, 0), deviceOf(1, 0)}, {spanOf(0, 1), spanOf(0, 2), spanOf(1, 1)}, {}};
  const sim::Timeline right{{deviceOf(1, 0), deviceOf(0, 0)}, {spanOf(0, 1), spanOf(1, 3), spanOf(1, 1)}, {}};
  const Pairing pairing = pairUp(left, right);
  EXPECT_THAT(pairing.pairs, testing::ElementsAre(Pair{2, 0}, Pair{0, 2}));
  EXPECT_THAT(pairing.only_left, testing::ElementsAre(1));
  EXPECT_THAT(pairing.only_right, testing::ElementsAre(1));
  EXPECT_EQ(pairing.leftOf(2), 0u);
  EXPECT_EQ(pairing.rightOf(2), 0u);
  EXPECT_EQ(pairing.leftOf(1), std::nullopt);
  EXPECT_EQ(pairing.rightOf(1), std::nullopt);
}

TEST(Pairing, AClassStandsForEachRankOfItsStage) {
  const sim::Timeline folded{{deviceOf(0, 0, 2)}, {spanOf(0, 1)}, {}};
  const sim::Timeline unfolded{{deviceOf(0, 0), deviceOf(1, 0)}, {spanOf(0, 1), spanOf(1, 1)}, {}};
  const Pairing pairing = pairUp(folded, unfolded);
  EXPECT_THAT(pairing.pairs, testing::ElementsAre(Pair{0, 0}, Pair{0, 1}));
  EXPECT_THAT(pairing.only_left, testing::IsEmpty());
}

TEST(Pairing, EqualKeysMeetInTheirOrder) {
  const sim::Timeline twice{{deviceOf(0, 0)}, {spanOf(0, 1), spanOf(0, 1)}, {}};
  EXPECT_THAT(pairUp(twice, twice).pairs, testing::ElementsAre(Pair{0, 0}, Pair{1, 1}));
}

}  // namespace
}  // namespace gui
