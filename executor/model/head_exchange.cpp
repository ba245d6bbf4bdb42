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

// Front and back of the joined rows, each beside its place in the chunks: [samples, C, tokens / 2, width].
void copy_mirrored(const at::Tensor& rows, const at::Tensor& chunks, const Dealing& dealing, Way way) {
  const at::Tensor joined = rows.view({-1, 2, dealing.ranks, dealing.tokens / 2, rows.size(1)});
  const at::Tensor dealt = chunks.view({dealing.ranks, -1, 2, dealing.tokens / 2, rows.size(1)});
  for (const std::int64_t half : {0, 1})
    for (std::int64_t rank = 0; rank < dealing.ranks; ++rank) {
      const at::Tensor mine = joined.select(1, half).select(1, half == 0 ? rank : dealing.ranks - 1 - rank);
      const at::Tensor theirs = dealt.select(0, rank).select(1, half);
      way == Way::There ? theirs.copy_(mine) : mine.copy_(theirs);
    }
}

at::Tensor mirrored_by_tokens(const at::Tensor& rows, const Dealing& dealing) {
  at::Tensor chunks =
      at::empty({dealing.ranks, rows.size(0) / (dealing.ranks * dealing.tokens), dealing.tokens, rows.size(1)}, rows.options());
  copy_mirrored(rows, chunks, dealing, Way::There);
  return chunks;
}

at::Tensor mirrored_joined_tokens(const at::Tensor& chunks, const Dealing& dealing) {
  at::Tensor rows = at::empty({chunks.size(1) * dealing.ranks * dealing.tokens, chunks.size(3)}, chunks.options());
  copy_mirrored(rows, chunks, dealing, Way::Back);
  return rows;
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
  if (dealing.is_mirrored) return mirrored_by_tokens(rows, dealing);
  return rows.view({-1, dealing.ranks, dealing.tokens, rows.size(1)}).transpose(0, 1).contiguous();
}

at::Tensor joined_tokens(const at::Tensor& chunks, const Dealing& dealing) {
  if (dealing.is_mirrored) return mirrored_joined_tokens(chunks, dealing);
  return chunks.transpose(0, 1).reshape({chunks.size(1) * dealing.ranks * dealing.tokens, chunks.size(3)});
}

}  // namespace executor
