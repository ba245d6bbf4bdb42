#include "executor/training/block_parts.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "executor/training/query_share.h"

namespace executor {
namespace {

// Tokens of a sample that follow each other: among a rank's rows of it, and where they stand.
struct Stretch {
  RowRange rows;
  std::int64_t position = 0;
  std::int64_t end() const { return position + rows.count; }
};

std::vector<Stretch> stretches_of(const ContextShape& shape, std::int64_t rank) {
  const std::int64_t tokens = shape.heads.sequence, half = tokens / 2;
  if (!shape.is_mirrored) return {{.rows = {.begin = 0, .count = tokens}, .position = rank * tokens}};
  return {{.rows = {.begin = 0, .count = half}, .position = rank * half},
          {.rows = {.begin = half, .count = half}, .position = (2 * shape.ranks - 1 - rank) * half}};
}

// Rows of a stretch that are in the document.
RowRange meet(const Stretch& stretch, const DocumentRows& document) {
  const std::int64_t begin = std::max(stretch.position, document.begin), end = std::min(stretch.end(), document.end());
  return {.begin = stretch.rows.begin + begin - stretch.position, .count = end - begin};
}

}  // namespace

at::Tensor positions_of(const ContextShape& shape, std::int64_t rank) {
  const at::Tensor positions = at::empty({shape.heads.sequence}, at::kLong);
  for (const Stretch& stretch : stretches_of(shape, rank))
    for (std::int64_t row = 0; row < stretch.rows.count; ++row)
      positions.data_ptr<std::int64_t>()[stretch.rows.begin + row] = stretch.position + row;
  return positions;
}

std::vector<BlockPart> document_parts(const ContextShape& shape, std::int64_t source, const Documents& documents) {
  const std::int64_t sequence = shape.heads.sequence * shape.ranks;
  const std::vector<Stretch> own = stretches_of(shape, shape.rank), others = stretches_of(shape, source);
  std::vector<BlockPart> parts;
  for (const DocumentRows& rows : documents.all()) {
    const DocumentRows document{.begin = rows.begin % sequence, .count = rows.count};
    for (const Stretch& queries : own)
      for (const Stretch& keys : others) {
        const BlockPart part{.samples = {.begin = rows.begin / sequence, .count = 1},
                             .queries = meet(queries, document),
                             .keys = meet(keys, document),
                             .mask = queries.position == keys.position ? BlockMask::Causal : BlockMask::None};
        if (keys.position <= queries.position && part.queries.count > 0 && part.keys.count > 0) parts.push_back(part);
      }
  }
  return parts;
}

}  // namespace executor
