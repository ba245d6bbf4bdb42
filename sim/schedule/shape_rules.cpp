#include "sim/schedule/shape_rules.h"

#include <fmt/format.h>

namespace sim {

std::optional<std::string> why_not_a_shape(PipelineShape shape) {
  if (shape.stages >= 1 && shape.microbatches >= 1 && shape.chunks >= 1) return std::nullopt;
  return fmt::format("stages, microbatches and chunks must be at least 1, not {}, {} and {}", shape.stages, shape.microbatches,
                     shape.chunks);
}

std::optional<std::string> why_not_one_chunk(PipelineShape shape) {
  if (auto why = why_not_a_shape(shape)) return why;
  if (shape.chunks == 1) return std::nullopt;
  return fmt::format("places one chunk on a stage, not {}; use chunks=1 or schedule=interleaved", shape.chunks);
}

std::optional<std::string> why_not_whole(PipelineShape shape) {
  if (shape.slices <= 1) return std::nullopt;
  return fmt::format("passes whole samples, not {} slices of them; use schedule=1f1b, gpipe or looped-bfs, or slices=1", shape.slices);
}

std::int32_t num_pieces(PipelineShape shape) { return shape.microbatches * shape.slices; }

StageAction piece_of(PipelineShape shape, ActionKind kind, std::int32_t piece, ChunkIndex chunk) {
  if (shape.slices == 1) return {kind, MicrobatchIndex(piece), chunk};
  const std::int32_t along = piece % shape.slices;
  const std::int32_t slice = kind == ActionKind::Forward ? along : shape.slices - 1 - along;
  return {kind, MicrobatchIndex(piece / shape.slices), chunk, SliceIndex(slice)};
}

}  // namespace sim
