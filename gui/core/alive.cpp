#include "gui/core/alive.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "gui/core/device_part.h"
#include "sim/cost/memory_model.h"
#include "sim/cost/planned_blocks.h"
#include "sim/units/at.h"

namespace gui {
namespace {

struct Owner {
  sim::MemoryCategory category{};
  sim::MicrobatchIndex microbatch;
  sim::LayerIndex layer;
  auto operator<=>(const Owner&) const = default;
};
using Owned = std::map<Owner, sim::Bytes>;

void apply(Owned& owned, const std::vector<sim::MemoryChange>& changes, const sim::TaskKey& key) {
  for (const sim::MemoryChange& change : changes) {
    const bool of_step = change.category == sim::MemoryCategory::Gradients || change.category == sim::MemoryCategory::GatheredUnits;
    owned[{change.category, of_step ? sim::MicrobatchIndex::none() : key.microbatch, key.layer}] += change.amount;
  }
}

// Of the device that is asked for and of those it sends to, not of a thousand others.
class SpansByKey {
 public:
  explicit SpansByKey(const sim::Timeline& timeline) : timeline_(timeline) {}
  const sim::Span& of(const sim::Task& task) {
    const auto [entry, is_new] = known_.try_emplace(task.device);
    if (is_new)
      for (const sim::Span& span : partOf(timeline_.spans, task.device)) entry->second.emplace(span.key, &span);
    return *entry->second.at(task.key);
  }

 private:
  const sim::Timeline& timeline_;
  std::map<sim::DeviceId, std::map<sim::TaskKey, const sim::Span*>> known_;
};

// As the memory tracker does it: taken at the start, freed at the end; the sender's buffer when the receive ended.
Owned ownersAt(const SimulatedPlan& simulated, const Moment& moment) {
  Owned owned;
  const sim::MemoryModel memory(simulated.model, simulated.plan);
  SpansByKey spans(simulated.result.timeline);
  for (const sim::Task& task : simulated.graph.tasks()) {
    if (task.device != moment.device && task.peer != moment.device) continue;
    const sim::Span& span = spans.of(task);
    const sim::MemoryEffect& effect = memory.effect(task, simulated.graph);
    if (task.device == moment.device && span.start <= moment.time) apply(owned, effect.at_start, task.key);
    if (task.device == moment.device && span.start <= moment.time && span.end > moment.time) apply(owned, effect.temporary, task.key);
    if (task.device == moment.device && span.end <= moment.time) apply(owned, effect.at_end, task.key);
    if (task.peer == moment.device && span.end <= moment.time) apply(owned, effect.on_sender, task.key);
  }
  const sim::StageIndex stage = simulated.graph.devices()[moment.device.position()].stage;
  const sim::MemoryBreakdown resident = memory.resident(stage);
  for (std::size_t category = 0; category < resident.size(); ++category)
    owned[{static_cast<sim::MemoryCategory>(category), sim::MicrobatchIndex::none(), sim::LayerIndex::none()}] += resident[category];
  return owned;
}

}  // namespace

std::vector<AliveItem> aliveAt(const SimulatedPlan& simulated, const Moment& moment) {
  std::map<std::pair<sim::MemoryCategory, sim::MicrobatchIndex>, sim::Bytes> sums;
  for (const auto& [owner, amount] : ownersAt(simulated, moment)) sums[{owner.category, owner.microbatch}] += amount;
  std::vector<AliveItem> items;
  for (const auto& [owner, amount] : sums)
    if (amount != sim::Bytes(0)) items.push_back({owner.first, owner.second, amount});
  std::stable_sort(items.begin(), items.end(), [](const AliveItem& a, const AliveItem& b) { return a.amount > b.amount; });
  return items;
}

std::vector<sim::RankMemory> blocksOf(const SimulatedPlan& plan) {
  const sim::Dependencies explained = sim::dependencies_of(plan.graph, plan.result.timeline, sim::stream_order(plan.plan));
  return sim::planned_blocks({plan.model, plan.plan, plan.graph, plan.result.timeline, explained});
}

std::vector<AliveTensors> tensorsAt(const std::vector<sim::MemoryBlock>& blocks, sim::SimTime time) {
  std::map<std::tuple<sim::LayerIndex, sim::MemoryCategory, std::optional<sim::Operation>>, AliveTensors> sums;
  for (const sim::MemoryBlock& block : blocks) {
    if (block.taken > time || block.freed <= time) continue;
    const sim::LayerIndex layer = block.owner ? block.owner->layer : sim::LayerIndex::none();
    const std::optional<sim::Operation> taken_by = block.owner ? std::optional(block.owner->operation) : std::nullopt;
    AliveTensors& sum = sums[{layer, block.category, taken_by}];
    sum = {layer, block.category, taken_by, sum.blocks + 1, sum.amount + block.size};
  }
  std::vector<AliveTensors> tensors;
  for (const auto& [key, sum] : sums) tensors.push_back(sum);
  std::stable_sort(tensors.begin(), tensors.end(), [](const AliveTensors& a, const AliveTensors& b) { return a.amount > b.amount; });
  return tensors;
}

std::vector<LayerStripe> stripesOf(const std::vector<sim::MemoryBlock>& blocks) {
  std::map<std::pair<sim::MemoryCategory, sim::LayerIndex>, std::map<sim::SimTime, sim::Bytes>> changes;
  for (const sim::MemoryBlock& block : blocks) {
    std::map<sim::SimTime, sim::Bytes>& of_layer = changes[{block.category, block.owner ? block.owner->layer : sim::LayerIndex::none()}];
    of_layer[block.taken] += block.size;
    if (block.freed != sim::SimTime::max()) of_layer[block.freed] -= block.size;
  }
  std::vector<LayerStripe> stripes;
  for (const auto& [owner, by_time] : changes) {
    LayerStripe& stripe = stripes.emplace_back(LayerStripe{owner.first, owner.second, {}});
    sim::Bytes held{};
    for (const auto& [time, change] : by_time) {
      sim::MemorySample& sample = stripe.samples.emplace_back();
      sample.time = time;
      sim::at(sample.alive, owner.first) = held += change;
    }
  }
  return stripes;
}

std::vector<LayerMemory> aliveByLayer(const SimulatedPlan& simulated, const Moment& moment, sim::MemoryCategory category) {
  std::map<sim::LayerIndex, sim::Bytes> sums;
  for (const auto& [owner, amount] : ownersAt(simulated, moment))
    if (owner.category == category) sums[owner.layer] += amount;
  std::vector<LayerMemory> layers;
  for (const auto& [layer, amount] : sums)
    if (amount > sim::Bytes(0)) layers.push_back({layer, amount});
  std::stable_sort(layers.begin(), layers.end(), [](const LayerMemory& a, const LayerMemory& b) { return a.amount > b.amount; });
  return layers;
}

Moment peakOf(const SimulatedPlan& simulated) {
  Moment peak{sim::DeviceId(0), {}};
  sim::Bytes most{};
  for (const sim::MemorySample& sample : simulated.result.timeline.memory) {
    const sim::Bytes sum = sim::total(sample.alive);
    if (sum <= most) continue;
    most = sum;
    peak = {sample.device, sample.time};
  }
  return peak;
}

}  // namespace gui
