// Pipeline orders: which microbatch a stage runs forward or backward, in which order. Plain data, no costs.
// Used by lower(), the planner, and the command line's help. To add one: one file and one row in kSchedules.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/index.h"

namespace sim {

enum class ActionKind : std::uint8_t { Forward, Backward };

struct StageAction {
  ActionKind kind{};
  MicrobatchIndex microbatch;
  ChunkIndex chunk;
  bool operator==(const StageAction&) const = default;
};

struct PipelineShape {
  std::int32_t stages = 1;        // p
  std::int32_t microbatches = 1;  // m
  std::int32_t chunks = 1;        // v: model chunks a stage; chunk c of stage s is virtual stage c * p + s
};

struct Schedule {
  std::string_view name;      // as written in a plan file
  std::string_view summary;   // one line, shown by --help and by the GUI
  std::string_view paper;
  std::optional<std::string> (*why_unsupported)(PipelineShape);
  std::vector<StageAction> (*order)(PipelineShape, StageIndex);
};

std::span<const Schedule> all_schedules();               // "gpipe", "1f1b", "interleaved"
const Schedule* find_schedule(std::string_view name);    // nullptr when there is none

// "F0 F1 B0 F2 B1 B2", chunks as "F0.1": for golden texts and messages.
std::string to_text(std::span<const StageAction> order);

}  // namespace sim
