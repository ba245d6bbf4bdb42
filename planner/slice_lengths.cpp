#include "planner/slice_lengths.h"

#include <algorithm>
#include <set>

#include "sim/units/at.h"

namespace planner {
namespace {

using sim::SimTime;

// In steps: what a slice of so many takes behind so many.
class SliceTimes {
 public:
  SliceTimes(const SampleCut& cut, const SliceTime& time) : steps_(cut.tokens / cut.step), all_(sim::count_of(steps_ * steps_)) {
    for (std::int64_t before = 0; before < steps_; ++before)
      for (std::int64_t length = 1; before + length <= steps_; ++length)
        at(length, before) = time({.tokens = length * cut.step, .before = before * cut.step});
  }
  std::int64_t steps() const { return steps_; }
  SimTime& at(std::int64_t length, std::int64_t before) { return sim::at(all_, before * steps_ + length - 1); }
  SimTime of(std::int64_t length, std::int64_t before) const { return sim::at(all_, before * steps_ + length - 1); }
  std::set<SimTime> values() const {
    std::set<SimTime> found;
    for (std::int64_t before = 0; before < steps_; ++before)
      for (std::int64_t length = 1; before + length <= steps_; ++length) found.insert(of(length, before));
    return found;
  }

 private:
  std::int64_t steps_;
  std::vector<SimTime> all_;
};

struct StepCut {
  std::vector<std::int64_t> steps;
  SimTime sum{}, longest{};
};

// The least sum where no slice takes longer than the bound; nothing where that cannot be.
std::vector<StepCut> least_sum(const SliceTimes& times, SimTime bound) {
  struct Prefix {
    SimTime sum = SimTime::max();
    std::int64_t last = 0;
  };
  std::vector<Prefix> prefixes(sim::count_of(times.steps() + 1));
  prefixes.front().sum = SimTime{};
  for (std::int64_t end = 1; end <= times.steps(); ++end)
    for (std::int64_t length = 1; length <= end; ++length) {
      const Prefix& before = sim::at(prefixes, end - length);
      const SimTime time = times.of(length, end - length);
      if (before.sum == SimTime::max() || time > bound || before.sum + time >= sim::at(prefixes, end).sum) continue;
      sim::at(prefixes, end) = {.sum = before.sum + time, .last = length};
    }
  if (prefixes.back().sum == SimTime::max()) return {};
  StepCut cut{.steps = {}, .sum = prefixes.back().sum};
  for (std::int64_t end = times.steps(); end > 0; end -= cut.steps.back()) {
    cut.steps.push_back(sim::at(prefixes, end).last);
    cut.longest = std::max(cut.longest, times.of(cut.steps.back(), end - cut.steps.back()));
  }
  std::reverse(cut.steps.begin(), cut.steps.end());
  return {cut};
}

}  // namespace

SimTime pipeline_time(const std::vector<std::int64_t>& lengths, const SliceTime& time, std::int32_t stages) {
  SimTime sum{}, longest{};
  std::int64_t before = 0;
  for (const std::int64_t tokens : lengths) {
    const SimTime one = time({.tokens = tokens, .before = before});
    sum += one;
    longest = std::max(longest, one);
    before += tokens;
  }
  return sum + longest * (stages - 1);
}

SliceLengths best_slices(const SampleCut& cut, const SliceTime& time) {
  const SliceTimes times(cut, time);
  SliceLengths best{.tokens = {}, .time = SimTime::max()};
  for (const SimTime bound : times.values()) {
    if (bound * (cut.stages - 1) >= best.time) break;
    for (const StepCut& one : least_sum(times, bound)) {
      const SimTime all = one.sum + one.longest * (cut.stages - 1);
      if (all >= best.time) continue;
      best = {.tokens = {}, .time = all};
      for (const std::int64_t steps : one.steps) best.tokens.push_back(steps * cut.step);
    }
  }
  return best;
}

}  // namespace planner
