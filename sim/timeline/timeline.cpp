#include "sim/timeline/timeline.h"

#include <algorithm>
#include <span>

#include "sim/schedule/schedule.h"
#include "sim/timeline/rows.h"

namespace sim {
namespace {

// Forward or backward work of a microbatch; recomputing belongs to the backward that needs it.
bool is_action(const Span& span) {
  const bool computes = !moves_data(span.key.operation) && span.key.operation != Operation::Reshard;
  return computes && span.key.phase != Phase::Gradients && span.key.phase != Phase::Step;
}

StageAction action_of(const Span& span) {
  const Phase phase = span.key.phase;
  const ActionKind kind = phase == Phase::Forward  ? ActionKind::Forward
                          : phase == Phase::Weight ? ActionKind::Weight
                                                   : ActionKind::Backward;
  return {kind, span.key.microbatch, span.key.chunk, span.key.slice};
}

std::vector<StageAction> actions_of(std::span<const Span> spans) {
  std::vector<StageAction> actions;
  for (const Span& span : spans) {
    if (!is_action(span)) continue;
    const StageAction action = action_of(span);
    if (actions.empty() || actions.back() != action) actions.push_back(action);
  }
  return actions;
}

}  // namespace

Bytes total(const MemoryBreakdown& memory) {
  Bytes sum{};
  for (const Bytes bytes : memory) sum += bytes;
  return sum;
}

std::string order_text(const Timeline& timeline) {
  std::string text;
  for (const DeviceRow& row : device_rows(timeline)) text += row.label + " | " + to_text(actions_of(row.spans)) + "\n";
  return text;
}

}  // namespace sim
