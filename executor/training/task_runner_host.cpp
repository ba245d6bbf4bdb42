// What goes to the host and comes back: gradients and weights of an optimizer there, inputs of blocks, what modules have saved.
#include <ATen/ops/empty.h>

#include <utility>

#include "executor/training/host_buffer.h"
#include "executor/training/task_runner.h"

namespace executor {

// Read by the host, which waits for the copies (DeviceStream::Host): nothing of a step is under way when the next one writes there.
void TaskRunner::copy_to_host(const sim::Task& task) { parameters_.bucket(task.bucket).copy_gradients_to_host(); }
void TaskRunner::bring_gradients(const sim::Task& task) { parameters_.bucket(task.bucket).bring_gradients(); }
void TaskRunner::copy_to_device(const sim::Task& task) { parameters_.bucket(task.bucket).copy_weights_to_device(); }

// The input of a block that is recomputed, to the host and back beside other work: each end lives until the other stream has read it. Or what modules have saved.
void TaskRunner::keep_on_host(const sim::Task& task) {
  if (!plan_.offload_modules.none()) return stage_.send_saved(task.key);
  take_back();
  at::Tensor& input = stage_.block_input(task.key);
  const at::Tensor there = host_buffer(input.sizes(), {.device = parameters_.device(), .type = input.scalar_type()});
  there.copy_(input, /*non_blocking=*/true);
  lend(std::exchange(input, there), DeviceStream::ToHost);
}

void TaskRunner::bring_back(const sim::Task& task) {
  if (task.bucket.exists()) return parameters_.bucket(task.bucket).bring_weights();
  if (!plan_.offload_modules.none()) return stage_.bring_saved(task.key);
  take_back();
  at::Tensor& input = stage_.block_input(task.key);
  const at::Tensor here = at::empty(input.sizes(), input.options().pinned_memory(false).device(parameters_.device()));
  here.copy_(input, /*non_blocking=*/true);
  lend(std::exchange(input, here), DeviceStream::ToDevice);
  if (streams_.are_concurrent()) received_.push_back(here);
}

}  // namespace executor
