// Keyword arguments by the names of the command's options: a table would be a second list of them.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/options.h"
#include "planner/axis_words.h"
#include "python/bindings.h"

namespace python {

template <class Value>
void take(const nb::dict& given, const char* name, Value& value) {
  if (given.contains(name)) value = nb::cast<Value>(given[name]);
}

// In the words of people, of plan() and check().
inline void take_fixed(const nb::dict& given, std::map<std::string, std::string>& fixed) {
  std::vector<std::string> said;
  take(given, "fixed", said);
  fixed = planner::fixed_as_said(said);
}

// What plans are ranked by, of plan() and check().
inline void take_objective(const nb::dict& given, cli::ObjectiveOptions& options) {
  take(given, "objective", options.objective), take(given, "tokens", options.tokens), take(given, "steps", options.steps);
  take(given, "write_bandwidth", options.write_bandwidth), take(given, "checkpoint_interval", options.checkpoint_interval);
  take(given, "mtbf", options.failures.mean_time_between_failures), take(given, "restart_time", options.failures.restart_time);
  take(given, "checkpoint_time", options.failures.checkpoint_time), take(given, "repair_time", options.failures.repair_time);
  take(given, "spares", options.failures.spares);
}

}  // namespace python
