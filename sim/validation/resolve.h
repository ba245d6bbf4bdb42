// Rules for what a row leaves open. Each is what the software does by default or what a user would choose; none knows a measurement.
// Used by describe_row_json.
#pragma once

#include "sim/estimate/run_description.h"
#include "sim/estimate/step_estimate.h"
#include "sim/units/input_error.h"
#include "sim/validation/published_row.h"

namespace sim {

// The largest power of two that keeps a pipeline's bubble small and the activations within memory; for rows that state none.
std::int64_t resolve_micro_batch(const RunDescription& run);

// Chunks a rank of an interleaved pipeline: the most that leave two layers a chunk.
std::int64_t resolve_chunks(const RunDescription& run);

// The least recomputation that fits into memory; all of it where nothing does. For rows that state none.
RecomputeKind least_recompute(RunDescription run, const Setting& setting);
void settle_recompute(DescribedRow& described, const Setting& setting);
// Such a run is out of memory only where nothing fits; it shows no more than there is.
void settle_memory(const DescribedRow& described, const Setting& setting, StepEstimate& estimate);

// Faults between fields: degrees against GPUs, batch against micro-batches, heads against the tensor degree.
std::vector<Violation> contradictions(const RunDescription& run);

}  // namespace sim
