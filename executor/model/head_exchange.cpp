#include "executor/model/head_exchange.h"

#include <ATen/ops/empty.h>

namespace executor {
namespace {

enum class Way { There, Back };

// Queries, keys and values of the rows, each beside its place in the chunks: [samples, tokens, C, heads / C, head_dim].
void copy_heads(const at::Tensor& rows, const at::Tensor& chunks, const Dealing& dealing, Way way) {
  const HeadShape& shape = dealing.heads;
  const std::int64_t ranks = dealing.ranks, samples = rows.size(0) / shape.sequence;
  const at::Tensor whole = rows.view({samples, shape.sequence, shape.heads + 2 * shape.kv_heads, shape.head_dim});
  const at::Tensor dealt = chunks.view({ranks, samples, shape.sequence, -1, shape.head_dim});
  std::int64_t first = 0;
  for (const std::int64_t count : {shape.heads, shape.kv_heads, shape.kv_heads}) {
    if (count == 0) continue;
    const at::Tensor mine = whole.narrow(2, first, count).unflatten(2, {ranks, count / ranks});
    const at::Tensor theirs = dealt.narrow(3, first / ranks, count / ranks).permute({1, 2, 0, 3, 4});
    way == Way::There ? theirs.copy_(mine) : mine.copy_(theirs);
    first += count;
  }
}

}  // namespace

at::Tensor by_heads(const at::Tensor& rows, const Dealing& dealing) {
  const std::int64_t samples = rows.size(0) / dealing.heads.sequence;
  at::Tensor chunks = at::empty({dealing.ranks, samples, dealing.heads.sequence, rows.size(1) / dealing.ranks}, rows.options());
  copy_heads(rows, chunks, dealing, Way::There);
  return chunks;
}

at::Tensor joined_heads(const at::Tensor& chunks, const Dealing& dealing) {
  at::Tensor rows = at::empty({chunks.size(1) * chunks.size(2), chunks.size(3) * dealing.ranks}, chunks.options());
  copy_heads(rows, chunks, dealing, Way::Back);
  return rows;
}

at::Tensor by_tokens(const at::Tensor& rows, const Dealing& dealing) {
  return rows.view({-1, dealing.ranks, dealing.heads.sequence, rows.size(1)}).transpose(0, 1).contiguous();
}

at::Tensor joined_tokens(const at::Tensor& chunks, const Dealing& dealing) {
  return chunks.transpose(0, 1).reshape({chunks.size(1) * dealing.ranks * dealing.heads.sequence, chunks.size(3)});
}

}  // namespace executor
