#include "sim/recipe/megatron_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/plan/pipeline_layout.h"
#include "sim/units/at.h"

namespace sim {

std::string layout_text(const ParallelPlan& plan) {
  std::vector<std::string> parts;
  for (const std::int64_t blocks : blocks_of(plan)) parts.push_back(blocks == 0 ? "" : fmt::format("t*{}", blocks));
  parts[count_of(plan.virtual_stage(plan.predicting()))] += std::string(count_of(plan.model.mtp_layers), 'm');
  return fmt::format("E{}L", fmt::join(parts, "|"));
}

void read_layout(const Value& value, Draft& draft) {
  const PipelineLayout layout = parse_pipeline_layout(value.text());
  draft.blocks = layout.blocks;
  if (layout.unknown) return value.wrong(fmt::format("has a '{}'; a plan knows E, t, m and L", *layout.unknown), "leave other layers out");
  draft.placed_predictions = layout.further;
  if (layout.is_further_apart()) draft.part_of_predictions = layout.last_further;
  if (layout.is_further_split())
    return value.wrong("has layers that predict further tokens on several stages; Megatron-Core wants all of them on one",
                       "write every m behind the same |");
  const auto parts = std::ssize(draft.blocks);
  if (parts % draft.plan.mesh.pipeline == 0) draft.plan.chunks = static_cast<std::int32_t>(parts / draft.plan.mesh.pipeline);
}

// Megatron-Core wants both to agree. Who says them in the layout alone has them from elsewhere (a recipe of Megatron-Bridge from its network).
void settle_predictions(Draft& draft) {
  const bool is_said = said(draft, "mtp-num-layers") != nullptr;
  const std::int64_t placed = draft.placed_predictions.value_or(draft.mtp_layers);
  draft.plan.model.mtp_layers = is_said || placed == 0 ? draft.mtp_layers : placed;
  draft.plan.model.mtp_apart = draft.part_of_predictions.has_value();
  if (is_said && placed != draft.mtp_layers)
    draft.wrong.push_back({"pipeline-model-parallel-layout",
                           fmt::format("has {} x m, which predicts a further token, and --mtp-num-layers is {}", placed, draft.mtp_layers),
                           "let both agree, as Megatron-Core wants it"});
}

}  // namespace sim
