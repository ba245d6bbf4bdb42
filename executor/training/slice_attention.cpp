#include "executor/training/slice_attention.h"

#include <ATen/ops/zeros_like.h>

#include <stdexcept>
#include <utility>

#include "executor/training/context_attention.h"
#include "sim/units/at.h"

namespace executor {

void SliceAttention::begin(const at::Tensor& joint) {
  cache_->blocks.resize(sim::count_of(shape_->ranks));
  sim::at(cache_->blocks, shape_->rank) = share_.take(joint);
}

Exchange SliceAttention::exchange(const sim::TaskKey& key) {
  throw std::logic_error("slices of a sample exchange nothing: " + sim::to_text(key));
}

void SliceAttention::attend(const sim::TaskKey& key) {
  for (std::int64_t source = shape_->rank; source >= 0; --source) {
    const at::Tensor& block = sim::at(cache_->blocks, source);
    if (key.phase != sim::Phase::Backward) {
      share_.attend(block, source);
      continue;
    }
    add_gradient(KeyBlock(sim::at(cache_->gradients, source), *shape_), share_.block_gradient(block, source));
  }
}

void SliceAttention::begin_backward(const at::Tensor& output_gradient) {
  share_.begin_backward(output_gradient);
  if (!cache_->gradients.empty()) return;
  for (const at::Tensor& block : cache_->blocks) cache_->gradients.push_back(at::zeros_like(block));
}

at::Tensor SliceAttention::joint_gradient() {
  sim::at(cache_->blocks, shape_->rank).reset();
  return share_.joint_gradient(std::exchange(sim::at(cache_->gradients, shape_->rank), {}));
}

}  // namespace executor
