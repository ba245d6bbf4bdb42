#include "gui/import/memory_snapshot.h"

#include <algorithm>
#include <unordered_map>

#include "gui/import/snapshot_owners.h"
#include "sim/units/at.h"
#include "sim/units/input_error.h"

namespace gui {
namespace {

class DeviceReader {
 public:
  DeviceReader(const Pickle& pickle, SnapshotOwners& owners, SnapshotDevice& device) : pickle_(pickle), owners_(owners), device_(device) {}

  void read(PickleId events) {
    for (std::size_t at = 0; at < pickle_.size(events); ++at) take(pickle_.item(events, at), at);
  }

  // Blocks that are active at the end and were not allocated while recording were there before.
  void addBefore(PickleId segments) {
    std::int64_t active = 0, reserved = 0;
    for (std::size_t at = 0; at < pickle_.size(segments); ++at) {
      const PickleId segment = pickle_.item(segments, at);
      if (pickle_.integer(pickle_.member(segment, "device")) != device_.number) continue;
      active += std::max<std::int64_t>(0, pickle_.integer(pickle_.member(segment, "allocated_size")));
      reserved += std::max<std::int64_t>(0, pickle_.integer(pickle_.member(segment, "total_size")));
    }
    std::int64_t more = 0;
    for (const sim::Bytes bytes : alive_) more += bytes.value();
    device_.before = sim::Bytes(std::max<std::int64_t>(0, active - more));
    device_.most_reserved = std::max(sim::Bytes(reserved), sim::Bytes(reserved - reserved_ + most_reserved_));
    if (device_.curve.empty() && device_.before > sim::Bytes(0)) sample(sim::SimTime(0));
    for (sim::MemorySample& sample : device_.curve) sim::at(sample.alive, memoryOf(AllocatedIn::Before)) += device_.before;
  }

 private:
  sim::SimTime timeOf(PickleId event, std::size_t at) {
    const std::int64_t micros = pickle_.integer(pickle_.member(event, "time_us"));
    const std::int64_t now = micros > 0 ? micros : static_cast<std::int64_t>(at);  // older files have no times
    if (first_ < 0) first_ = now;
    constexpr std::int64_t kMostMicros = std::int64_t{1} << 42;  // microseconds the clock can hold
    return std::max(device_.length, sim::SimTime(std::clamp<std::int64_t>(now - first_, 0, kMostMicros) * 1'000'000));
  }

  void take(PickleId event, std::size_t at) {
    const std::string_view action = pickle_.text(pickle_.member(event, "action"));
    const std::int64_t size = pickle_.integer(pickle_.member(event, "size"));
    if (action.empty() || size < 0) {
      ++device_.malformed;
      return;
    }
    device_.length = timeOf(event, at);
    const std::int64_t address = pickle_.integer(pickle_.member(event, "addr"));
    if (action == "alloc") allocate(address, sim::Bytes(size), owners_.of(pickle_.member(event, "frames")));
    if (action == "free_completed") release(address);
    if (action == "segment_alloc" || action == "segment_map") reserved_ += size;
    if (action == "segment_free" || action == "segment_unmap") reserved_ -= size;
    most_reserved_ = std::max(most_reserved_, reserved_);
  }

  void allocate(std::int64_t address, sim::Bytes size, SnapshotOwner owner) {
    open_[address] = {device_.allocations.size(), owner.part};
    device_.allocations.push_back({device_.length, sim::SimTime::max(), size, owner.number});
    sim::at(alive_, owner.part) += size;
    sample(device_.length);
  }

  void release(std::int64_t address) {
    const auto found = open_.find(address);
    if (found == open_.end()) return;  // of what was there before
    Allocation& allocation = device_.allocations[found->second.first];
    allocation.end = device_.length;
    sim::at(alive_, found->second.second) -= allocation.size;
    open_.erase(found);
    sample(device_.length);
  }

  void sample(sim::SimTime time) {
    sim::MemorySample made{.device = sim::DeviceId(device_.number), .time = time, .alive = {}};
    for (std::size_t part = 0; part < kNumAllocatedIn; ++part)
      sim::at(made.alive, memoryOf(static_cast<AllocatedIn>(part))) += alive_[part];
    device_.curve.push_back(made);
  }

  const Pickle& pickle_;
  SnapshotOwners& owners_;
  SnapshotDevice& device_;
  std::int64_t first_ = -1, reserved_ = 0, most_reserved_ = 0;
  std::array<sim::Bytes, kNumAllocatedIn> alive_{};
  std::unordered_map<std::int64_t, std::pair<std::size_t, AllocatedIn>> open_;  // by address
};

}  // namespace

sim::MemoryCategory memoryOf(AllocatedIn part) {
  switch (part) {
    case AllocatedIn::Before: return sim::MemoryCategory::Parameters;
    case AllocatedIn::Forward: return sim::MemoryCategory::Activations;
    case AllocatedIn::Backward: return sim::MemoryCategory::Gradients;
    case AllocatedIn::Optimizer: return sim::MemoryCategory::OptimizerState;
    case AllocatedIn::Elsewhere: break;
  }
  return sim::MemoryCategory::Temporaries;
}

SharedSnapshot importSnapshot(const std::string& path, Progress& progress) {
  const TextSource source(path, progress);
  const Pickle pickle(source.text(), path, progress);
  const PickleId traces = pickle.member(pickle.root(), "device_traces"), segments = pickle.member(pickle.root(), "segments");
  if (pickle.kind(segments) != PickleKind::List)
    throw sim::InputError(path, {{"", "is a pickle, but no memory snapshot: it has no \"segments\"",
                                  "make one: torch.cuda.memory._record_memory_history(), then _dump_snapshot(\"snapshot.pickle\")"}});
  auto snapshot = std::make_shared<MemorySnapshot>();
  snapshot->path = path;
  SnapshotOwners owners(pickle, snapshot->owners);
  for (std::size_t at = 0; at < std::max<std::size_t>(1, pickle.size(traces)); ++at) {
    progress.stopIfCancelled();
    SnapshotDevice device;
    device.number = static_cast<std::int32_t>(at);
    DeviceReader reader(pickle, owners, device);
    if (at < pickle.size(traces)) reader.read(pickle.item(traces, at));
    reader.addBefore(segments);
    if (!device.curve.empty()) snapshot->devices.push_back(std::move(device));
  }
  if (snapshot->devices.empty())
    throw sim::InputError(path,
                          {{"", "holds no allocation on any device", "call torch.cuda.memory._record_memory_history() before training"}});
  return snapshot;
}

std::vector<OwnedMemory> aliveAt(const SnapshotDevice& device, sim::SimTime time) {
  std::unordered_map<std::uint32_t, OwnedMemory> by_owner;
  for (const Allocation& allocation : device.allocations) {
    if (allocation.begin > time) break;
    if (allocation.end <= time) continue;
    OwnedMemory& owned = by_owner[allocation.owner];
    owned.owner = allocation.owner;
    owned.size += allocation.size;
    ++owned.allocations;
  }
  std::vector<OwnedMemory> owned;
  for (const auto& [owner, memory] : by_owner) owned.push_back(memory);
  std::sort(owned.begin(), owned.end(),
            [](const OwnedMemory& a, const OwnedMemory& b) { return a.size != b.size ? a.size > b.size : a.owner < b.owner; });
  return owned;
}

}  // namespace gui
