#include "sim/cost/row_memory.h"

#include <algorithm>

#include "sim/model/block_parts.h"

namespace sim {

// Rows are summed into one stream, in place: nobody keeps it. What a norm in front reads of it is copied, and so are rows of the source that a decoder
// reads beside its own; in backward the rows' gradient is. On one tensor rank what is added to the stream is gone when the segment ends, and what a norm
// makes of the sum. Other programs' streams are told without.
void add_rows(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan, const SegmentGraph& segment) {
  const bool is_normed = std::ranges::find(segment.operators, "norm", &Operator::name) != segment.operators.end();
  if (!plan.model.encoder && !is_normed && !habits_of(plan.cluster).keeps_masks)
    memory.keep({"rows that products read as they came", Bytes{} - memory.statistics - memory.stream});
  const bool reads_attentions = plan.model.parallel_blocks && is_normed && !segment.has(OperatorKind::Attention) && segment.leaves_tensor();
  if (reads_attentions && !habits_of(plan.cluster).keeps_masks)
    memory.keep({"stream that the norm of attention has kept", Bytes{} - memory.stream});
  if (!plan.model.encoder || habits_of(plan.cluster).keeps_masks) {
    const bool copies = segment.leaves_tensor() && changes_addends(plan.model) && !plan.sequence_parallel;
    if (copies) memory.backward_temporary += memory.stream;  // the gradient of what was added, beside that of the sum
    return;
  }
  memory.keep({"rows in place of the stream", (is_normed ? size.rows : Bytes{} - memory.statistics) - memory.stream});
  memory.backward_temporary += size.rows;
  if (plan.mesh.tensor == 1) memory.forward_temporary += size.rows * (has_norm_behind(plan.model) ? std::int64_t{2} : std::int64_t{1});
  if (!segment.reads_source()) return;
  const Bytes source = size.element * (size.key_tokens * plan.model.hidden);
  memory.keep({"rows of the source", source});
  memory.weight_inputs += source;
  if (is_normed) memory.forward_temporary += memory.stream;
}

}  // namespace sim
