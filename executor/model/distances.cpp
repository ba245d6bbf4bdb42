#include "executor/model/distances.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/log.h>
#include <ATen/ops/where.h>

#include <cmath>

namespace executor {

// The logarithm in fp32, as T5 has it: a rounded quotient says which column a distance has.
at::Tensor distance_buckets(const DistanceForm& form, std::int64_t sequence, c10::Device device) {
  const at::Tensor positions = at::arange(sequence, at::TensorOptions().dtype(at::kLong).device(device)),
                   ahead = positions.unsqueeze(0) - positions.unsqueeze(1);  // of the key
  const std::int64_t buckets = form.both_ways ? form.buckets / 2 : form.buckets, near = buckets / 2;
  const at::Tensor distance = form.both_ways ? ahead.abs() : ahead.neg().clamp_min(0);
  const double ratio = static_cast<double>(form.farthest) / static_cast<double>(near);
  const at::Tensor far = at::log(distance.clamp_min(1).to(at::kFloat) / near) / std::log(ratio) * (buckets - near);
  const at::Tensor bucket = at::where(distance.lt(near), distance, (far.to(at::kLong) + near).clamp_max(buckets - 1));
  return form.both_ways ? bucket + ahead.gt(0).to(at::kLong) * buckets : bucket;
}

}  // namespace executor
