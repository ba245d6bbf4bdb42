// The step of one measured run as a function of the constants that are fitted, known from below: each simulation gives a plane that touches it, by the
// slopes along its critical path (sim/engine/step_path.h). The step is the longest of many paths, and each path is convex in the coordinates taken here
// (times and slowdowns as they are, shares that divide a time by their negative logarithm); so the highest plane is the step where it was simulated, and
// a little less between.
//
//   step |\         . '         Kelley, "The cutting-plane method for solving convex programs", J. SIAM 8 (1960)
//        | \     . '
//        |  '.o.'               o  simulated
//        +---------- constant
#pragma once

#include <array>
#include <vector>

#include "sim/calibration/fitted_constants.h"
#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task_graph.h"

namespace sim {

using ConstantPoint = std::array<double, kStackConstants + kPartConstants>;  // coordinates: of the stack's constants, then of the part's
ConstantPoint point_of(const SoftwareStack& stack, const KernelTraits& part);
double coordinate_of(bool divides, double value);

struct StepPlane {
  double time = 0;  // seconds
  ConstantPoint at{}, slope{};
  double height(const ConstantPoint& point) const;
};

class PlannedStep {
 public:
  explicit PlannedStep(const ParallelPlan& plan);
  StepPlane touch(const SoftwareStack& stack, const KernelTraits& part) const;
  Seconds time(const SoftwareStack& stack, const KernelTraits& part) const;
  ParallelPlan plan_with(const SoftwareStack& stack, const KernelTraits& part) const;

 private:
  ParallelPlan plan_;
  ModelGraph model_;
  TaskGraph graph_;
};

}  // namespace sim
