#include "sim/cost/head_widths.h"

#include <algorithm>

namespace sim {

HeadWidths kernel_head_widths(const ParallelPlan& plan) {
  const ModelConfig& model = plan.model;
  const AttentionForm& form = model.attention;
  if (form.kind != AttentionKind::Latent) return {model.head_dim, model.head_dim};
  const std::int64_t key = form.key_width(), widest = std::max(key, form.v_dim);
  if (plan.cluster.hardware.kind == DeviceKind::Cpu && model.attention_dropout == 0) return {widest, widest};
  return {key, form.v_dim};
}

}  // namespace sim
