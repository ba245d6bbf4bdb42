// Rows of tokens in the order of their experts. A token has one row for each expert that it chose; where experts take so many rows and no more,
// those that want an expert least are dropped (they go on through the residual stream alone).
// A CPU makes the order by counting. A device makes the same one itself, by stable sorts, and the host waits for nothing; how many rows each expert has is a number
// of that device then, for whoever exchanges them. Where every expert is padded to its capacity the host knows it beforehand. Only rows that are dropped
// without padding are ordered on the host everywhere: how many stay is a size of tensors.
//
//   choice = token * k + place among the token's experts        rows: expert 0's, expert 1's, ...; inside, choices in ascending order
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/model/router.h"

namespace executor {

struct TokenOrder {
  std::vector<std::int64_t> counts;  // rows of each expert; padded: its capacity. None where `ends` alone says it
  at::Tensor ends;                   // int32 [experts], on the device: behind the last row of each; without a tensor: see counts
  at::Tensor tokens;                 // [choices kept] whose row it is, in the order of rows
  at::Tensor choices;                // [choices kept]
  at::Tensor places;                 // [choices kept] their rows; without a tensor: 0, 1, 2, ...
  at::Tensor rows;                   // [tokens, k] the row of each choice; of a dropped one any
  at::Tensor kept;                   // [tokens, k] 1, dropped 0, in the type of the weights; without a tensor: all are kept
  bool has_spare_row = false;        // dropped choices stand among those kept, and have a place behind all rows, which nobody reads
  std::int64_t num_rows() const;
};
TokenOrder order_tokens(const Routing& routing, const sim::ExpertForm& form);
bool is_order_of_a_device(const sim::ExpertForm& form);                              // whether a device can make it
TokenOrder order_tokens_there(const Routing& routing, const sim::ExpertForm& form);  // the same, where the routing is

at::Tensor to_rows(const at::Tensor& stream, const TokenOrder& order);  // [tokens, hidden] -> [rows, hidden]; padding is 0
// Each token's rows, summed up in the order of its choices: times `weights` [tokens, k], or as they are.
at::Tensor from_rows(const at::Tensor& rows, const TokenOrder& order, const at::Tensor& weights = {});

// Backward of the weighted sum. `rows` are those that were summed up; they are overwritten.
struct SumGradient {
  at::Tensor rows, weights;  // [rows, hidden], [tokens, k]
};
SumGradient from_rows_backward(const at::Tensor& gradient, at::Tensor rows, const TokenOrder& order, const at::Tensor& weights);

}  // namespace executor
