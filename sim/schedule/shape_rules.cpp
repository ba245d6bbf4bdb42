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

}  // namespace sim
