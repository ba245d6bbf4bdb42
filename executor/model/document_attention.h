// Attention of documents that share rows: each sees itself alone. One autograd function, which keeps what the fused kernel does (operands, output, log of
// sums), and runs block_attention.h's kernel document by document: as much work as the documents have, and no mask.
#pragma once

#include "executor/model/documents.h"
#include "executor/model/heads.h"

namespace executor {

enum class Sight : std::uint8_t { Past, All };  // of a query: keys up to its own, or all of its document

// q, k, v [samples, heads, sequence, head_dim] -> [samples * sequence, heads * head_dim]
at::Tensor attend_documents(const HeadOperands& operands, const Documents& documents, Sight sight);

}  // namespace executor
