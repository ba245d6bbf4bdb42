#include "sim/timeline/tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "sim/task_graph/source_edges.h"
#include "sim/units/at.h"

namespace sim {

Nanoseconds to_nanoseconds(SimTime time) {
  const std::int64_t count = time.count();
  const std::int64_t down = count / 1000 - (count % 1000 < 0 ? 1 : 0);  // floor
  return Nanoseconds(down + (count - down * 1000 >= 500 ? 1 : 0));
}

std::vector<std::int32_t> lanes_of(std::span<const Span> spans) {
  std::vector<std::size_t> order(spans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return spans[a].start < spans[b].start; });
  std::array<std::vector<SimTime>, kNumStreams> free_at;
  std::vector<std::int32_t> lanes(spans.size());
  for (const std::size_t at : order) {
    auto& stream = sim::at(free_at, spans[at].stream);
    std::size_t lane = 0;
    while (lane < stream.size() && stream[lane] > spans[at].start) ++lane;
    if (lane == stream.size()) stream.emplace_back();
    stream[lane] = spans[at].end;
    lanes[at] = static_cast<std::int32_t>(lane);
  }
  return lanes;
}

std::uint64_t flow_id(const TaskKey& key, std::int64_t step, PipelineLine line) {
  if ((key.operation != Operation::Send && key.operation != Operation::Receive) || key.phase == Phase::Step) return 0;
  // Both ends name the boundary by the layer in front of it.
  const bool behind = (key.phase == Phase::Forward) == (key.operation == Operation::Receive);
  const std::int32_t boundary = is_of_source(key) ? -key.sequence : key.layer.value() - (behind ? 1 : 0);
  const std::int64_t piece = key.microbatch.value() + (std::int64_t{key.slice.value() + 1} << 32);
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const std::int64_t part : {step, std::int64_t{boundary}, piece, std::int64_t{key.phase == Phase::Forward}, std::int64_t{line.value}})
    for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ ((static_cast<std::uint64_t>(part) >> shift) & 0xff)) * 0x100000001b3;
  return (hash >> 12) | 1;  // exact as a double, never zero
}

std::string track_name(const GraphDevice& device) {
  std::string name = fmt::format("stage {}, rank {}", device.stage.value(), device.representative.value());
  if (device.multiplicity > 1) name += fmt::format(" and {} like it", device.multiplicity - 1);
  return name;
}

std::vector<PipelineLine> pipeline_lines(const std::vector<GraphDevice>& devices) {
  std::map<StageIndex, std::int32_t> seen;
  std::vector<PipelineLine> lines;
  for (const GraphDevice& device : devices) lines.push_back({seen[device.stage]++});
  return lines;
}

}  // namespace sim
