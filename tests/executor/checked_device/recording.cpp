#include "tests/executor/checked_device/recording.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/native/CPUFallback.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "tests/executor/checked_device/checked_device.h"

namespace executor {

using torch::jit::Stack;
struct Recorded {
  std::optional<c10::OperatorHandle> operation;  // none: a copy of inputs[0] to outputs[0], or a call
  Stack inputs, outputs;
  std::function<void()> call;
};
struct Recording {
  std::size_t stream = 0;
  std::vector<Recorded> steps;
  std::vector<at::Tensor> made;
};

namespace {

std::mutex mutex;
std::map<std::size_t, RecordingOf> recordings;  // by the streams that are part of one
thread_local RecordingOf begun;

// Where an operator made a tensor of its own, in place of writing to one that it was given.
bool is_made(const at::Tensor& output, const Stack& inputs) {
  for (const c10::IValue& input : inputs)
    if (input.isTensor() && input.toTensor().defined() && input.toTensor().storage().is_alias_of(output.storage())) return false;
  return true;
}

void empty(const at::Tensor& made) {
  const std::vector<char> nothing(made.storage().nbytes(), '\xff');
  if (!nothing.empty()) copy_checked(made.storage().mutable_data(), nothing.data(), nothing.size());
}

void perform(const Recorded& step) {
  if (step.call) return step.call();
  if (!step.operation) {
    step.outputs.front().toTensor().copy_(step.inputs.front().toTensor());
    return;
  }
  Stack stack = step.inputs;
  const InsideCheckedOperator inside;
  at::native::cpu_fallback(*step.operation, &stack);
  for (std::size_t at = 0; at < step.outputs.size(); ++at)
    if (step.outputs[at].isTensor() && step.outputs[at].toTensor().defined() && is_made(step.outputs[at].toTensor(), step.inputs))
      step.outputs[at].toTensor().copy_(stack[at].toTensor());
}

// Tensors that a recording reads or writes and did not make, and how often it holds each itself.
class FromOutside {
 public:
  explicit FromOutside(const Recording& recording) {
    std::set<const c10::StorageImpl*> made;
    for (const at::Tensor& tensor : recording.made) made.insert(tensor.storage().unsafeGetStorageImpl());
    for (const Recorded& step : recording.steps)
      for (const Stack* const stack : {&step.inputs, &step.outputs})
        for (const c10::IValue& value : *stack)
          if (value.isTensor() && value.toTensor().is_privateuseone() && !made.contains(value.toTensor().storage().unsafeGetStorageImpl()))
            ++held_[value.toTensor().storage().unsafeGetStorageImpl()][value.toTensor().unsafeGetTensorImpl()];
  }
  void require_life() const {
    for (const auto& [storage, tensors] : held_) {
      const auto has_others = [](const auto& tensor) { return c10::raw::intrusive_ptr::use_count(tensor.first) > tensor.second; };
      const bool lives =
          c10::raw::intrusive_ptr::use_count(storage) > tensors.size() || std::any_of(tensors.begin(), tensors.end(), has_others);
      TORCH_CHECK(lives, "a recording uses memory that was given up since: ", storage->nbytes(), " bytes");
    }
  }

 private:
  std::map<c10::StorageImpl*, std::map<c10::TensorImpl*, std::size_t>> held_;
};

}  // namespace

void begin_recording() {
  const std::lock_guard lock(mutex);
  begun = std::make_shared<Recording>();
  begun->stream = current_checked_stream();
  recordings[begun->stream] = begun;
}

namespace {

RecordingOf take_begun() {
  const std::lock_guard lock(mutex);
  const RecordingOf ended = std::exchange(begun, {});
  std::vector<std::size_t> apart;
  for (const auto& [stream, of] : recordings)
    if (of == ended && !is_ordered_behind(ended->stream, stream)) apart.push_back(stream);
  std::erase_if(recordings, [&](const auto& part) { return part.second == ended; });
  TORCH_CHECK(apart.empty(), "not in a recording: stream ", apart.front(), " was never waited for");
  return ended;
}

}  // namespace

std::function<void()> end_recording() {
  const RecordingOf ended = take_begun();
  for (const at::Tensor& made : ended->made) empty(made);
  return [ended, outside = FromOutside(*ended)] {
    const at::AutoDispatchBelowADInplaceOrView unrecorded;
    outside.require_life();
    for (const Recorded& step : ended->steps) perform(step);
  };
}

void give_up_recording() {
  const std::lock_guard lock(mutex);
  std::erase_if(recordings, [](const auto& part) { return part.second == begun; });
  begun = {};
}

RecordingOf recording_of(std::size_t stream) {
  const std::lock_guard lock(mutex);
  const auto found = recordings.find(stream);
  return found == recordings.end() ? nullptr : found->second;
}

void record_operator(const c10::OperatorHandle& operation, Stack inputs, Stack outputs) {
  if (const RecordingOf recording = recording_of(current_checked_stream()))
    recording->steps.push_back({.operation = operation, .inputs = std::move(inputs), .outputs = std::move(outputs), .call = {}});
}

void record_copy(const at::Tensor& from, const at::Tensor& to) {
  if (!from.is_privateuseone() || !to.is_privateuseone()) refuse_in_recording("a copy between the device and the host's memory");
  if (const RecordingOf recording = recording_of(current_checked_stream()))
    recording->steps.push_back({.operation = {}, .inputs = {from}, .outputs = {to}, .call = {}});
}

bool record_call(std::function<void()> call) {
  const RecordingOf recording = recording_of(current_checked_stream());
  if (recording) recording->steps.push_back({.operation = {}, .inputs = {}, .outputs = {}, .call = std::move(call)});
  return recording != nullptr;
}

at::Tensor record_made(at::Tensor tensor) {
  if (const RecordingOf recording = recording_of(current_checked_stream())) recording->made.push_back(tensor);
  return tensor;
}

void refuse_in_recording(const char* what) { TORCH_CHECK(!begun && !recording_of(current_checked_stream()), "not in a recording: ", what); }

void refuse_memory_beside_recording() {
  TORCH_CHECK(!begun || recording_of(current_checked_stream()) == begun, "not in a recording: memory of a stream that is no part of it");
}

void refuse_recorded(const RecordingOf& event, const char* what) { TORCH_CHECK(!event, "an event of a recording: ", what); }

void join_recording(const RecordingOf& event, const JoinOfStreams& streams) {
  const RecordingOf of_waiting = recording_of(streams.waiting);
  if (event == of_waiting) return;
  TORCH_CHECK(event, "not in a recording: a wait for what stream ", streams.recorded, " was given before");
  TORCH_CHECK(!of_waiting && recording_of(streams.recorded) == event, "an event of a recording: waited for outside of it");
  const std::lock_guard lock(mutex);
  recordings[streams.waiting] = event;
}

}  // namespace executor
