#include "executor/model/head_exchange.h"

#include <ATen/ops/empty.h>

namespace executor {
namespace {

enum class Way { There, Back };

// Queries, keys and values of the rows, each beside its place in the chunks: [samples, tokens, C, columns / C].
void copy_heads(const at::Tensor& rows, const at::Tensor& chunks, const Dealing& dealing, Way way) {
  std::int64_t first = 0;
  for (const std::int64_t columns : dealing.columns) {
    const at::Tensor mine = rows.narrow(1, first, columns).view({-1, dealing.tokens, dealing.ranks, columns / dealing.ranks});
    const at::Tensor theirs = chunks.narrow(3, first / dealing.ranks, columns / dealing.ranks).permute({1, 2, 0, 3});
    way == Way::There ? theirs.copy_(mine) : mine.copy_(theirs);
    first += columns;
  }
}

}  // namespace

at::Tensor by_heads(const at::Tensor& rows, const Dealing& dealing) {
  const std::int64_t samples = rows.size(0) / dealing.tokens;
  at::Tensor chunks = at::empty({dealing.ranks, samples, dealing.tokens, rows.size(1) / dealing.ranks}, rows.options());
  copy_heads(rows, chunks, dealing, Way::There);
  return chunks;
}

at::Tensor joined_heads(const at::Tensor& chunks, const Dealing& dealing) {
  at::Tensor rows = at::empty({chunks.size(1) * chunks.size(2), chunks.size(3) * dealing.ranks}, chunks.options());
  copy_heads(rows, chunks, dealing, Way::Back);
  return rows;
}

at::Tensor by_tokens(const at::Tensor& rows, const Dealing& dealing) {
  return rows.view({-1, dealing.ranks, dealing.tokens, rows.size(1)}).transpose(0, 1).contiguous();
}

at::Tensor joined_tokens(const at::Tensor& chunks, const Dealing& dealing) {
  return chunks.transpose(0, 1).reshape({chunks.size(1) * dealing.ranks * dealing.tokens, chunks.size(3)});
}

}  // namespace executor
