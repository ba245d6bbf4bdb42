#include "gui/core/work_kind.h"

#include <gmock/gmock.h>

#include <set>

namespace gui {
namespace {

sim::TaskKey keyOf(sim::Phase phase, sim::Operation operation, sim::MeshAxis group = sim::MeshAxis::None) {
  sim::TaskKey key;
  key.phase = phase;
  key.operation = operation;
  key.group = group;
  key.microbatch = sim::MicrobatchIndex(3);
  return key;
}

TEST(WorkKind, ComputeByPhaseAndCommunicationByGroup) {
  EXPECT_EQ(kindOf(keyOf(sim::Phase::Forward, sim::Operation::Mlp)), WorkKind::Forward);
  EXPECT_EQ(kindOf(keyOf(sim::Phase::Backward, sim::Operation::Mlp)), WorkKind::Backward);
  EXPECT_EQ(kindOf(keyOf(sim::Phase::Recompute, sim::Operation::Mlp)), WorkKind::Recompute);
  EXPECT_EQ(kindOf(keyOf(sim::Phase::Step, sim::Operation::Update)), WorkKind::Optimizer);
  EXPECT_EQ(kindOf(keyOf(sim::Phase::Forward, sim::Operation::AllReduce, sim::MeshAxis::Tensor)), WorkKind::Tensor);
  EXPECT_EQ(kindOf(keyOf(sim::Phase::Gradients, sim::Operation::AllReduce, sim::MeshAxis::Data)), WorkKind::Data);
  EXPECT_EQ(kindOf(keyOf(sim::Phase::Forward, sim::Operation::Send, sim::MeshAxis::Pipeline)), WorkKind::Pipeline);
  EXPECT_EQ(kindOf(keyOf(sim::Phase::Forward, sim::Operation::RingHop, sim::MeshAxis::Context)), WorkKind::Exchange);
  EXPECT_EQ(kindOf(keyOf(sim::Phase::Forward, sim::Operation::AllToAll, sim::MeshAxis::Expert)), WorkKind::Exchange);
  EXPECT_EQ(kindOf(keyOf(sim::Phase::Gradients, sim::Operation::ReduceScatter, sim::MeshAxis::ExpertData)), WorkKind::Data);
}

TEST(WorkKind, NamesOnSlices) {
  EXPECT_EQ(shortName(keyOf(sim::Phase::Forward, sim::Operation::Mlp)), "F3");
  EXPECT_EQ(shortName(keyOf(sim::Phase::Backward, sim::Operation::Mlp)), "B3");
  EXPECT_EQ(shortName(keyOf(sim::Phase::Forward, sim::Operation::AllReduce)), "all_reduce 3");
}

TEST(WorkKind, EveryKindStandsAtItsPlaceWithAColorOfItsOwn) {
  std::set<std::uint32_t> colors;
  for (std::size_t at = 0; at < allWorkKinds().size(); ++at) {
    EXPECT_EQ(static_cast<std::size_t>(allWorkKinds()[at].kind), at);
    colors.insert(allWorkKinds()[at].color.value);
  }
  EXPECT_EQ(colors.size(), allWorkKinds().size());
}

TEST(WorkKind, MemoryColorsDiffer) {
  std::set<std::uint32_t> colors;
  for (std::size_t at = 0; at < sim::kNumMemoryCategories; ++at) colors.insert(memoryColor(static_cast<sim::MemoryCategory>(at)).value);
  EXPECT_EQ(colors.size(), sim::kNumMemoryCategories);
}

TEST(WorkKind, TextIsReadableOnEveryColor) {
  EXPECT_EQ(readableOn({0xff332288}).value, 0xffffffffu);
  EXPECT_EQ(readableOn({0xffddcc77}).value, 0xff000000u);
}

}  // namespace
}  // namespace gui
