// Lengths of a sample's slices by TeraPipe's dynamic programming: a slice behind others takes longer for as many tokens, so the later ones are shorter.
// Li et al., "TeraPipe: Token-Level Pipeline Parallelism for Training Large-Scale Language Models", ICML 2021, section 3.3.
//
//   minimize   sum of t_i + (p - 1) max t_i      over lengths that are multiples of `step` and sum up to the sample
//
// For each bound on the longest slice, ascending, the least sum over prefixes of the sample; the search ends where the bound alone costs more than
// the best. O(k^2) sums a bound, k = tokens / step, and at most k (k + 1) / 2 bounds. Plans have slices of one length (ParallelPlan::slices): this
// says what uneven ones would give.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/units/sim_time.h"

namespace planner {

struct SampleCut {
  std::int64_t tokens = 1;  // of the sample; a multiple of step
  std::int64_t step = 8;
  std::int32_t stages = 1;  // p
};
struct SliceSpan {
  std::int64_t tokens = 0, before = 0;  // its own, and those in front of it
};
using SliceTime = std::function<sim::SimTime(SliceSpan)>;  // of one slice on a stage, with what it sends

struct SliceLengths {
  std::vector<std::int64_t> tokens;  // in the order of the sample
  sim::SimTime time{};               // sum + (p - 1) max: one sample through the pipeline
};

sim::SimTime pipeline_time(const std::vector<std::int64_t>& lengths, const SliceTime& time, std::int32_t stages);
SliceLengths best_slices(const SampleCut& cut, const SliceTime& time);

}  // namespace planner
