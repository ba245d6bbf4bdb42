// Pipeline orders: which microbatch a stage runs forward or backward, in which order. Plain data, no costs.
// To add one: one file and one row in kSchedules.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/index.h"

namespace sim {

// Of a schedule that splits the backward pass, Backward is the gradient of the input alone and Weight those of the weights.
enum class ActionKind : std::uint8_t { Forward, Backward, Weight };

struct StageAction {
  ActionKind kind{};
  MicrobatchIndex microbatch;
  ChunkIndex chunk;
  SliceIndex slice{};  // none: whole samples
  bool operator==(const StageAction&) const = default;
};

struct PipelineShape {
  std::int32_t stages = 1;        // p
  std::int32_t microbatches = 1;  // m
  std::int32_t chunks = 1;        // v: model chunks a stage
  std::int32_t group = 0;         // microbatches that pass a stage together, chunk by chunk; 0: as the schedule has it
  // Backward split in two: percent of a microbatch's memory that waits for its weights' gradients, from 50 to 100.
  std::int32_t waiting = 100;
  std::int32_t slices = 1;  // n: pieces of each sample that pass one behind the other
};

// Which virtual stage (in model order) chunk c of stage s is.  Loop: c * p + s.  V: c * p + s going down, c * p + p-1-s coming up.
enum class ChunkPlacement : std::uint8_t { Loop, V };
struct ChunkSite {
  StageIndex stage;
  ChunkIndex chunk;
};
constexpr std::int32_t virtual_stage(ChunkPlacement placement, const PipelineShape& shape, ChunkSite site) {
  const bool comes_up = placement == ChunkPlacement::V && site.chunk.value() % 2 == 1;
  return site.chunk.value() * shape.stages + (comes_up ? shape.stages - 1 - site.stage.value() : site.stage.value());
}
constexpr ChunkSite site_of(ChunkPlacement placement, const PipelineShape& shape, std::int32_t virtual_stage) {
  const ChunkIndex chunk(virtual_stage / shape.stages);
  const std::int32_t along = virtual_stage % shape.stages;
  const bool comes_up = placement == ChunkPlacement::V && chunk.value() % 2 == 1;
  return {StageIndex(comes_up ? shape.stages - 1 - along : along), chunk};
}

struct Schedule {
  std::string_view name;     // as written in a plan file
  std::string_view summary;  // one line, shown by --help and by the GUI
  std::string_view paper;
  std::optional<std::string> (*why_unsupported)(PipelineShape);
  std::vector<StageAction> (*order)(PipelineShape, StageIndex);
  bool splits_backward = false;
  ChunkPlacement placement = ChunkPlacement::Loop;
  bool takes_groups = false;  // of a size that is given
  bool pairs = false;  // splits, and yet each forward can run beside the backward in front of it: no stage waits for another in a circle
};

std::span<const Schedule> all_schedules();             // "gpipe", "1f1b", "interleaved", "zb-1p", ...
const Schedule* find_schedule(std::string_view name);  // nullptr when there is none

// Most (microbatch, slice, chunk) units alive at once: forward done, what frees it (the gradient of the weights, where that is apart) not yet.
std::int32_t peak_in_flight(std::span<const StageAction> order);

// "F0 F1 B0 F2 B1 B2", weights as "W0", chunks as "F0.1", slices as "F0@2": for golden texts and messages.
std::string to_text(std::span<const StageAction> order);

}  // namespace sim
