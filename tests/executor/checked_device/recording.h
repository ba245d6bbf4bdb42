// What is issued to the checked device, written down and issued again: its stand-in for a CUDA graph. Between begin_recording() and end_recording()
// throw, as they would end a capture: a host that waits for the device or asks whether it has ended, a copy from or to the host's memory, an operator
// whose result the host must see. What was made in between holds nothing afterwards: the first replay fills it.
//
// Scalars are those of the recording, and addresses too. Tensors of a recording keep their memory, as those in a graph's own pool do.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <functional>

namespace executor {

void begin_recording();
std::function<void()> end_recording();  // a replay, on the stream that is current when it is called

// For the device: what it is told.
void record_operator(const c10::OperatorHandle& operation, torch::jit::Stack inputs, torch::jit::Stack outputs);
void record_copy(const at::Tensor& from, const at::Tensor& to);
at::Tensor record_made(at::Tensor tensor);
void refuse_in_recording(const char* what);

}  // namespace executor
