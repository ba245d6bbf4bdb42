#include "executor/training/scale_history.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "sim/units/at.h"

namespace executor {

ScaleHistory::ScaleHistory(const sim::ModelGraph& model, const sim::ParallelPlan& plan, c10::Device device) {
  if (plan.workload.precision.scales() != sim::ScaleRecipe::Delayed) return;
  steps_ = at::zeros({plan.workload.precision.scale_history(), sim::num_scaled(model), sim::kNumOperands},
                     at::TensorOptions().dtype(at::kFloat).device(device));
  seen_ = at::zeros_like(steps_.select(0, 0));
  before_ = at::zeros_like(seen_);
}

DelayedMaxima ScaleHistory::of_product(std::int64_t product) const {
  if (!is_kept()) return {};
  return {.seen = seen_.select(0, product), .before = before_.select(0, product)};
}

void ScaleHistory::renew() { before_.copy_(steps_.amax(0)); }

void ScaleHistory::end_step() {
  if (!is_kept()) return;
  const at::Tensor newest = at::nan_to_num(seen_, 0.0, 0.0).unsqueeze(0);
  steps_ = at::cat({steps_.slice(0, 1), newest});
  seen_.zero_();
  renew();
}

std::vector<float> ScaleHistory::saved() const {
  if (!is_kept()) return {};
  const at::Tensor here = steps_.cpu();
  const auto* first = here.const_data_ptr<float>();
  return {first, first + here.numel()};
}

void ScaleHistory::load(const std::vector<float>& saved) {
  if (!is_kept() || saved.empty()) return;
  const std::size_t taken = std::min(saved.size(), sim::count_of(steps_.numel()));
  const at::Tensor here = at::zeros(steps_.sizes(), at::kFloat);
  std::copy(saved.end() - static_cast<std::ptrdiff_t>(taken), saved.end(),
            here.data_ptr<float>() + here.numel() - static_cast<std::int64_t>(taken));
  steps_.copy_(here);
  renew();
}

}  // namespace executor
