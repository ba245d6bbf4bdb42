// Kernels of one step of a profiled run, rank by rank: the median of its ProfilerStep slices after the first, else all of the trace. Of a run
// without a GPU the operators that compute stand for kernels.
#pragma once

#include "gui/core/trace_join.h"
#include "gui/import/imported_trace.h"

namespace gui {

std::vector<TracedRank> kernelsOfStep(const ImportedTrace& trace, const sim::Told& told = {});  // a rank a file

}  // namespace gui
