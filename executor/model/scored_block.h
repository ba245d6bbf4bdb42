// Attention over a block of keys where scores are not plain ones: with windows, soft caps or slopes (ScoreForm). As attend_block(), by a loop over samples
// and heads; which key a query sees is told by where both stand in their sample, whoever holds them.
//
//   S = q k^T / sqrt(d)    S' = cap tanh(S / cap) + slope * position of the key, of keys in sight        l = log sum exp S',  o = e^(S' - l) v
//   backward of the merged l and o      P = e^(S' - l)     dS' = P (do v^T - rowsum(do o))     dS = dS' (1 - tanh(S / cap)^2) / sqrt(d)
//
// A query that sees no key of the block has o = 0 and l = -infinity. A sink is no key: it is one more block, which gives nothing and has l = sink, and enters
// once, whoever holds the keys; its gradient is - sum of e^(sink - l) rowsum(do o).
#pragma once

#include "executor/model/attention.h"
#include "executor/model/block_attention.h"

namespace executor {

// In the sample, int64, of each row of the operands.
struct BlockPositions {
  at::Tensor queries, keys;
};
// Operands and results as attend_block() and block_gradients() have them. form: of these heads; its sinks and documents are the caller's.
BlockScores attend_scored_block(const HeadOperands& operands, const ScoreForm& form, const BlockPositions& positions);
HeadOperands scored_block_gradients(const HeadOperands& operands, const MergedScores& merged, const ScoreForm& form,
                                    const BlockPositions& positions);

// The sinks of these heads as a block: [samples, tokens, heads] of l.
at::Tensor sink_scores(const ScoreForm& form, at::IntArrayRef sizes, at::TensorOptions options);
void add_sink_gradient(const ScoreForm& form, const MergedScores& merged);

}  // namespace executor
