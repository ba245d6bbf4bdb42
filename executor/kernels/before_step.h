// What a step changes, as it was before: put back where a device has decided that nothing is stepped.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/where.h>

#include <initializer_list>
#include <utility>
#include <vector>

namespace executor {

class BeforeStep {
 public:
  // factor: [1] beside them, negative where nothing is stepped; none: all is, and nothing is kept.
  BeforeStep(const at::Tensor& factor, std::initializer_list<at::Tensor> changed) : factor_(factor) {
    if (factor_.defined())
      for (const at::Tensor& tensor : changed) kept_.emplace_back(tensor, tensor.clone());
  }
  void put_back_if_skipped() const {
    for (const auto& [now, before] : kept_) now.copy_(at::where(factor_.lt(0), before, now));
  }

 private:
  at::Tensor factor_;
  std::vector<std::pair<at::Tensor, at::Tensor>> kept_;
};

}  // namespace executor
