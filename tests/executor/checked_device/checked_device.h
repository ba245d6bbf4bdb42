// A LibTorch device for tests on any machine, in place of a GPU: memory that the host cannot touch, and streams whose order is checked.
//
//   the host reads or writes a tensor of it                                      the process ends: its pages are closed
//   a stream uses memory that another one wrote, reads, or used before it was    c10::Error
//   freed, without an event in between
//   an operator mixes it with CPU tensors                                        LibTorch's own error
//
// Operators compute on the CPU, on copies, at once: numbers are real, and order is a matter of clocks instead of luck. It is LibTorch's
// PrivateUse1; memory is reused as by LibTorch's caching allocator, a pool a stream. Not a model of a GPU's speed.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace executor {

c10::Device checked_device();  // made by the first call

// Of its tensors: what was asked for and not given back, and the highest that this was.
std::int64_t checked_alive_bytes();
std::int64_t checked_peak_bytes();
void reset_checked_peak();

}  // namespace executor
