// What the Python module is made of: a function a file, each adds its classes and functions. Times become seconds, amounts bytes; names are those of
// the documents that --json prints. Knows nanobind; decides nothing.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <type_traits>
#include <vector>

#include "planner/search.h"
#include "sim/engine/simulate.h"
#include "sim/units/input_error.h"

namespace python {

namespace nb = nanobind;

void bind_errors(nb::module_& module);
void bind_plan(nb::module_& module);
void bind_timeline(nb::module_& module);
void bind_simulation(nb::module_& module);
void bind_search(nb::module_& module);
void bind_check(nb::module_& module);
void bind_measured(nb::module_& module);

// One step, simulated, with how far the prediction may be off.
struct Simulation {
  sim::SimulationResult result;
  sim::Seconds low{}, high{};
  double out_of_memory_chance = 0;
};
Simulation simulation_of(const sim::ParallelPlan& plan, sim::SimulationResult result);

template <class Time>
double seconds(const Time& time) {
  if constexpr (std::is_same_v<Time, sim::SimTime>)
    return sim::to_seconds(time).count();
  else
    return time.count();
}

}  // namespace python
