// Rules on pipeline shapes that several schedules share.
#pragma once

#include "sim/schedule/schedule.h"

namespace sim {

// Degrees below one.
std::optional<std::string> why_not_a_shape(PipelineShape shape);
// The same, and more than one chunk a stage.
std::optional<std::string> why_not_one_chunk(PipelineShape shape);

}  // namespace sim
