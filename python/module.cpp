// The module `meshwright._core`.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/application.h"
#include "cli/interrupt.h"
#include "python/bindings.h"
#include "sim/units/profile_search.h"

namespace {

int command_line(const std::vector<std::string>& words) {
  cli::end_on_signals();
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  return cli::run_application(static_cast<int>(arguments.size()), arguments.data());
}

}  // namespace

NB_MODULE(_core, module) {
  module.doc() =
      "Simulator, planner and command line of Meshwright. Use the package `meshwright`, which says each function's units and errors.";
  nanobind::set_leak_warnings(false);  // an error's traceback may hold a plan until the very end
  python::bind_errors(module);
  python::bind_plan(module);
  python::bind_timeline(module);
  python::bind_simulation(module);
  python::bind_search(module);
  python::bind_check(module);
  python::bind_measured(module);
  module.def("command_line", &command_line, nanobind::arg("words"), nanobind::call_guard<nanobind::gil_scoped_release>(),
             "The program `meshwright` with these words (the first is its name); returns the exit code. Ctrl-C ends the process with 130.");
  module.def(
      "find_profile", &sim::find_profile, nanobind::arg("path_or_name"), nanobind::arg("folders"),
      "A path to a file, or the name of one in these folders of the profiles, as a path. Raises InputError that lists the known names.");
}
