// Rules on pipeline shapes that several schedules share.
#pragma once

#include "sim/schedule/schedule.h"

namespace sim {

// Degrees below one.
std::optional<std::string> why_not_a_shape(PipelineShape shape);
// The same, and more than one chunk a stage.
std::optional<std::string> why_not_one_chunk(PipelineShape shape);
// Slices, of schedules that know of whole samples alone.
std::optional<std::string> why_not_whole(PipelineShape shape);

// The i-th piece of a pass through a chunk: microbatches ascend, their slices forward, too. Backward they descend, since a slice's keys and values are
// read by those behind it (Li et al., "TeraPipe", ICML 2021).
//
//   forward   0@0 0@1 1@0 1@1        backward   0@1 0@0 1@1 1@0        n = 2
std::int32_t num_pieces(PipelineShape shape);
StageAction piece_of(PipelineShape shape, ActionKind kind, std::int32_t piece, ChunkIndex chunk = ChunkIndex(0));

}  // namespace sim
