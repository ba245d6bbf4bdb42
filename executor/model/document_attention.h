// Attention of documents that share rows: each sees itself alone. One autograd function, which keeps what the fused kernel does (operands, output, log of
// sums), and runs block_attention.h's kernel document by document: as much work as the documents have, and no mask. Scores of which that kernel does not
// know (windows, caps, sinks, slopes, dropout) are those of whole samples, other documents' hidden: attention.h.
#pragma once

#include "executor/model/attention.h"
#include "executor/model/documents.h"
#include "executor/model/heads.h"

namespace executor {

// q, k, v [samples, heads, sequence, head_dim] -> [samples * sequence, heads * head_dim]
at::Tensor attend_documents(const HeadOperands& operands, const Documents& documents, const ScoreForm& form, const Dropout& dropout = {});

}  // namespace executor
