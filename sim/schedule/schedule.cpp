#include "sim/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/schedule/dual_pipe.h"
#include "sim/schedule/gpipe.h"
#include "sim/schedule/interleaved.h"
#include "sim/schedule/looped_bfs.h"
#include "sim/schedule/one_f_one_b.h"
#include "sim/schedule/zero_bubble.h"

namespace sim {

std::span<const Schedule> all_schedules() {
  static const Schedule kSchedules[] = {kGpipeSchedule, kOneFOneBSchedule, kInterleavedSchedule, kZb1pSchedule,      kZb2pSchedule,
                                        kZbvSchedule,   kVHalfSchedule,    kVMinSchedule,        kLoopedBfsSchedule, kDualPipeVSchedule};
  return kSchedules;
}

const Schedule* find_schedule(std::string_view name) {
  const auto rows = all_schedules();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Schedule& schedule) { return schedule.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

std::int32_t peak_in_flight(std::span<const StageAction> order) {
  const bool splits = std::any_of(order.begin(), order.end(), [](const StageAction& action) { return action.kind == ActionKind::Weight; });
  const ActionKind frees = splits ? ActionKind::Weight : ActionKind::Backward;
  std::int32_t alive = 0, peak = 0;
  for (const StageAction& action : order) {
    alive += action.kind == ActionKind::Forward ? 1 : action.kind == frees ? -1 : 0;
    peak = std::max(peak, alive);
  }
  return peak;
}

std::string to_text(std::span<const StageAction> order) {
  const bool chunked = std::any_of(order.begin(), order.end(), [](const StageAction& action) { return action.chunk.value() > 0; });
  std::string text;
  for (const StageAction& action : order) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}{}", "FBW"[static_cast<std::size_t>(action.kind)], action.microbatch.value());
    if (action.slice.exists()) text += fmt::format("@{}", action.slice.value());
    if (chunked) text += fmt::format(".{}", action.chunk.value());
  }
  return text;
}

}  // namespace sim
