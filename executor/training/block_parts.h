// Where rows hold documents: which of a context rank's queries meet which keys of a block, one part for each document that both have tokens of.
//
//   a sample     a a a b | b b c c     C = 2, mirrored: rank 0 has pieces 0 and 3 (a a, c c), rank 1 pieces 1 and 2 (a b, b b)
//   rank 1       of its own block:  a | b causal   b b causal   b b over b        of rank 0's block:  a over a a
#pragma once

#include <vector>

#include "executor/model/block_attention.h"
#include "executor/model/documents.h"
#include "executor/model/token_stretches.h"

namespace executor {

struct ContextShape;

struct BlockPart {
  RowRange samples, queries, keys;  // of a microbatch; of the tokens of a sample that the rank has, and of those in the block
  BlockMask mask;
};

// Where a rank's tokens stand in their sample: int64.
at::Tensor positions_of(const ContextShape& shape, std::int64_t rank);

// A query that sees no key of the block is in no part.
std::vector<BlockPart> document_parts(const ContextShape& shape, std::int64_t source, const Documents& documents);

}  // namespace executor
