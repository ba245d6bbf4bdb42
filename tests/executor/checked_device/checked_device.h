// A LibTorch device for tests on any machine, in place of a GPU: memory that the host cannot touch, and streams whose order is checked.
//
//   the host reads or writes a tensor of it                                      the process ends: its pages are closed
//   a stream uses memory that another one wrote, reads, or used before it was    c10::Error
//   freed, without an event in between
//   the host reads what a copy brings it that does not block                     NaN, until the host has waited
//   an operator mixes it with CPU tensors                                        LibTorch's own error
//
// Operators compute on the CPU, on copies, at once: numbers are real, and order is a matter of clocks instead of luck. It is LibTorch's
// PrivateUse1; memory is reused as by LibTorch's caching allocator, a pool a stream. Not a model of a GPU's speed.
#pragma once

#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace executor {

c10::Device checked_device();  // made by the first call

// For a library that is given addresses on it, as NCCL is. Memory of the host passes.
struct CheckedUse {
  const void* address;
  std::size_t bytes;
  bool writes = false;
};
void use_on_current_stream(const CheckedUse& use);
void copy_checked(void* to, const void* from, std::size_t bytes);  // as soon as it is called, without a stream
// Events that the current stream records from now on have not happened before `ended` says so.
void hold_current_stream(std::function<bool()> ended);

std::size_t current_checked_stream();
bool is_ordered_behind(std::size_t stream, std::size_t other);  // all that the other one has been given
// While it lives, copies are part of an operator, and none for which the host waits.
class InsideCheckedOperator {
 public:
  InsideCheckedOperator();
  ~InsideCheckedOperator();
  InsideCheckedOperator(const InsideCheckedOperator&) = delete;
  InsideCheckedOperator& operator=(const InsideCheckedOperator&) = delete;
};

// Of its tensors: what was asked for and not given back, and the highest that this was.
std::int64_t checked_alive_bytes();
std::int64_t checked_peak_bytes();
void reset_checked_peak();
std::int64_t checked_reads();  // copies to the host for which it has waited

}  // namespace executor
