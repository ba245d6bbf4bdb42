#include "executor/model/tensor_part.h"

#include <ATen/Dispatch.h>
#include <ATen/ops/empty.h>

namespace executor {

TensorPosition::Cut TensorPosition::cut_of(const sim::Parameter& parameter) const {
  return parameter.expert && cuts_experts_apart() ? Cut{.degree = expert_cut, .part = expert_part} : Cut{.degree = degree, .part = rank};
}

TensorPart::TensorPart(const sim::Parameter& parameter, TensorPosition position)
    : parameter_(&parameter), position_(position), cut_(position.cut_of(parameter)), rows_(parameter.rows), columns_(parameter.columns) {
  if (parameter.split == sim::TensorSplit::Rows) rows_ /= cut_.degree;
  if (parameter.split == sim::TensorSplit::Columns) columns_ /= cut_.degree;
  if (parameter.expert) rows_ /= position.expert_degree;
}

// Their blocks are equal, and many.
std::int64_t TensorPart::global_row_of_experts(std::int64_t local_row) const {
  const std::int64_t first = parameter_->rows / position_.expert_degree * position_.expert_rank;
  if (parameter_->split != sim::TensorSplit::Rows) return first + local_row;
  const std::int64_t block = parameter_->row_blocks.front(), mine = block / cut_.degree;
  return first + local_row / mine * block + cut_.part * mine + local_row % mine;
}

std::int64_t TensorPart::global_row(std::int64_t local_row) const {
  if (parameter_->expert) return global_row_of_experts(local_row);
  if (parameter_->split != sim::TensorSplit::Rows) return local_row;
  std::int64_t block_start = 0;
  for (const std::int64_t block : parameter_->row_blocks) {
    const std::int64_t mine = block / cut_.degree;
    if (local_row < mine) return block_start + cut_.part * mine + local_row;
    local_row -= mine;
    block_start += block;
  }
  return block_start + cut_.part * rows_ + local_row;  // no blocks: the parameter is one
}

std::int64_t TensorPart::global_element(std::int64_t local_element) const {
  const std::int64_t row = local_element / columns_, column = local_element % columns_;
  const std::int64_t first_column = parameter_->split == sim::TensorSplit::Columns ? cut_.part * columns_ : 0;
  return global_row(row) * parameter_->columns + first_column + column;
}

void take_part(const at::Tensor& values, const at::Tensor& whole, const TensorPart& place, FirstElement from) {
  const at::Tensor host = values.is_cpu() ? values : at::empty(values.sizes(), values.options().device(at::kCPU));
  AT_DISPATCH_FLOATING_TYPES_AND3(at::kBFloat16, at::kHalf, at::kByte, values.scalar_type(), "take_part", [&] {
    const scalar_t* source = whole.const_data_ptr<scalar_t>();
    scalar_t* const result = host.data_ptr<scalar_t>();
    for (std::int64_t at = 0; at < host.numel(); ++at) {
      const std::int64_t element = place.global_element(from.value + at);
      result[at] = element < whole.numel() ? source[element] : scalar_t(0);
    }
  });
  if (!values.is_cpu()) values.copy_(host);
}

}  // namespace executor
