#include "cli/estimate_json.h"

#include "sim/units/json_reader.h"

namespace cli {
namespace {

using sim::Json;

Json layout_json(const sim::RunDescription& run) {
  const sim::Layout& cut = run.layout;
  return {{"data", cut.data},
          {"tensor", cut.tensor},
          {"context", cut.context},
          {"pipeline", cut.pipeline},
          {"expert", cut.expert},
          {"schedule", cut.schedule},
          {"chunks", cut.chunks},
          {"microbatches", cut.microbatches},
          {"microbatch_size", cut.micro_batch},
          {"zero_stage", cut.zero_stage},
          {"sequence_parallel", cut.sequence_parallel},
          {"recompute", sim::kRecomputeKindNames[static_cast<std::size_t>(run.execution.recompute)]}};
}

Json estimated_json(const planner::EstimatedLayout& layout) {
  const sim::StepEstimate& step = layout.step;
  return {{"layout", layout_json(layout.run)},
          {"step_time_seconds", step.time.count()},
          {"step_time_low_seconds", step.low.count()},
          {"step_time_high_seconds", step.high.count()},
          {"mfu_ratio", layout.mfu},
          {"memory_gib", layout.memory.total_gib},
          {"parts_seconds",
           {{"pipeline", step.parts.pipeline},
            {"gradients", step.parts.gradients},
            {"optimizer", step.parts.optimizer},
            {"weights", step.parts.gather},
            {"overhead", step.parts.overhead}}}};
}

}  // namespace

std::string estimate_document(const planner::LayoutResult& result) {
  Json document = {{"format", "meshwright.estimate/1"},
                   {"candidates", result.candidates},
                   {"over_memory", result.over_memory},
                   {"ranked", Json::array()}};
  for (const planner::EstimatedLayout& layout : result.ranked) document["ranked"].push_back(estimated_json(layout));
  return document.dump(2) + "\n";
}

}  // namespace cli
