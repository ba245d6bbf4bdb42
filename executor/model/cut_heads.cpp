#include "executor/model/cut_heads.h"

#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <utility>

#include "executor/model/gradient_place.h"
#include "sim/units/at.h"

namespace executor {
namespace {

at::ScalarType wide_type(const at::Tensor& tensor) { return at::toOpMathType(tensor.scalar_type()); }

}  // namespace

CutNorms::CutNorms(const HeadShape& shape, const HeadNorms& norms, std::int64_t ranks)
    : parts_{Part{.layer = norms.queries, .first = 0, .columns = shape.heads * shape.head_dim},
             Part{.layer = norms.keys, .first = shape.heads * shape.head_dim, .columns = shape.kv_heads * shape.head_dim}},
      ranks_(ranks) {}

at::Tensor CutNorms::leave(const at::Tensor& joint) {
  rows_ = joint;
  const at::Tensor sums = at::empty({joint.size(0), 2}, joint.options().dtype(wide_type(joint)));
  for (std::int64_t at = 0; at < 2; ++at) {
    Part& part = sim::at(parts_, at);
    part.input = joint.narrow(1, part.first, part.columns).clone(at::MemoryFormat::Contiguous);
    sums.select(1, at).copy_(part.input.to(sums.scalar_type()).square().sum(1));
  }
  return sums;
}

at::Tensor CutNorms::arrive(const at::Tensor& sums) {
  for (std::int64_t at = 0; at < 2; ++at) {
    Part& part = sim::at(parts_, at);
    part.inverse = sums.narrow(1, at, 1).div(static_cast<double>(part.columns * ranks_)).add_(part.layer.epsilon).rsqrt_();
    rows_.narrow(1, part.first, part.columns).copy_(part.input.to(sums.scalar_type()).mul(part.inverse).mul_(part.layer.factor()));
  }
  return std::exchange(rows_, {});
}

at::Tensor CutNorms::leave_back(const at::Tensor& gradient) {
  rows_ = gradient;
  const at::Tensor sums = at::empty({gradient.size(0), 2}, gradient.options().dtype(wide_type(gradient)));
  for (std::int64_t at = 0; at < 2; ++at) {
    const Part& part = sim::at(parts_, at);
    const at::Tensor place = gradient.narrow(1, part.first, part.columns);
    const at::Tensor slope = place.to(sums.scalar_type()).mul(part.input).mul_(part.inverse);
    if (part.layer.scale.gradient.defined()) add_gradient(part.layer.scale.gradient, slope.sum(0));
    sums.select(1, at).copy_(slope.mul_(part.layer.factor()).sum(1));
  }
  return sums;
}

at::Tensor CutNorms::arrive_back(const at::Tensor& sums) {
  for (std::int64_t at = 0; at < 2; ++at) {
    Part& part = sim::at(parts_, at);
    const at::Tensor place = rows_.narrow(1, part.first, part.columns),
                     mean = sums.narrow(1, at, 1).div(static_cast<double>(part.columns * ranks_));
    const at::Tensor normed = part.input.to(sums.scalar_type()).mul(part.inverse);
    place.copy_(place.to(sums.scalar_type()).mul(part.layer.factor()).sub_(normed.mul_(mean)).mul_(part.inverse));
    part.input.reset();
  }
  return std::exchange(rows_, {});
}

// copy(rank, its columns' first, own rows' first, count): what this rank has of what `rank` made. A head of keys lies on neighbours, part after part.
template <class Copy>
void SharedKeys::for_each_stretch(const Copy& copy) const {
  const std::int64_t queries = shape_.heads * shape_.head_dim, sharers = ranks_.all / ranks_.kv_heads,
                     first = ranks_.own / sharers * sharers, key = shape_.head_dim / sharers, value = shape_.value_width() / sharers;
  copy(ranks_.own, 0, 0, queries);
  for (std::int64_t at = 0; at < sharers; ++at) {
    copy(first + at, queries, queries + at * key, key);
    copy(first + at, queries + key, queries + shape_.head_dim + at * value, value);
  }
  copy(ranks_.own, queries + key + value, shape_.width() - shape_.gates, shape_.gates);
}

at::Tensor SharedKeys::arrive(const at::Tensor& all) const {
  const at::Tensor by_rank = all.view({ranks_.all, -1, all.size(1)}), rows = at::empty({by_rank.size(1), shape_.width()}, all.options());
  for_each_stretch([&](std::int64_t rank, std::int64_t there, std::int64_t here, std::int64_t count) {
    rows.narrow(1, here, count).copy_(by_rank.select(0, rank).narrow(1, there, count));
  });
  return rows;
}

at::Tensor SharedKeys::leave_back(const at::Tensor& gradient) const {
  const std::int64_t sharers = ranks_.all / ranks_.kv_heads,
                     made = shape_.width() - (shape_.head_dim + shape_.value_width()) / sharers * (sharers - 1);
  const at::Tensor by_rank = at::zeros({ranks_.all, gradient.size(0), made}, gradient.options());
  for_each_stretch([&](std::int64_t rank, std::int64_t there, std::int64_t here, std::int64_t count) {
    by_rank.select(0, rank).narrow(1, there, count).copy_(gradient.narrow(1, here, count));
  });
  return by_rank.view({-1, made});
}

}  // namespace executor
