// Which tasks of a rank's slice wait for which: the edges of the task graph between tasks of one rank that run on different streams of its device.
// Order within a stream, and between ranks, is not said here.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/task_graph/task_graph.h"

namespace executor {

// Streams of a device. Sums over tensor ranks stand between two pieces of computing that need each other: they run on the stream of computing, but for
// those beside weight gradients (exchanges_beside_weights), which TaskRunner starts on a stream of theirs.
// Host: no stream of the device, but this thread, which waits for what it reads.
enum class DeviceStream : std::uint8_t { Compute, Tensor, Gather, Reduce, Send, Receive, ToHost, ToDevice, Host };
inline constexpr std::size_t kNumDeviceStreams = 8;  // without the host
DeviceStream device_stream(sim::Stream stream);

struct TaskWaits {
  std::vector<std::size_t> before;  // positions in the slice, all earlier, of other streams
  bool is_waited_for = false;
};
// By position in rank_slice(graph, plan, rank).
std::vector<TaskWaits> waits_of_slice(const sim::TaskGraph& graph, const sim::ParallelPlan& plan, sim::Rank rank);

}  // namespace executor
