// A copy of a rank's state in host memory, so that training goes on while the state is written. Its memory is kept for the next copy and is not
// LibTorch's: it stands beside the plan's prediction. Beside a GPU it is pinned: all tensors leave on a stream of their own, at the bus's speed, and the
// host waits once.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "executor/training/safetensors.h"

namespace executor {

class Snapshot {
 public:
  void take(const std::vector<NamedTensor>& tensors);                   // what the current stream has made of them
  const std::vector<NamedTensor>& tensors() const { return tensors_; }  // views of the copy

 private:
  void resize(std::size_t bytes, bool is_pinned);

  std::vector<std::byte> memory_;
  std::shared_ptr<void> pinned_;  // while memory_ is
  std::vector<NamedTensor> tensors_;
};

}  // namespace executor
