#include "sim/cost/rounded_memory.h"

#include <algorithm>

namespace sim {
namespace {

// The worker's CPU ranks have no units of 8 bit: they round operands, and multiply in fp32, or in fp64 beside that.
bool emulates(const ParallelPlan& plan) {
  return plan.workload.precision.scales() && plan.cluster.hardware.kind == DeviceKind::Cpu && !plan.cluster.software.own_memory;
}

// One product on one rank, n tokens long.
struct RoundedProduct {
  RoundedProduct(const Operator& op, const SegmentSizes& size, const ParallelPlan& plan)
      : inputs(op.inputs / (op.split == TensorSplit::Columns ? plan.mesh.tensor : 1)),
        outputs(op.outputs / (op.split == TensorSplit::Rows ? plan.mesh.tensor : 1)),
        tokens(op.experts > 0 ? size.tokens * op.copies / op.experts : size.tokens),
        element(size.element),
        wide(size.statistic),
        adds_gradient(plan.bytes(Numbers::Gradients) < wide ? wide : Bytes{}),
        is_frozen(op.frozen) {}
  Bytes made(std::int64_t numbers) const {
    return element < wide ? wide * numbers : Bytes{};
  }  // in the wide type, where that is another one
  Bytes forward() const { return wide * (inputs * (tokens + outputs)) + made(tokens * outputs); }
  // The gradient of the input, then that of the weight beside it.
  Bytes backward() const {
    const Bytes first = wide * (outputs * (tokens + inputs)) + made(tokens * inputs),
                second = wide * (tokens * (inputs + outputs)) + adds_gradient * (inputs * outputs);
    return element * (tokens * inputs) + (is_frozen ? first : std::max(first, second));
  }

  std::int64_t inputs, outputs, tokens;
  Bytes element, wide, adds_gradient;
  bool is_frozen;
};

// Of what the segment keeps, what is gone when the backward has come to its first products: what stands behind them, and nothing reads again.
Bytes gone_before_first(const SegmentSizes& size, const SegmentGraph& segment, const ModelConfig& config) {
  if (!segment.has(OperatorKind::Attention)) return size.elements((config.gated_mlp ? 3 : 2) * size.ffn);
  return size.elements(size.output) + size.operands();
}

}  // namespace

void add_rounded(SegmentMemory& memory, const SegmentSizes& size, const SegmentGraph& segment, const ParallelPlan& plan) {
  if (!emulates(plan)) return;
  const auto is_rounded = [](const Operator& op) {
    return op.kind == OperatorKind::Linear && !op.unscaled && op.adapter == AdapterPart::None;
  };
  const auto last = std::find_if(segment.operators.rbegin(), segment.operators.rend(), is_rounded);
  if (last == segment.operators.rend()) return;
  const Bytes gone = gone_before_first(size, segment, plan.model), to_come = size.elements(RoundedProduct(*last, size, plan).inputs);
  for (const Operator& op : segment.operators) {
    if (!is_rounded(op)) continue;
    const RoundedProduct product(op, size, plan);
    const bool is_last = &op == &*last;
    const Bytes gradient = is_last ? Bytes{} : size.elements(product.outputs) - gone;  // beside what the segment found
    memory.forward_temporary = std::max(memory.forward_temporary, product.forward() - (is_last ? Bytes{} : to_come));
    memory.backward_temporary = std::max(memory.backward_temporary, product.backward() + gradient);
  }
}

}  // namespace sim
