// What is issued to the checked device, written down and issued again: its stand-in for a CUDA graph, with what a capture refuses. A recording begins on a
// stream. A stream that waits for an event of it becomes part of it, and must have been waited for by the first one when it ends. These throw:
//
//   the host waits for the device, asks whether it has ended, reads a number, copies from or to its own memory
//   an event that lies in a recording is asked for, or waited for by a stream that is not part of it once it has ended
//   a stream of the recording waits for an event of before it
//   memory is taken on a stream that is no part of it: that is none of the graph's own memory
//   a replay uses memory of outside that was given up since
//
// What was made in between holds nothing afterwards: the first replay fills it, on the stream that is current then, in the order of the recording.
// Scalars are those of the recording, and addresses too. Tensors of a recording keep their memory, as those in a graph's own pool do.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace executor {

void begin_recording();                 // on the current stream
std::function<void()> end_recording();  // a replay, on the stream that is current when it is called
void give_up_recording();               // of this thread, if there is one: after what was thrown

// For the device: what it is told.
void record_operator(const c10::OperatorHandle& operation, torch::jit::Stack inputs, torch::jit::Stack outputs);
void record_copy(const at::Tensor& from, const at::Tensor& to);
at::Tensor record_made(at::Tensor tensor);
void refuse_in_recording(const char* what);
void refuse_memory_beside_recording();
bool record_call(std::function<void()> call);  // of a library: whether it is recorded, in place of being performed

// Of an event: the recording that its stream is part of.
struct Recording;
using RecordingOf = std::shared_ptr<Recording>;
RecordingOf recording_of(std::size_t stream);
void refuse_recorded(const RecordingOf& event, const char* what);
struct JoinOfStreams {
  std::size_t recorded, waiting;  // streams
};
void join_recording(const RecordingOf& event, const JoinOfStreams& streams);

}  // namespace executor
