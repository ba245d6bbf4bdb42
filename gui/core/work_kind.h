// What a slice is, as a person sees it: its color, name and pattern. The colors are Paul Tol's muted scheme, safe for color-blind people;
// a color means a kind of work and does not change. Used by the timeline and its legend.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/timeline/timeline.h"

namespace gui {

enum class WorkKind : std::uint8_t { Forward, Backward, Recompute, Optimizer, Tensor, Data, Pipeline, World, Kernel, Copy, Host };
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
const WorkKindLook& lookOf(WorkKind kind);
Rgb readableOn(Rgb background);  // black or white, whichever contrasts more

WorkKind kindOf(const sim::TaskKey& key);
std::string shortName(const sim::TaskKey& key);  // on a slice: "F3", "B0", "all_reduce"

// The seven of memory: Tol's bright scheme. By MemoryCategory.
Rgb memoryColor(sim::MemoryCategory category);

}  // namespace gui
