// A context rank's queries, and the attention that they have paid so far: block after block of keys and values, whichever way these come (ring,
// all-gather). Knows which part of a block the causal mask leaves to which queries; moves nothing between ranks.
//
//   tokens of rank r: pieces r and 2C-1-r of a sample       a block of rank j, seen by rank r
//     j = r    all queries, all keys, causal                  j < r   all queries, its first piece        j > r   the second piece's queries, all keys
//   not mirrored (slices): j = r as above, j < r all queries and all keys
// Tokens that see those behind them, too: all queries, all keys. Scores that are not plain ones are those of the same parts (scored_block.h).
// Where rows hold documents, of these those of one document (block_parts.h). Turned positions go on from one to the next: scores read differences alone.
#pragma once

#include "executor/model/block_attention.h"
#include "executor/model/scored_block.h"
#include "executor/model/token_stretches.h"
#include "executor/training/block_parts.h"

namespace executor {

struct ContextShape {
  HeadShape heads;  // of this tensor rank, without gates; sequence: this rank's tokens of a sample
  std::int64_t value_dim = 1;
  std::int64_t gates = 0;  // columns behind the values, which stay with the tokens
  std::int64_t ranks = 1;  // C; slices of a sample on one rank likewise
  std::int64_t rank = 0;
  std::int64_t head_ranks =
      1;  // neighbours that have dealt their heads among them: then heads and tokens are those that came of it, and ranks are neighbourhoods
  bool is_mirrored = true;  // else pieces are dealt out in their order
  at::Tensor rotary;        // at this rank's positions; without a tensor where nothing is to be turned here
  ScoreForm scores = {};    // of these heads

  // By position, key by key: as whole blocks a kernel knows plain scores alone.
  bool are_scored() const { return !scores.sees_all_behind(heads.sequence * ranks) || scores.cap > 0 || scores.slopes.defined(); }

  std::int64_t query_columns() const { return heads.heads * heads.head_dim; }
  std::int64_t key_columns() const { return heads.kv_heads * heads.head_dim; }
  std::int64_t value_columns() const { return heads.kv_heads * value_dim; }
};

// A block as it travels: all keys, then all values. Seen as [samples, tokens, kv_heads, head_dim or value_dim] each.
struct KeyBlock {
  KeyBlock(const at::Tensor& flat, const ContextShape& shape);
  KeyBlock rows(RowRange range) const { return {keys.narrow(1, range.begin, range.count), values.narrow(1, range.begin, range.count)}; }
  KeyBlock(at::Tensor of_keys, at::Tensor of_values) : keys(std::move(of_keys)), values(std::move(of_values)) {}
  at::Tensor keys, values;
};

// Of the rows of a block that some query sees; of the others it is zero.
struct BlockGradient {
  RowRange rows;
  at::Tensor keys, values;
};
void put_gradient(const KeyBlock& block, const BlockGradient& gradient);
void add_gradient(const KeyBlock& block, const BlockGradient& gradient);

class QueryShare {
 public:
  explicit QueryShare(const ContextShape& shape, Documents documents = {})  // shape outlives this
      : shape_(&shape), documents_(std::move(documents)) {}

  // Cuts the joint projection [samples * tokens, width], which it turns in place. Returns the own block, flat.
  at::Tensor take(const at::Tensor& joint);
  void attend(const at::Tensor& block, std::int64_t source);  // the own block first
  at::Tensor output();                                        // [samples * tokens, heads * value_dim], once all blocks were attended

  void begin_backward(const at::Tensor& output_gradient);
  BlockGradient block_gradient(const at::Tensor& block, std::int64_t source);  // through these queries
  // The joint projection's, once all blocks had their turn. `own`: the own block's through all queries.
  at::Tensor joint_gradient(const at::Tensor& own);

 private:
  BlockPart part_of(std::int64_t source) const;  // as if all tokens were of one document
  std::vector<BlockPart> parts_of(std::int64_t source) const;
  HeadOperands operands(const at::Tensor& block, const BlockPart& part) const;
  HeadOperands cut(const at::Tensor& joint) const;
  HeadOperands part_gradients(const at::Tensor& block, const BlockPart& part, std::int64_t source) const;
  BlockGradient gradient_of_documents(const at::Tensor& block, std::int64_t source);
  static BlockScores rows(const BlockScores& scores, const BlockPart& part);
  BlockScores nothing_attended() const;
  bool begins_with_nothing() const { return !documents_.none() || shape_->scores.sinks.value.defined(); }
  BlockPositions positions(const BlockPart& part, std::int64_t source) const;
  BlockScores attend_part(const at::Tensor& block, const BlockPart& part, std::int64_t source) const;

  const ContextShape* shape_;
  Documents documents_;
  at::Tensor queries_;  // [samples, tokens, heads, head_dim]
  BlockScores scores_;  // 16-bit outputs are merged in fp32
  at::Tensor output_gradient_, query_gradient_;
};

}  // namespace executor
