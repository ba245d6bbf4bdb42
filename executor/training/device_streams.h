// The streams of this rank's device, one a kind of task, and the events between them. What runs beside each other is what the task graph leaves
// unordered. On a CPU there is one stream and nothing to wait for: every function returns at once.
//
// Memory that one stream took and another one uses is not marked (no record_stream): whoever gives it up makes the stream that took it wait first.
#pragma once

#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "executor/training/task_waits.h"
#include "sim/units/at.h"

namespace executor {

class DeviceStreams {
 public:
  // Computing keeps the stream that is current when this is made; the others are of high priority.
  explicit DeviceStreams(c10::Device device);

  bool are_concurrent() const { return streams_.has_value(); }
  void make_current(DeviceStream stream) const;
  // An event, which is used again when nobody holds it: making one takes longer than recording it. Nothing on a CPU, and nothing of the host, whose
  // clock tells.
  using Moment = std::shared_ptr<c10::Event>;
  Moment now_on(DeviceStream stream) const;
  void wait(DeviceStream stream, const Moment& until) const;  // the host itself waits here
  void join() const;                                          // computing waits for all others
  void split() const;                                         // all others wait for computing

 private:
  const c10::Stream& of(DeviceStream stream) const { return sim::at((*streams_), stream); }

  c10::Device device_;
  std::optional<std::array<c10::Stream, kNumDeviceStreams>> streams_;
  using Pool = std::vector<std::unique_ptr<c10::Event>>;
  std::shared_ptr<Pool> unused_ = std::make_shared<Pool>();  // outlives the moments, which come back to it
};

// Tasks are issued to a stream while this lives; afterwards to that of computing again.
class OnStream {
 public:
  OnStream(const DeviceStreams& streams, DeviceStream stream) : streams_(streams) { streams_.make_current(stream); }
  ~OnStream() { streams_.make_current(DeviceStream::Compute); }
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;

 private:
  const DeviceStreams& streams_;
};

}  // namespace executor
