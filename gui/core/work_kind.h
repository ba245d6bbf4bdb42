// What a slice is, as a person sees it: its color, name and pattern. The colors are Paul Tol's muted scheme, of differences his sunset scheme,
// both safe for color-blind people; a color means a kind of work and does not change.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/timeline/timeline.h"

namespace gui {

// What a plan does; what only imported traces hold; how a task of one run compares with its partner in another.
enum class WorkKind : std::uint8_t {
  Forward,
  Backward,
  Weight,
  Recompute,
  Optimizer,
  Tensor,
  Exchange,
  Data,
  Pipeline,
  World,
  Kernel,
  Product,
  Attention,
  Norm,
  Copy,
  Host,
  LessThanHalf,
  Shorter,
  Alike,
  Longer,
  MoreThanDouble,
  Unmatched
};
enum class Pattern : std::uint8_t { None, Rising, Falling, Dots, Lines };

struct Rgb {
  std::uint32_t value = 0;  // 0xffRRGGBB
};

struct WorkKindLook {
  WorkKind kind{};
  std::string_view name;  // English; the views translate it
  Rgb color;
  Pattern pattern = Pattern::None;
};
std::span<const WorkKindLook> allWorkKinds();  // by WorkKind
std::vector<WorkKind> planWorkKinds();
std::vector<WorkKind> differenceWorkKinds();
const WorkKindLook& lookOf(WorkKind kind);
Rgb readableOn(Rgb background);  // black or white, whichever contrasts more

bool isCompute(WorkKind kind);        // of a device
bool isCommunication(WorkKind kind);  // between devices
std::vector<WorkKind> traceWorkKinds();

WorkKind kindOf(const sim::TaskKey& key);
WorkKind kindOfRatio(double ratio);              // of a partner's duration to a task's; alike: within 5 %
std::string shortName(const sim::TaskKey& key);  // on a slice: "F3", "B0", "all_reduce"

// The seven of memory: Tol's bright scheme. By MemoryCategory.
Rgb memoryColor(sim::MemoryCategory category);

}  // namespace gui
