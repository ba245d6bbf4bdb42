#include "gui/core/alive.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

// What is listed adds up to what the memory curve shows, at every sample of every device.
TEST(Alive, WhatIsAliveAddsUp) {
  const SharedPlan simulated = test::exampleSimulation();
  std::size_t looked = 0;
  for (std::size_t at = 0; at < simulated->result.timeline.memory.size(); at += 7, ++looked) {
    const sim::MemorySample& sample = simulated->result.timeline.memory[at];
    const bool last_of_moment =
        at + 1 >= simulated->result.timeline.memory.size() || simulated->result.timeline.memory[at + 1].time != sample.time;
    if (!last_of_moment) continue;
    sim::MemoryBreakdown sum{};
    for (const AliveItem& item : aliveAt(*simulated, {sample.device, sample.time}))
      sum[static_cast<std::size_t>(item.category)] += item.amount;
    EXPECT_EQ(sum, sample.alive) << "device " << sample.device.value() << " at " << sample.time.count();
  }
  EXPECT_GT(looked, 5u);
}

TEST(Alive, LargestFirst) {
  const SharedPlan simulated = test::exampleSimulation();
  const std::vector<AliveItem> items = aliveAt(*simulated, {sim::DeviceId(0), simulated->result.step_time / 2});
  ASSERT_GT(items.size(), 2u);
  for (std::size_t at = 1; at < items.size(); ++at) EXPECT_GE(items[at - 1].amount, items[at].amount);
}

// At any moment the stripes are what is alive then.
TEST(Alive, StripesAreTheTensorsOverTime) {
  const SharedPlan simulated = test::exampleSimulation();
  const std::vector<sim::MemoryBlock> blocks = blocksOf(*simulated)[0].blocks;
  const std::vector<LayerStripe> stripes = stripesOf(blocks);
  for (int tenth = 1; tenth < 10; ++tenth) {
    const sim::SimTime time = simulated->result.step_time / 10 * tenth;
    sim::Bytes listed{}, striped{};
    for (const AliveTensors& one : tensorsAt(blocks, time)) listed += one.amount;
    for (const LayerStripe& stripe : stripes)
      for (std::size_t at = stripe.samples.size(); at-- > 0;)
        if (stripe.samples[at].time <= time) {
          striped += sim::total(stripe.samples[at].alive);
          break;
        }
    EXPECT_EQ(striped, listed) << tenth;
  }
  EXPECT_GT(stripes.size(), 8u) << "of more than one layer and category";
}

// By layer it is the same memory, and the peak is where the simulation has it.
TEST(Alive, ByLayerAddsUpAtThePeak) {
  const SharedPlan simulated = test::exampleSimulation();
  const Moment peak = peakOf(*simulated);
  sim::Bytes by_layer{}, by_microbatch{};
  for (const LayerMemory& layer : aliveByLayer(*simulated, peak, sim::MemoryCategory::Activations)) by_layer += layer.amount;
  sim::Bytes all{};
  for (const AliveItem& item : aliveAt(*simulated, peak)) {
    all += item.amount;
    if (item.category == sim::MemoryCategory::Activations) by_microbatch += item.amount;
  }
  EXPECT_GE(by_layer, by_microbatch);  // what a neighbor frees for a layer is left out
  EXPECT_GT(by_layer, sim::Bytes(0));
  EXPECT_EQ(simulated->result.devices[peak.device.position()].peak_memory, simulated->result.peak_memory);
}

}  // namespace
}  // namespace gui
