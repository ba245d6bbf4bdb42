#include "tests/executor/checked_device/recording.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/native/CPUFallback.h>

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "tests/executor/checked_device/checked_device.h"

namespace executor {
namespace {

using torch::jit::Stack;
struct Recorded {
  std::optional<c10::OperatorHandle> operation;  // none: a copy of inputs[0] to outputs[0]
  Stack inputs, outputs;
};
struct Recording {
  std::vector<Recorded> steps;
  std::vector<at::Tensor> made;
};
std::unique_ptr<Recording> recording;  // backward runs on a thread of LibTorch's, while the one that called it waits

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
  if (!step.operation) {
    step.outputs.front().toTensor().copy_(step.inputs.front().toTensor());
    return;
  }
  Stack stack = step.inputs;
  at::native::cpu_fallback(*step.operation, &stack);
  for (std::size_t at = 0; at < step.outputs.size(); ++at)
    if (step.outputs[at].isTensor() && step.outputs[at].toTensor().defined() && is_made(step.outputs[at].toTensor(), step.inputs))
      step.outputs[at].toTensor().copy_(stack[at].toTensor());
}

}  // namespace

void begin_recording() { recording = std::make_unique<Recording>(); }

std::function<void()> end_recording() {
  const std::shared_ptr<Recording> ended = std::move(recording);
  for (const at::Tensor& made : ended->made) empty(made);
  return [ended] {
    const at::AutoDispatchBelowADInplaceOrView unrecorded;
    for (const Recorded& step : ended->steps) perform(step);
  };
}

void record_operator(const c10::OperatorHandle& operation, Stack inputs, Stack outputs) {
  if (recording) recording->steps.push_back({.operation = operation, .inputs = std::move(inputs), .outputs = std::move(outputs)});
}

void record_copy(const at::Tensor& from, const at::Tensor& to) {
  if (!recording) return;
  if (!from.is_privateuseone() || !to.is_privateuseone()) refuse_in_recording("a copy between the device and the host's memory");
  recording->steps.push_back({.operation = {}, .inputs = {from}, .outputs = {to}});
}

at::Tensor record_made(at::Tensor tensor) {
  if (recording) recording->made.push_back(tensor);
  return tensor;
}

void refuse_in_recording(const char* what) { TORCH_CHECK(!recording, "not in a recording: ", what); }

}  // namespace executor
