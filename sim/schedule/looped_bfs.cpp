#include "sim/schedule/looped_bfs.h"

#include <fmt/format.h>

#include "sim/schedule/shape_rules.h"
#include "sim/units/at.h"

namespace sim {
namespace {

std::optional<std::string> why_not_looped(PipelineShape shape) {
  if (auto why = why_not_a_shape(shape)) return why;
  if (shape.stages < 2) return fmt::format("needs at least 2 stages, not {}; use schedule=1f1b", shape.stages);
  if (shape.chunks < 2) return fmt::format("needs at least 2 chunks a stage, not {}; use schedule=gpipe", shape.chunks);
  return std::nullopt;
}

std::vector<StageAction> looped_bfs_order(PipelineShape shape, StageIndex) {
  std::vector<StageAction> actions;
  actions.reserve(count_of(2 * shape.chunks * num_pieces(shape)));
  for (const ActionKind kind : {ActionKind::Forward, ActionKind::Backward})
    for (std::int32_t at = 0; at < shape.chunks; ++at)
      for (std::int32_t piece = 0; piece < num_pieces(shape); ++piece)
        actions.push_back(piece_of(shape, kind, piece, ChunkIndex(kind == ActionKind::Forward ? at : shape.chunks - 1 - at)));
  return actions;
}

}  // namespace

const Schedule kLoopedBfsSchedule{
    .name = "looped-bfs",
    .summary = "all microbatches through a chunk, then through the next; gathers a chunk's weights once a pass, holds every microbatch",
    .paper = "Lamy-Poirier, Breadth-First Pipeline Parallelism, MLSys 2023",
    .why_unsupported = why_not_looped,
    .order = looped_bfs_order,
};

}  // namespace sim
