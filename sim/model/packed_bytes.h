// How a frozen matrix lies in memory in fewer bits than its products have: piece by piece (q | k | v, gate | up), each as a weight by itself.
// The plan's sizes and the worker's buffers read the same numbers here.
//
//   nf4    codes, 4 bits an element | scales of blocks of 64, 8 bits each | scales of 256 of those, fp32 | their mean, fp32
//          (QLoRA, Dettmers et al. 2023; as bitsandbytes lays it out)
//   int8   codes, 8 bits an element | a scale a row, fp32                   (LLM.int8(), Dettmers et al. 2022, without its columns of fp16)
//
// Blocks follow the rows of the whole piece, so that tensor ranks keep the same numbers as one process; of the scales of scales each has all.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/model/adapters.h"
#include "sim/model/model_graph.h"

namespace sim {

inline constexpr std::int64_t kScaledBlock = 64, kScaledScales = 256;

struct PackedPiece {  // the tensor rank's part of it, and the whole
  std::int64_t rows = 0, columns = 0;
  std::int64_t whole_rows = 0, whole_columns = 0;
  std::int64_t elements() const { return rows * columns; }
  std::int64_t whole_elements() const { return whole_rows * whole_columns; }
  std::int64_t blocks() const { return (elements() + kScaledBlock - 1) / kScaledBlock; }
  std::int64_t whole_blocks() const { return (whole_elements() + kScaledBlock - 1) / kScaledBlock; }
  std::int64_t scales_of_scales() const { return (whole_blocks() + kScaledScales - 1) / kScaledScales; }
};
std::vector<PackedPiece> packed_pieces(const Parameter& parameter, std::int64_t tensor_degree);

struct PackedLayout {  // where its parts begin, in bytes
  std::int64_t scales = 0, mean = 0, codes = 0, block_scales = 0, end = 0;
};
PackedLayout packed_layout(BaseFormat format, const PackedPiece& piece);  // Nf4 and Int8; another format's has no parts
// All pieces; of a format without a layout here as adapters.h says.
std::int64_t packed_bytes(BaseFormat format, const Parameter& parameter, std::int64_t tensor_degree);
// A tensor rank's part of a row ends within a block of Nf4.
bool cuts_scaled_blocks(const Parameter& parameter, std::int64_t tensor_degree);

}  // namespace sim
