#include "executor/training/low_rank_sum.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "executor/model/random.h"
#include "executor/training/precision.h"
#include "sim/units/at.h"

namespace executor {
namespace {

constexpr double kEpsilon = 1e-8;  // PyTorch's: of a column that vanished

// Gram and Schmidt, column by column, in place.
void orthogonalize(const at::Tensor& matrix) {
  for (std::int64_t at = 0; at < matrix.size(1); ++at) {
    const at::Tensor column = matrix.select(1, at);
    column.div_(column.norm().add_(kEpsilon));
    if (at + 1 == matrix.size(1)) break;
    const at::Tensor rest = matrix.narrow(1, at + 1, matrix.size(1) - at - 1);
    rest.addr_(column, rest.t().mv(column), 1, -1);
  }
}

void fill_normal(const at::Tensor& values, RandomKey key) {
  const at::Tensor drawn = at::empty({values.numel()}, at::kDouble);
  for (std::int64_t at = 0; at < drawn.numel(); ++at) drawn.data_ptr<double>()[at] = random_normal(key, static_cast<std::uint64_t>(at));
  values.copy_(drawn.view(values.sizes()));
}

}  // namespace

LowRankSum::LowRankSum(const ParameterStore& store, const FlatBucket& bucket, const sim::ParallelPlan& plan)
    : bucket_(bucket),
      low_(sim::low_rank_bucket(bucket.layout(), plan.workload.precision.gradient_codec())),
      part_(1.0 / bucket.layout().shards) {
  const auto options = at::TensorOptions().device(store.device()).dtype(scalar_type(plan.workload.precision.of(sim::Numbers::Gradients)));
  error_ = at::zeros({low_.compressed}, options);
  q_ = at::empty({low_.q}, options);
  for (const sim::LowRankMatrix& matrix : low_.matrices) {
    const std::string& name = store.parameter(bucket.layout().slots[matrix.slot]).name;
    fill_normal(q_of(matrix), random_key({plan.training.seed, label_of("powersgd"), label_of(name)}));
  }
}

at::Tensor LowRankSum::error_of(const sim::LowRankMatrix& matrix) const {
  return error_.narrow(0, matrix.begin, matrix.shape.rows * matrix.shape.columns).view({matrix.shape.rows, matrix.shape.columns});
}

at::Tensor LowRankSum::gradient_of(const sim::LowRankMatrix& matrix) const {
  const sim::BucketSlot& slot = bucket_.layout().slots[matrix.slot];
  return bucket_.gradients().narrow(0, slot.offset, slot.elements).view({matrix.shape.rows, matrix.shape.columns});
}

at::Tensor LowRankSum::p_of(const sim::LowRankMatrix& matrix) const {
  return packed_.narrow(0, low_.others + matrix.p, matrix.shape.rows * matrix.rank).view({matrix.shape.rows, matrix.rank});
}

at::Tensor LowRankSum::q_of(const sim::LowRankMatrix& matrix) const {
  return q_.narrow(0, matrix.q, matrix.shape.columns * matrix.rank).view({matrix.shape.columns, matrix.rank});
}

void LowRankSum::copy_others(Way way) const {
  std::int64_t begin = 0;
  auto matrix = low_.matrices.begin();
  for (std::size_t at = 0; at < bucket_.layout().slots.size(); ++at) {
    if (matrix != low_.matrices.end() && matrix->slot == at) {
      ++matrix;
      continue;
    }
    const sim::BucketSlot& slot = bucket_.layout().slots[at];
    const at::Tensor kept = bucket_.gradients().narrow(0, slot.offset, slot.elements), sent = packed_.narrow(0, begin, slot.elements);
    way == Way::Out ? sent.copy_(kept) : kept.copy_(sent);
    begin += slot.elements;
  }
}

void LowRankSum::encode() {
  packed_ = at::empty({low_.others + low_.p}, q_.options());
  copy_others(Way::Out);
  for (const sim::LowRankMatrix& matrix : low_.matrices) {
    error_of(matrix).add_(gradient_of(matrix));
    orthogonalize(q_of(matrix));
    at::Tensor p = p_of(matrix);
    at::mm_out(p, error_of(matrix), q_of(matrix));
  }
}

void LowRankSum::reencode() {
  for (const sim::LowRankMatrix& matrix : low_.matrices) {
    orthogonalize(p_of(matrix));
    at::Tensor q = q_of(matrix);
    at::mm_out(q, error_of(matrix).t(), p_of(matrix));
  }
}

void LowRankSum::decode() {
  copy_others(Way::Back);
  for (const sim::LowRankMatrix& matrix : low_.matrices) {
    at::Tensor gradient = gradient_of(matrix);
    at::mm_out(gradient, p_of(matrix), q_of(matrix).t());
    error_of(matrix).sub_(gradient, part_);
  }
  packed_.reset();
}

}  // namespace executor
