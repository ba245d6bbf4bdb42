// Of the host's numbers a copy on a device, behind what that has to do: the host goes on. (A copy from memory that is not pinned waits for all before it.)
#pragma once

#include <ATen/core/Tensor.h>

namespace executor {

inline at::Tensor sent_to(const at::Tensor& host, c10::Device device) {
  return device.is_cuda() ? host.pin_memory().to(device, /*non_blocking=*/true) : host.to(device);
}

}  // namespace executor
