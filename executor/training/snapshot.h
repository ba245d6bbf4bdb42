// A copy of a rank's state in host memory, so that training goes on while the state is written. Its memory is kept for the next copy and is not
// LibTorch's: it stands beside the plan's prediction.
#pragma once

#include <cstddef>
#include <vector>

#include "executor/training/safetensors.h"

namespace executor {

class Snapshot {
 public:
  void take(const std::vector<NamedTensor>& tensors);
  const std::vector<NamedTensor>& tensors() const { return tensors_; }  // views of the copy

 private:
  std::vector<std::byte> memory_;
  std::vector<NamedTensor> tensors_;
};

}  // namespace executor
