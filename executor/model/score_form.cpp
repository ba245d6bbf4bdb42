#include "executor/model/score_form.h"

#include <ATen/TensorOperators.h>

namespace executor {

at::Tensor ScoreForm::capped(const at::Tensor& scores) const { return cap > 0 ? scores.div_(cap).tanh_().mul_(cap) : scores; }

void ScoreForm::through_cap(const at::Tensor& slope, const at::Tensor& of_capped) const {
  slope.mul_(of_capped.div_(cap).square_().neg_().add_(1));
}

bool ScoreForm::knows_kernel(std::int64_t sequence) const {
  return sees_all_behind(sequence) && cap <= 0 && !slopes.defined() && !sinks.value.defined() && !distances.value.defined();
}

}  // namespace executor
