// How rows travel between ranks that share the experts of a layer: rank r holds experts [r n / E, (r + 1) n / E). Rows leave in the order of
// experts, so that those of one rank are one stretch, and arrive by the rank that they come from; there they are brought into the order of
// experts again, and of each in the order of the ranks that they came from. The way back is the same way. Where G ranks share each expert, all of them get what
// came to any of them, one behind the other.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/model/grouped_linear.h"
#include "executor/model/tensor_part.h"

namespace executor {

struct TokenExchange {
  RowCounts to, from;  // rows for each rank, rows of each
  RowCounts shared;    // rows that came to each of the G
  RowCounts held;      // rows of each expert here
  RowCounts by_batch;  // of each expert here, microbatch by microbatch: one of each data rank, or a part of one
  at::Tensor sorted;   // [rows here] by expert: which arrived row; without a tensor: as they arrived
  at::Tensor arrived;  // the other way round
  at::Tensor ends;     // int32 [experts here], on the device: behind the last row of each, where one product takes all
  std::int64_t rows_here() const;
};
// counts [ranks, experts] or [G, ranks, experts] int64 on the host: whose tokens have how many rows for which expert.
TokenExchange make_exchange(const at::Tensor& counts, const TensorPosition& position, c10::Device device);

}  // namespace executor
