// Which chain of tasks, across ranks, makes the step as long as it is, and how much later each other task could end without making it
// longer (critical path method: Kelley and Walker, 1959). Durations are taken as they were: a link shared differently is not foreseen.
#pragma once

#include <vector>

#include "sim/timeline/dependencies.h"

namespace sim {

// Links follow each other without a gap, from the step's begin to its end: delay (in a simulation that of its host), then work.
struct CriticalLink {
  std::uint32_t span = 0;  // position in the timeline; of a collective, the rank that came last
  SimTime delay{};         // nothing but its host was in its way
  SimTime begin{}, end{};  // of the work
};
struct CriticalPath {
  std::vector<CriticalLink> links;
  std::vector<SimTime> slack;  // by position in the timeline; zero on the path
};
CriticalPath critical_path(const Dependencies& step, const Timeline& timeline);

struct CriticalKind {
  std::string name;  // kind_text, or "host"
  SimTime time{};
};
// Adds up to the length of the step, in picoseconds; largest first.
std::vector<CriticalKind> critical_kinds(const CriticalPath& path, const Timeline& timeline);

}  // namespace sim
