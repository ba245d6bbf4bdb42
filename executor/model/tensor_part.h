// The part of a parameter that one rank holds, and where its elements stand in the whole parameter: one of T tensor ranks; of experts one of the
// G ranks that share each, which are the tensor ranks or fewer, and one of the E among which they are dealt out, whose experts are neighbours.
// Rows are cut block by block (q | k | v), so that a part holds whole heads. Used for initial values, checkpoints and the parity tests.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "sim/model/model_graph.h"

namespace executor {

struct TensorPosition {
  std::int64_t degree = 1;                          // T
  std::int64_t rank = 0;                            // 0 .. T-1
  std::int64_t expert_degree = 1, expert_rank = 0;  // E, 0 .. E-1
  std::int64_t expert_cut = 0, expert_part = 0;     // G, 0 .. G-1; G = 0: the tensor ranks
  std::int64_t context = 1;                         // ranks that share the tokens of a microbatch

  struct Cut {
    std::int64_t degree = 1, part = 0;
  };
  Cut cut_of(const sim::Parameter& parameter) const;
  bool cuts_experts_apart() const { return expert_cut != 0 && expert_cut != degree; }
};

class TensorPart {
 public:
  TensorPart(const sim::Parameter& parameter, TensorPosition position);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t elements() const { return rows_ * columns_; }
  std::int64_t global_row(std::int64_t local_row) const;
  std::int64_t global_element(std::int64_t local_element) const;  // row-major index in the whole parameter

 private:
  std::int64_t global_row_of_experts(std::int64_t local_row) const;

  const sim::Parameter* parameter_;
  TensorPosition position_;
  TensorPosition::Cut cut_;
  std::int64_t rows_, columns_;
};

struct FirstElement {
  std::int64_t value = 0;
};
// values = elements from `from` on of a tensor rank's part of `whole` (flat, the same type); rows that `whole` has not are zero.
void take_part(const at::Tensor& values, const at::Tensor& whole, const TensorPart& place, FirstElement from);

}  // namespace executor
