#include "sim/timeline/memory_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "sim/timeline/pickle_writer.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr std::int64_t kFirstAddress = std::int64_t{1} << 32, kAlignment = 512;

// As the tools' readers know the parts of a step.
std::string_view part_name(Phase phase) {
  switch (phase) {
    case Phase::Forward: return "forward";
    case Phase::Backward: return "backward";
    case Phase::Recompute: return "backward (recompute)";
    case Phase::Gradients: return "backward (gradients)";
    case Phase::Weight: return "backward (weight)";
    case Phase::Step: break;
  }
  return "optimizer step";
}

struct Frame {
  std::string name;
  std::string_view file;
  std::int32_t line = 0;
};

std::vector<Frame> frames_of(const MemoryBlock& block, StageIndex stage) {
  const std::string category(sim::at(kMemoryCategoryNames, block.category));
  const Frame outermost{"training step", "stage", stage.value()};
  if (!block.owner) return {{category, "stage", stage.value()}, outermost};
  const TaskKey& owner = *block.owner;
  Frame inner{fmt::format("{} {}", sim::at(kOperationNames, owner.operation), category), "stage", stage.value()};
  if (owner.layer != LayerIndex::none()) inner.file = "layer", inner.line = owner.layer.value();
  Frame part{std::string(part_name(owner.phase)), "step", 0};
  if (owner.microbatch != MicrobatchIndex::none()) part.file = "microbatch", part.line = owner.microbatch.value();
  return {inner, part, outermost};
}

struct Event {
  SimTime time{};
  bool takes = false;  // of an instant frees come first, as the simulator has it: the peak is the plan's
  std::size_t block = 0;
  bool operator<(const Event& other) const { return std::tie(time, takes, block) < std::tie(other.time, other.takes, other.block); }
};

std::vector<Event> events_of(const std::vector<MemoryBlock>& blocks) {
  std::vector<Event> events;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    events.push_back({blocks[at].taken, true, at});
    if (blocks[at].freed != SimTime::max()) events.push_back({blocks[at].freed, false, at});
  }
  std::sort(events.begin(), events.end());
  return events;
}

class SnapshotWriter {
 public:
  SnapshotWriter(OutputFile& file, const std::vector<RankMemory>& ranks, const Told& told)
      : pickle_(file), ranks_(ranks), counted_{told, static_cast<std::int64_t>(ranks.size())} {
    std::int64_t next = kFirstAddress;
    for (const RankMemory& rank : ranks_) {
      addresses_.emplace_back();
      for (const MemoryBlock& block : rank.blocks) {
        addresses_.back().push_back(next);
        next += (block.size.value() / kAlignment + 1) * kAlignment;
      }
    }
  }

  void write() {
    pickle_.dictionary([&] {
      pickle_.key("segments");
      write_segments();
      pickle_.key("device_traces");
      write_traces();
      pickle_.key("allocator_settings");
      pickle_.dictionary([] {});
      pickle_.key("external_annotations");
      pickle_.list(0, [](std::size_t) {});
    });
    pickle_.finish();
  }

 private:
  void write_frames(std::size_t rank, const MemoryBlock& block) {
    const StageIndex stage = ranks_[rank].device.stage;
    const auto [entry, is_new] = stacks_.try_emplace({block.category, {stage, block.owner}});
    if (!is_new) return pickle_.again(entry->second);
    const std::vector<Frame> frames = frames_of(block, stage);
    pickle_.list(frames.size(), [&](std::size_t at) {
      pickle_.dictionary([&] {
        pickle_.member("name", frames[at].name);
        pickle_.member("filename", frames[at].file);
        pickle_.member("line", frames[at].line);
      });
    });
    entry->second = pickle_.remember();
  }

  // What stays.
  void write_segments() {
    std::vector<std::pair<std::size_t, std::size_t>> staying;  // rank, block
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      for (std::size_t at = 0; at < ranks_[rank].blocks.size(); ++at)
        if (ranks_[rank].blocks[at].freed == SimTime::max()) staying.emplace_back(rank, at);
    pickle_.list(staying.size(), [&](std::size_t at) { write_segment(staying[at].first, staying[at].second); });
  }

  void write_segment(std::size_t rank, std::size_t at) {
    const MemoryBlock& block = ranks_[rank].blocks[at];
    pickle_.dictionary([&] {
      pickle_.member("device", ranks_[rank].device.representative.value());
      pickle_.member("address", addresses_[rank][at]);
      for (const char* size : {"total_size", "allocated_size", "active_size", "requested_size"}) pickle_.member(size, block.size.value());
      pickle_.member("stream", 0);
      pickle_.member("segment_type", "large");
      pickle_.key("segment_pool_id");
      pickle_.list(2, [&](std::size_t) { pickle_.number(0); });
      pickle_.key("is_expandable");
      pickle_.boolean(false);
      pickle_.key("frames");
      write_frames(rank, block);
      pickle_.key("blocks");
      pickle_.list(1, [&](std::size_t) { write_block(rank, at); });
    });
  }

  void write_block(std::size_t rank, std::size_t at) {
    const MemoryBlock& block = ranks_[rank].blocks[at];
    pickle_.dictionary([&] {
      pickle_.member("address", addresses_[rank][at]);
      pickle_.member("size", block.size.value());
      pickle_.member("requested_size", block.size.value());
      pickle_.member("state", "active_allocated");
      pickle_.key("frames");
      write_frames(rank, block);
    });
  }

  // A list a device; between the ranks that stand for others the lists are empty.
  void write_traces() {
    std::map<std::int32_t, std::size_t> rank_of;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) rank_of[ranks_[rank].device.representative.value()] = rank;
    const std::size_t devices = rank_of.empty() ? 0 : count_of(rank_of.rbegin()->first) + 1;
    pickle_.list(devices, [&](std::size_t device) {
      const auto known = rank_of.find(static_cast<std::int32_t>(device));
      if (known == rank_of.end()) return pickle_.list(0, [](std::size_t) {});
      write_trace(known->second);
      counted_.one();
    });
  }

  void write_trace(std::size_t rank) {
    const std::vector<Event> events = events_of(ranks_[rank].blocks);
    constexpr const char* kTaking[] = {"segment_alloc", "alloc"};
    constexpr const char* kFreeing[] = {"free_requested", "free_completed", "segment_free"};
    std::vector<std::pair<const Event*, const char*>> actions;
    for (const Event& event : events)
      for (const char* action : event.takes ? std::span<const char* const>(kTaking) : std::span<const char* const>(kFreeing))
        actions.emplace_back(&event, action);
    pickle_.list(actions.size(), [&](std::size_t at) { write_event(rank, *actions[at].first, actions[at].second); });
  }

  void write_event(std::size_t rank, const Event& event, const char* action) {
    const MemoryBlock& block = ranks_[rank].blocks[event.block];
    pickle_.dictionary([&] {
      pickle_.member("action", action);
      pickle_.member("addr", addresses_[rank][event.block]);
      pickle_.member("size", block.size.value());
      pickle_.member("stream", 0);
      pickle_.member("time_us", 1 + event.time.count() / 1'000'000);  // zero is read as: not known
      pickle_.key("frames");
      write_frames(rank, block);
    });
  }

  PickleWriter pickle_;
  const std::vector<RankMemory>& ranks_;
  Counted counted_;
  std::vector<std::vector<std::int64_t>> addresses_;  // by rank and block; none is used twice
  std::map<std::pair<MemoryCategory, std::pair<StageIndex, std::optional<TaskKey>>>, PickleMemo> stacks_;
};

}  // namespace

void write_memory_snapshot(const std::vector<RankMemory>& ranks, const std::string& path, const Told& told) {
  OutputFile file(path);
  SnapshotWriter(file, ranks, told).write();
  file.finish();
}

}  // namespace sim
