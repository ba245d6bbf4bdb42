// How wide a head is to the attention kernel. LibTorch's fused kernel for CPUs takes keys and values of one width alone: where they differ (latent
// attention), the worker fills the narrower with zeros. Its own loop for dropout of the scores, and a GPU's kernels, take both as they are.
#pragma once

#include "sim/plan/parallel_plan.h"

namespace sim {

struct HeadWidths {
  std::int64_t key = 0, value = 0;
  std::int64_t mean() const { return (key + value) / 2; }
};
HeadWidths kernel_head_widths(const ParallelPlan& plan, const Heads& heads);

}  // namespace sim
