#include "sim/engine/memory_tracker.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

constexpr MemoryCategory kActivations = MemoryCategory::Activations;
constexpr MemoryCategory kTemporaries = MemoryCategory::Temporaries;

MemoryBreakdown weights(std::int64_t bytes) {
  MemoryBreakdown memory{};
  memory[static_cast<std::size_t>(MemoryCategory::Parameters)] = Bytes(bytes);
  return memory;
}

TEST(MemoryTracker, PeakIsTheMostAtAnyInstant) {
  MemoryTracker memory({weights(100)}, MemoryTracker::Keep::Peak);
  const DeviceId device(0);
  const MemoryEffect forward{
      .at_start = {{kActivations, Bytes(10)}}, .temporary = {{kTemporaries, Bytes(5)}}, .at_end = {}, .on_sender = {}};
  const MemoryEffect backward{
      .at_start = {}, .temporary = {{kTemporaries, Bytes(7)}}, .at_end = {{kActivations, Bytes(-10)}}, .on_sender = {}};
  memory.start(device, forward);
  memory.settle(SimTime(0));
  memory.end(device, forward);
  memory.start(device, backward);
  memory.settle(SimTime(1));
  memory.end(device, backward);
  memory.settle(SimTime(2));
  EXPECT_EQ(memory.peak(device).memory, Bytes(117));
  EXPECT_EQ(memory.peak(device).composition[static_cast<std::size_t>(kTemporaries)], Bytes(7));
  EXPECT_EQ(memory.alive(device), weights(100));
}

TEST(MemoryTracker, FreesAndTakesOfOneInstantDoNotAddUp) {
  MemoryTracker memory({weights(0)}, MemoryTracker::Keep::Peak);
  const DeviceId device(0);
  const MemoryEffect busy{.at_start = {}, .temporary = {{kTemporaries, Bytes(50)}}, .at_end = {}, .on_sender = {}};
  memory.start(device, busy);
  memory.settle(SimTime(0));
  memory.start(device, busy);  // before the end of the first is told, in the same instant
  memory.end(device, busy);
  memory.settle(SimTime(10));
  EXPECT_EQ(memory.peak(device).memory, Bytes(50));
}

TEST(MemoryTracker, WhatIsSentIsFreedWhenItArrives) {
  MemoryTracker memory({weights(10), weights(0)}, MemoryTracker::Keep::Peak);
  const MemoryEffect receive{
      .at_start = {{kActivations, Bytes(4)}}, .temporary = {}, .at_end = {}, .on_sender = {{kActivations, Bytes(-4)}}};
  const MemoryEffect forward{.at_start = {{kActivations, Bytes(4)}}, .temporary = {}, .at_end = {}, .on_sender = {}};
  memory.start(DeviceId(0), forward);
  memory.settle(SimTime(0));
  memory.start(DeviceId(1), receive);
  memory.settle(SimTime(1));
  EXPECT_EQ(total(memory.alive(DeviceId(0))), Bytes(14));
  memory.end(DeviceId(1), receive);
  memory.arrived(DeviceId(0), receive);
  memory.settle(SimTime(2));
  EXPECT_EQ(total(memory.alive(DeviceId(0))), Bytes(10));
  EXPECT_EQ(total(memory.alive(DeviceId(1))), Bytes(4));
}

TEST(MemoryTracker, KeepsOneSampleAnInstantByDevice) {
  MemoryTracker memory({weights(1), weights(2)}, MemoryTracker::Keep::Samples);
  const MemoryEffect take{.at_start = {{kActivations, Bytes(3)}}, .temporary = {}, .at_end = {}, .on_sender = {}};
  memory.start(DeviceId(1), take);
  memory.settle(SimTime(5));
  memory.start(DeviceId(0), take);
  memory.settle(SimTime(5));
  memory.start(DeviceId(0), take);
  memory.settle(SimTime(5));
  const auto samples = memory.take_samples();
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[0], (MemorySample{DeviceId(0), SimTime(0), weights(1)}));
  EXPECT_EQ(total(samples[1].alive), Bytes(7));
  EXPECT_EQ(samples[2], (MemorySample{DeviceId(1), SimTime(0), weights(2)}));
  EXPECT_EQ(total(samples[3].alive), Bytes(5));
}

}  // namespace
}  // namespace sim
