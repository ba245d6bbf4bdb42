#include "sim/model/packed_bytes.h"

#include <algorithm>
#include <cmath>

namespace sim {
namespace {

constexpr std::int64_t kFp32 = 4;

std::int64_t whole_words(std::int64_t bytes) { return (bytes + kFp32 - 1) / kFp32 * kFp32; }

}  // namespace

std::vector<PackedPiece> packed_pieces(const Parameter& parameter, std::int64_t tensor_degree) {
  const std::int64_t by_rows = parameter.split == TensorSplit::Rows ? tensor_degree : 1,
                     by_columns = parameter.split == TensorSplit::Columns ? tensor_degree : 1;
  std::vector<std::int64_t> blocks = parameter.row_blocks;
  if (blocks.empty()) blocks.push_back(parameter.rows);
  std::vector<PackedPiece> pieces;
  for (const std::int64_t rows : blocks)
    pieces.push_back(
        {.rows = rows / by_rows, .columns = parameter.columns / by_columns, .whole_rows = rows, .whole_columns = parameter.columns});
  return pieces;
}

PackedLayout packed_layout(BaseFormat format, const PackedPiece& piece) {
  PackedLayout layout;
  if (format == BaseFormat::Int8) {
    layout.codes = kFp32 * piece.rows;
    layout.end = whole_words(layout.codes + piece.elements());
  }
  if (format == BaseFormat::Nf4) {
    layout.mean = kFp32 * piece.scales_of_scales();
    layout.codes = layout.mean + kFp32;
    layout.block_scales = layout.codes + (piece.elements() + 1) / 2;
    layout.end = whole_words(layout.block_scales + piece.blocks());
  }
  return layout;
}

std::int64_t packed_bytes(BaseFormat format, const Parameter& parameter, std::int64_t tensor_degree) {
  std::int64_t all = 0;
  for (const PackedPiece& piece : packed_pieces(parameter, tensor_degree)) {
    const std::int64_t laid_out = packed_layout(format, piece).end;
    all += laid_out > 0 ? laid_out : std::llround(base_bytes(format, 0) * static_cast<double>(piece.elements()));
  }
  return all;
}

bool cuts_scaled_blocks(const Parameter& parameter, std::int64_t tensor_degree) {
  if (tensor_degree == 1 || parameter.split == TensorSplit::None) return false;
  return std::ranges::any_of(packed_pieces(parameter, tensor_degree), [&](const PackedPiece& piece) {
    const std::int64_t stretch = parameter.split == TensorSplit::Rows ? piece.elements() : piece.columns;
    return stretch % kScaledBlock != 0;
  });
}

}  // namespace sim
