#include "sim/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/schedule/gpipe.h"
#include "sim/schedule/interleaved.h"
#include "sim/schedule/one_f_one_b.h"

namespace sim {

std::span<const Schedule> all_schedules() {
  static const Schedule kSchedules[] = {kGpipeSchedule, kOneFOneBSchedule, kInterleavedSchedule};
  return kSchedules;
}

const Schedule* find_schedule(std::string_view name) {
  const auto rows = all_schedules();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Schedule& schedule) { return schedule.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

std::string to_text(std::span<const StageAction> order) {
  const bool chunked = std::any_of(order.begin(), order.end(), [](const StageAction& action) { return action.chunk.value() > 0; });
  std::string text;
  for (const StageAction& action : order) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}{}", action.kind == ActionKind::Forward ? 'F' : 'B', action.microbatch.value());
    if (chunked) text += fmt::format(".{}", action.chunk.value());
  }
  return text;
}

}  // namespace sim
