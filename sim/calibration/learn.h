// Measured steps of plans, of whatever program -> the software profile that predicts them, what was identifiable, and how sure the result is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/plan/parallel_plan.h"

namespace sim {

struct Evidence {
  std::string name;  // for people: the plan's file, the log's, the row's id
  ParallelPlan plan;
  std::optional<Seconds> step;
  double spread = 0;            // standard deviation of the step's logarithm, as far as it was seen
  std::optional<Bytes> memory;  // peak of the fullest device, as its allocator reserved it
};

struct LearnedConstant {
  std::string name, family;  // as in the software profile; what it stands for
  double before = 0, after = 0;
  std::string unit;  // "us", "ms", or none
  double known = 0;  // share of what was open that the evidence settled: 0 nothing, 1 all
};
struct LearnedStep {
  std::string name;
  Seconds measured{}, before{}, after{};
};
struct Learned {
  Cluster cluster;  // of the evidence, with the software that was learned
  std::vector<LearnedConstant> constants;
  std::vector<LearnedStep> steps;
  double interval_before = 0, interval = 0;  // half widths for plans of the forms that the evidence has
};

// Throws InputError: nothing was measured, or the plans are of different programs or parts.
Learned learn(const std::vector<Evidence>& evidence);

// Known to at least a half, to at least a sixth, or not.
std::string_view known_text(double known);

// Nothing in it says whose machine, files or runs these were.
Cluster anonymous(Cluster cluster);

}  // namespace sim
