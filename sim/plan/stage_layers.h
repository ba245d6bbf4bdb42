// The layers of each part of a plan's cut, for who asks of many: what ParallelPlan::layers() looks up for each is looked up once.
#pragma once

#include "sim/plan/parallel_plan.h"

namespace sim {

class StageLayers {
 public:
  explicit StageLayers(const ParallelPlan& plan)  // must outlive it
      : plan_(plan), placement_(plan.placement()), shape_(plan.pipeline_shape()) {}
  LayerRange of(StageIndex stage, ChunkIndex chunk) const {
    const std::vector<LayerIndex>& first = plan_.cut.first;
    const auto at = static_cast<std::size_t>(virtual_stage(placement_, shape_, {stage, chunk}));
    const LayerIndex end = at + 1 < first.size() ? first[at + 1] : LayerIndex(plan_.head().value() + 1);
    return {.begin = first[at], .end = end};
  }

 private:
  const ParallelPlan& plan_;
  ChunkPlacement placement_;
  PipelineShape shape_;
};

}  // namespace sim
