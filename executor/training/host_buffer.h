// Memory of the host beside a device: what an offloaded optimizer and the inputs of blocks lie in. Pinned where the device is a GPU, so that copies run beside its work.
// Elsewhere it is no tensor memory of LibTorch's allocator, which stands for the device on a CPU: predictions count the two apart.
#pragma once

#include <ATen/core/Tensor.h>

namespace executor {

struct HostBufferForm {
  c10::Device device = c10::kCPU;  // that it stands beside
  at::ScalarType type = at::kFloat;
};
at::Tensor host_buffer(at::IntArrayRef sizes, const HostBufferForm& form);  // not initialised

}  // namespace executor
