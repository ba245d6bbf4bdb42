#include "sim/cost/head_widths.h"

#include <algorithm>

namespace sim {

HeadWidths kernel_head_widths(const ParallelPlan& plan, const Heads& heads) {
  const std::int64_t widest = std::max(heads.key_width, heads.value_width);
  if (plan.cluster.hardware.kind == DeviceKind::Cpu && plan.model.attention_dropout == 0) return {widest, widest};
  return {heads.key_width, heads.value_width};
}

}  // namespace sim
