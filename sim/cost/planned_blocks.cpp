#include "sim/cost/planned_blocks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include "sim/cost/memory_model.h"

namespace sim {
namespace {

// Blocks of one device. Changes come in the order of time.
class BlockList {
 public:
  explicit BlockList(const MemoryBreakdown& resident) {
    for (std::size_t category = 0; category < resident.size(); ++category)
      if (resident[category] > Bytes(0)) take({.category = static_cast<MemoryCategory>(category), .owner = {}, .size = resident[category]});
  }

  void apply(const TimedChange& at) {
    const Bytes amount = at.change.amount;
    if (amount > Bytes(0))
      take({.category = at.change.category, .owner = at.key, .size = amount, .taken = at.time, .pool = at.change.pool});
    if (amount < Bytes(0)) free(at);
  }

  std::vector<MemoryBlock> finish() && {  // what was taken and freed in one instant was never there
    std::erase_if(blocks_, [](const MemoryBlock& block) { return block.taken == block.freed; });
    return std::move(blocks_);
  }

 private:
  static constexpr std::ptrdiff_t kPlaces = 5;
  using Place = std::array<std::int32_t, kPlaces>;  // category, pool, microbatch, layer, operation; -1: none
  static Place place_of(MemoryCategory category, MemoryPool pool, const std::optional<TaskKey>& key) {
    const auto number = static_cast<std::int32_t>(category), of_pool = static_cast<std::int32_t>(pool);
    if (!key) return {number, of_pool, -1, -1, -1};
    const bool of_step = category == MemoryCategory::Gradients || category == MemoryCategory::GatheredUnits;
    return {number, of_pool, of_step ? -1 : key->microbatch.value(), key->layer.value(), static_cast<std::int32_t>(key->operation)};
  }

  void take(const MemoryBlock& block) {
    open_[place_of(block.category, block.pool, block.owner)].push_back(blocks_.size());
    blocks_.push_back(block);
  }

  // What the same operation took there, then the same layer, then the same microbatch, then whatever the category has. What is as large comes first: of
  // the operation, and of buffers aside, which another unit's task frees.
  void free(const TimedChange& at) {
    Bytes left = -at.change.amount;
    const Place own = place_of(at.change.category, at.change.pool, at.key);
    const std::ptrdiff_t widest = at.change.pool == MemoryPool::Kernels ? kPlaces : 2;
    for (std::ptrdiff_t equal = kPlaces; equal >= widest; --equal)
      if (free_equal(own, equal, left, at.time)) return;
    for (std::ptrdiff_t equal = kPlaces; equal > 0 && left > Bytes(0); --equal)
      for (auto place = first_of(own, equal); left > Bytes(0) && is_within(place, own, equal);) {
        left = free_in(place->second, left, at.time);
        place = place->second.empty() ? open_.erase(place) : std::next(place);
      }
  }

  using Open = std::map<Place, std::vector<std::size_t>>;
  Open::iterator first_of(Place own, std::ptrdiff_t equal) {
    std::fill(own.begin() + equal, own.end(), -1);
    return open_.lower_bound(own);
  }
  bool is_within(Open::iterator place, const Place& own, std::ptrdiff_t equal) const {
    return place != open_.end() && std::equal(own.begin(), own.begin() + equal, place->first.begin());
  }

  bool free_equal(const Place& own, std::ptrdiff_t equal, Bytes amount, SimTime time) {
    for (auto place = first_of(own, equal); is_within(place, own, equal); ++place) {
      const auto found = std::ranges::find(place->second, amount, [&](std::size_t block) { return blocks_[block].size; });
      if (found == place->second.end()) continue;
      blocks_[*found].freed = time;
      place->second.erase(found);
      return true;
    }
    return false;
  }

  // The oldest first. Returns what is still to be freed.
  Bytes free_in(std::vector<std::size_t>& open, Bytes amount, SimTime time) {
    auto oldest = open.begin();
    for (; amount > Bytes(0) && oldest != open.end(); ++oldest) {
      MemoryBlock& block = blocks_[*oldest];
      if (block.size <= amount) {
        amount -= block.size;
        block.freed = time;
        continue;
      }
      MemoryBlock part = block;
      block.size -= amount;
      part.size = amount;
      part.freed = time;
      amount = Bytes(0);
      blocks_.push_back(part);
      break;
    }
    open.erase(open.begin(), oldest);
    return amount;
  }

  std::vector<MemoryBlock> blocks_;
  Open open_;
};

// As the memory tracker does it: taken at the start, freed at the end; the sender's buffer when the receive ended.
std::vector<std::vector<TimedChange>> changes_of(const SimulatedStep& step, const MemoryModel& memory) {
  std::vector<std::vector<TimedChange>> changes(step.graph.devices().size());
  const auto add = [&](DeviceId device, const std::vector<MemoryChange>& some, SimTime time, const TaskKey& key) {
    for (const MemoryChange& change : some) changes[device.position()].push_back({time, change, key});
  };
  for (TaskId id(0); id.position() < step.graph.tasks().size(); ++id) {
    if (step.explained.span_of[id.position()] < 0) continue;
    const Task& task = step.graph.task(id);
    const Activity& ran = step.explained.of(id);  // a span begins where a blocking communication was issued, its memory where it works
    const MemoryEffect& effect = memory.effect(task, step.graph);
    add(task.device, effect.at_start, ran.begin, task.key);
    add(task.device, effect.temporary, ran.begin, task.key);
    for (const MemoryChange& change : effect.temporary)
      changes[task.device.position()].push_back({ran.end, {change.category, -change.amount, change.pool}, task.key});
    add(task.device, effect.at_end, ran.end, task.key);
    TaskKey sent = task.key;  // on the other side of the boundary
    sent.layer = LayerIndex(task.key.layer.value() + (task.key.phase == Phase::Forward ? -1 : 1));
    if (!effect.on_sender.empty()) add(task.peer, effect.on_sender, ran.end, sent);
  }
  return changes;
}

// Of an instant what is taken comes first, so that what the same instant frees is there.
bool is_before(const TimedChange& a, const TimedChange& b) {
  return std::pair(a.time, a.change.amount < Bytes(0)) < std::pair(b.time, b.change.amount < Bytes(0));
}

}  // namespace

std::vector<MemoryBlock> blocks_of(const MemoryBreakdown& resident, const std::vector<TimedChange>& changes) {
  BlockList blocks(resident);
  for (const TimedChange& change : changes) blocks.apply(change);
  return std::move(blocks).finish();
}

std::vector<RankMemory> planned_blocks(const SimulatedStep& step) {
  const MemoryModel memory(step.model, step.plan);
  std::vector<std::vector<TimedChange>> changes = changes_of(step, memory);
  std::vector<RankMemory> ranks;
  for (DeviceId device(0); device.position() < changes.size(); ++device) {
    std::vector<TimedChange>& of_device = changes[device.position()];
    std::stable_sort(of_device.begin(), of_device.end(), is_before);
    const GraphDevice& known = step.graph.devices()[device.position()];
    ranks.push_back({known, blocks_of(memory.resident(known.stage), of_device)});
  }
  return ranks;
}

}  // namespace sim
