#include "sim/cost/adapter_memory.h"

#include <algorithm>
#include <iterator>

#include "sim/plan/scaled_products.h"

namespace sim {
namespace {

// How many copies of its input are dropped: the operator behind it, A, reads one.
std::int64_t adapter_pairs_of(const Operator& dropout) { return dropout.outputs / std::next(&dropout)->inputs; }

// Of a frozen product's weight on a rank, which adapters stand beside; 0: it is none.
std::int64_t frozen_numbers(const Operator& op, const DeviceMesh& mesh) {
  const bool is_frozen = op.kind == OperatorKind::Linear && op.adapter == AdapterPart::None;
  return is_frozen ? op.inputs * op.outputs / (op.split == TensorSplit::None ? 1 : mesh.tensor) : 0;
}

// Numbers of one of a segment's frozen products, which are made of a packed weight for each use. In the backward they stand beside the gradient of what the
// product reads; when those in front of the last one are made, what that one read is gone. The worker's: other programs' measured rows are told without.
void add_unpacked(SegmentMemory& memory, const SegmentSizes& size, const SegmentGraph& segment, const ParallelPlan& plan) {
  if (plan.model.adapters->base == BaseFormat::Weights || habits_of(plan.cluster).keeps_masks || reads_frozen_as_kept(plan)) return;
  const Bytes gone = size.elements(segment.has(OperatorKind::Attention) ? size.output : size.keeps_last ? size.ffn : 0);
  Bytes before_last{};
  for (const Operator& op : segment.operators) {
    const Bytes numbers = size.element * frozen_numbers(op, plan.mesh);
    if (numbers == Bytes{}) continue;
    const std::int64_t inputs = op.split == TensorSplit::Columns ? op.inputs / plan.mesh.tensor : op.inputs;
    memory.forward_temporary = std::max(memory.forward_temporary, numbers);
    memory.backward_temporary = std::max(memory.backward_temporary, before_last);
    before_last = numbers + size.elements(inputs) - gone;
  }
  memory.backward_temporary = std::max(memory.backward_temporary, before_last + gone);
}

// Operators that unpack leave what they made for the product's backward, and write whole numbers four bytes wide, and their cast, on the way.
void keep_unpacked(SegmentMemory& memory, const SegmentSizes& size, const SegmentGraph& segment, const ParallelPlan& plan) {
  constexpr std::int64_t kWholeNumbers = 4 + 1;
  for (const Operator& op : segment.operators) {
    const std::int64_t numbers = frozen_numbers(op, plan.mesh);
    if (numbers == 0) continue;
    memory.keep({"unpacked weights", size.element * numbers, op.modules});
    memory.forward_temporary = std::max(memory.forward_temporary, Bytes(kWholeNumbers * numbers));
  }
}

// A copy of what one pair reads. Where masks are kept, so are all copies, but for one in the place of the input itself, if no kernel keeps that.
void add_dropped(SegmentMemory& memory, const SegmentSizes& size, const SegmentGraph& segment, const ParallelPlan& plan) {
  for (const Operator& op : segment.operators) {
    if (op.adapter != AdapterPart::Dropout) continue;
    const std::int64_t read = op.outputs / (op.split == TensorSplit::None ? 1 : plan.mesh.tensor), pairs = adapter_pairs_of(op);
    if (!habits_of(plan.cluster).keeps_masks) {
      memory.forward_temporary = std::max(memory.forward_temporary, size.elements(read / pairs));
      memory.backward_temporary = std::max(memory.backward_temporary, size.elements(read / pairs) * 2);
      continue;
    }
    const bool is_kept_anyway = segment.has(OperatorKind::Attention) && op.split != TensorSplit::None;
    const std::int64_t copies = is_kept_anyway ? pairs : pairs - 1;
    memory.keep({"what adapters' dropouts leave", size.elements(read / pairs * copies) + Bytes(size.tokens * read), op.modules});
  }
}

}  // namespace

bool unpacks_by_operator(const ParallelPlan& plan) {
  return plan.model.adapters && plan.model.adapters->base == BaseFormat::Int4 && plan.cluster.software.unpacks_by_operator;
}

void add_adapters(SegmentMemory& memory, const SegmentSizes& size, const SegmentGraph& segment, const ParallelPlan& plan) {
  if (!plan.model.adapters) return;
  if (unpacks_by_operator(plan))
    keep_unpacked(memory, size, segment, plan);
  else
    add_unpacked(memory, size, segment, plan);
  for (const Operator& op : segment.operators)
    if (op.adapter == AdapterPart::Down) memory.keep({"what adapters hand on", size.elements(op.outputs), op.modules});
  add_dropped(memory, size, segment, plan);
}

}  // namespace sim
