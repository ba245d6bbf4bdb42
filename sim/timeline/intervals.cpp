#include "sim/timeline/intervals.h"

#include <algorithm>

namespace sim {

Intervals::Intervals(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.start < b.start; });
  for (const Interval& interval : intervals) {
    if (!intervals_.empty() && interval.start <= intervals_.back().end)
      intervals_.back().end = std::max(intervals_.back().end, interval.end);
    else
      intervals_.push_back(interval);
  }
}

SimTime Intervals::length() const {
  SimTime sum{};
  for (const Interval& interval : intervals_) sum += interval.end - interval.start;
  return sum;
}

SimTime Intervals::length_within(const Intervals& other) const {
  SimTime sum{};
  auto mine = intervals_.begin();
  auto theirs = other.intervals_.begin();
  while (mine != intervals_.end() && theirs != other.intervals_.end()) {
    const SimTime start = std::max(mine->start, theirs->start), end = std::min(mine->end, theirs->end);
    if (start < end) sum += end - start;
    if (mine->end < theirs->end)
      ++mine;
    else
      ++theirs;
  }
  return sum;
}

Intervals Intervals::without(const Intervals& other) const {
  std::vector<Interval> left;
  auto theirs = other.intervals_.begin();
  for (Interval mine : intervals_) {
    while (theirs != other.intervals_.end() && theirs->end <= mine.start) ++theirs;
    for (auto at = theirs; at != other.intervals_.end() && at->start < mine.end; ++at) {
      if (at->start > mine.start) left.push_back({mine.start, at->start});
      mine.start = std::min(mine.end, at->end);
    }
    if (mine.end > mine.start) left.push_back(mine);
  }
  return Intervals(std::move(left));
}

}  // namespace sim
