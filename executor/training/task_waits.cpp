#include "executor/training/task_waits.h"

#include <boost/graph/graph_traits.hpp>

#include <map>

namespace executor {
namespace {

// The tasks of the device that stands for the rank's stage, as rank_slice() takes them.
std::map<std::size_t, std::size_t> positions_in_slice(const sim::TaskGraph& graph, sim::StageIndex stage) {
  std::map<std::size_t, std::size_t> positions;
  for (std::size_t device = 0; device < graph.devices().size(); ++device) {
    if (graph.devices()[device].stage != stage) continue;
    for (const sim::TaskId id : graph.issue_order(sim::DeviceId(static_cast<std::int32_t>(device))))
      positions.emplace(id.position(), positions.size());
    break;
  }
  return positions;
}

}  // namespace

DeviceStream device_stream(sim::Stream stream) {
  switch (stream) {
    case sim::Stream::Gather: return DeviceStream::Gather;
    case sim::Stream::Reduce: return DeviceStream::Reduce;
    case sim::Stream::Send: return DeviceStream::Send;
    case sim::Stream::Receive: return DeviceStream::Receive;
    case sim::Stream::ToHost: return DeviceStream::ToHost;
    case sim::Stream::ToDevice: return DeviceStream::ToDevice;
    case sim::Stream::Host: return DeviceStream::Host;
    default: return DeviceStream::Compute;
  }
}

std::vector<TaskWaits> waits_of_slice(const sim::TaskGraph& graph, const sim::ParallelPlan& plan, sim::Rank rank) {
  const std::map<std::size_t, std::size_t> positions = positions_in_slice(graph, plan.mesh.coordinate(rank).stage);
  std::vector<TaskWaits> waits(positions.size());
  for (const auto& [before, place] : positions) {
    const auto [first, last] = boost::out_edges(before, graph.edges());
    for (auto edge = first; edge != last; ++edge) {
      const std::size_t after = boost::target(*edge, graph.edges());
      const auto there = positions.find(after);
      if (there == positions.end() || device_stream(graph.tasks()[before].stream) == device_stream(graph.tasks()[after].stream)) continue;
      waits[there->second].before.push_back(place);
      waits[place].is_waited_for = true;
    }
  }
  return waits;
}

}  // namespace executor
