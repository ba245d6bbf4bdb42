// Timelines and traces by hand, in microseconds, for the tests of this room and of those that read timelines.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "sim/timeline/trace.h"

namespace sim::testing {

inline SimTime us(std::int64_t value) { return std::chrono::microseconds(value); }

inline TaskKey compute_key(StageIndex stage, std::int32_t microbatch, Phase phase, Operation operation = Operation::Attention) {
  return {.stage = stage,
          .chunk = ChunkIndex(0),
          .microbatch = MicrobatchIndex(microbatch),
          .layer = LayerIndex(1),
          .phase = phase,
          .operation = operation};
}

inline TaskKey transfer_key(StageIndex stage, std::int32_t layer, Phase phase, Operation operation) {
  return {.stage = stage,
          .chunk = ChunkIndex(0),
          .microbatch = MicrobatchIndex(0),
          .layer = LayerIndex(layer),
          .phase = phase,
          .operation = operation,
          .group = MeshAxis::Pipeline};
}

inline Span span(std::int32_t device, const TaskKey& key, SimTime start, SimTime end, Stream stream = Stream::Compute) {
  return {.device = DeviceId(device), .stream = stream, .key = key, .start = start, .end = end};
}

// Two stages, one microbatch: stage 0 computes, sends; stage 1 receives, computes forward and backward, sends; stage 0 goes back and steps.
inline Timeline two_stages() {
  const StageIndex first(0), second(1);
  Timeline timeline;
  timeline.devices = {{.representative = Rank(0), .stage = first}, {.representative = Rank(1), .stage = second}};
  timeline.spans = {
      span(0, compute_key(first, 0, Phase::Forward), us(0), us(20)),
      span(0, transfer_key(first, 1, Phase::Forward, Operation::Send), us(20), us(21), Stream::Send),
      span(0, transfer_key(first, 1, Phase::Backward, Operation::Receive), us(60), us(70), Stream::Receive),
      span(0, compute_key(first, 0, Phase::Recompute), us(70), us(80)),
      span(0, compute_key(first, 0, Phase::Backward), us(80), us(95)),
      span(0, {.stage = first, .phase = Phase::Step, .operation = Operation::Update}, us(95), us(100)),
      span(1, transfer_key(second, 2, Phase::Forward, Operation::Receive), us(21), us(30), Stream::Receive),
      span(1, compute_key(second, 0, Phase::Forward), us(30), us(40)),
      span(1, compute_key(second, 0, Phase::Backward), us(40), us(60)),
      span(1, transfer_key(second, 2, Phase::Backward, Operation::Send), us(60), us(61), Stream::Send),
  };
  MemoryBreakdown alive{};
  alive[static_cast<std::size_t>(MemoryCategory::Parameters)] = Bytes(100);
  timeline.memory.push_back({DeviceId(0), us(0), alive});
  alive[static_cast<std::size_t>(MemoryCategory::Activations)] = Bytes(50);
  timeline.memory.push_back({DeviceId(0), us(20), alive});
  return timeline;
}

// What a perfect run of a device would have recorded: the same spans in each of `steps` steps.
inline RankTrace trace_of(const Timeline& timeline, DeviceId device, std::int64_t steps = 3) {
  RankTrace trace;
  trace.rank = timeline.devices[device.position()].representative;
  trace.plan_hash = "0123456789abcdef";
  trace.mesh = {.pipeline = static_cast<std::int32_t>(timeline.devices.size())};
  for (std::int64_t number = 0; number < steps; ++number) {
    MeasuredStep step;
    step.step = number;
    step.duration = us(100);
    step.start = us(1000 + number * 100);
    step.peak_memory = Bytes(150);
    for (Span copy : timeline.spans) {
      if (copy.device != device) continue;
      copy.device = DeviceId(0);
      step.spans.push_back(copy);
    }
    trace.steps.push_back(step);
  }
  return trace;
}

// A folder of its own that goes when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(std::filesystem::temp_directory_path() / fmt::format("meshwright-test-{}-{}", ::getpid(), next_++)) {
    std::filesystem::create_directories(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  inline static std::atomic<int> next_ = 0;
  std::filesystem::path path_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void put(const std::string& path, const std::string& content) { std::ofstream(path, std::ios::binary) << content; }

}  // namespace sim::testing
