// From the joint projection to attention's operands: cuts q | k | v | gates into heads, turns q and k by their positions (rotary), repeats keys and
// values for grouped queries, unless attention's kernel knows of groups (16 bits on a GPU). One autograd function, whose backward writes one joint gradient.
//
//   joint [samples * sequence, (heads + 2 kv_heads) * head_dim]   ->   q, k, v [samples, heads, sequence, head_dim]
//   values may be of another width than keys, and multiplied by a factor; what is behind them weighs what attention puts out (head_gate.h)
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "executor/model/documents.h"

namespace executor {

struct HeadShape {
  std::int64_t heads = 1;  // of this tensor rank
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 1;
  std::int64_t sequence = 1;
  std::int64_t value_dim = 0;  // 0: head_dim
  std::int64_t gates = 0;      // columns behind the values
  double value_factor = 1;
  std::int64_t value_width() const { return value_dim > 0 ? value_dim : head_dim; }
  std::int64_t turned_columns() const { return (heads + kv_heads) * head_dim; }
  std::int64_t width() const { return turned_columns() + kv_heads * value_width() + gates; }
};

enum class Turn { Forth, Back };
// Turns the queries and keys of `joint` in place by the angles of a rotary_table(): of a head as many numbers, its first ones, as the table has angles for.
// Pairs are (i, i + half of those), as Hugging Face has them; a table without a tensor turns nothing. Row i stands at the table's row i mod shape.sequence; with
// documents, at that of its place in its own.
void apply_rotary(const at::Tensor& joint, const HeadShape& shape, const at::Tensor& table, Turn direction,
                  const Documents& documents = {});

struct HeadOperands {
  at::Tensor queries, keys, values;
};
struct SplitHeads {
  HeadOperands operands;
  at::Tensor gates;  // [tokens, shape.gates]; without columns no tensor
};
// `joint` is overwritten when there is a table, or a factor of values. rotary: without a tensor for learned positions.
SplitHeads split_joint(const at::Tensor& joint, const HeadShape& shape, const at::Tensor& rotary, const Documents& documents = {});
inline HeadOperands split_heads(const at::Tensor& joint, const HeadShape& shape, const at::Tensor& rotary,
                                const Documents& documents = {}) {
  return split_joint(joint, shape, rotary, documents).operands;
}

}  // namespace executor
