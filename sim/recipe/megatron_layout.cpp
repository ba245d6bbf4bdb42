#include "sim/recipe/megatron_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/plan/pipeline_layout.h"

namespace sim {

std::string layout_text(const ParallelPlan& plan) {
  std::vector<std::string> parts;
  for (const std::int64_t blocks : blocks_of(plan)) parts.push_back(blocks == 0 ? "" : fmt::format("t*{}", blocks));
  return fmt::format("E{}L", fmt::join(parts, "|"));
}

void read_layout(const Value& value, Draft& draft) {
  const PipelineLayout layout = parse_pipeline_layout(value.text());
  draft.blocks = layout.blocks;
  if (layout.unknown) return value.wrong(fmt::format("has a '{}'; a plan knows E, t and L", *layout.unknown), "leave other layers out");
  if (layout.further > 0)
    value.lost(fmt::format("places {} layers that predict further tokens; the plan has none", layout.further),
               "mind their time and memory");
  const auto parts = std::ssize(draft.blocks);
  if (parts % draft.plan.mesh.pipeline == 0) draft.plan.chunks = static_cast<std::int32_t>(parts / draft.plan.mesh.pipeline);
}

}  // namespace sim
