#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/plan_request.h"
#include "cli/results.h"
#include "python/bindings.h"
#include "python/followed_search.h"
#include "python/given.h"
#include "python/waiting.h"

namespace python {
namespace {

using cli::Checked, cli::CheckResult, cli::HeldTensors, planner::Improvement;

std::map<std::string, double> seconds_by_name(const std::vector<cli::StepCause>& causes) {
  std::map<std::string, double> all;
  for (const cli::StepCause& cause : causes) all[cause.name] = cause.time.count();
  return all;
}

cli::CheckOptions check_options_of(const nb::dict& given) {
  cli::CheckOptions options;
  take(given, "subject", options.subject.recipe), take(given, "model", options.subject.model),
      take(given, "cluster", options.subject.cluster);
  take(given, "devices", options.subject.devices), take(given, "software", options.subject.software);
  take(given, "memory_limit", options.memory_limit), take(given, "risk", options.risk), take(given, "budget", options.budget);
  take(given, "against", options.against), take(given, "log", options.log), take_objective(given, options);
  return options;
}

CheckResult check(const nb::dict& given, const nb::object& progress) {
  const cli::CheckOptions options = check_options_of(given);
  FollowedSearch followed(progress, cli::budget_of(options.budget));
  return wait_for<CheckResult>(
      [&] { return cli::check_result(options, [&](const planner::SearchRequest& request) { return followed.search(request); }); },
      followed.stop(), [&] { followed.glance(); });
}

void bind_parts(nb::module_& module) {
  nb::class_<HeldTensors>(module, "HeldTensors", "Tensors that are alike, at the peak of the fullest rank.")
      .def_ro("what", &HeldTensors::what)
      .def_ro("count", &HeldTensors::count)
      .def_prop_ro("bytes", [](const HeldTensors& held) { return held.bytes.value(); });
  nb::class_<Improvement>(module, "Improvement", "The plan with one or two other settings.")
      .def_ro("changed", &Improvement::changed, "names of the settings")
      .def_ro("plan", &Improvement::plan)
      .def_prop_ro("result", [](const Improvement& one) { return simulation_of(one.plan, one.result); })
      .def_ro("out_of_memory_chance", &Improvement::out_of_memory_chance)
      .def_ro("measure", &Improvement::measure, "what the objective measures: seconds, of a device or of a training, or joules");
  nb::class_<Checked>(module, "CheckedPlan", "Where a plan's step and memory go.")
      .def_prop_ro("plan", [](const Checked& one) { return one.subject.plan; })
      .def_prop_ro(
          "program", [](const Checked& one) { return one.subject.program == nullptr ? "" : std::string(one.subject.program->name); },
          "that performs it; empty: another, or our worker")
      .def_prop_ro(
          "not_said", [](const Checked& one) { return one.subject.told; }, "by the import: what it could not read or keep")
      .def_prop_ro(
          "not_sayable", [](const Checked& one) { return one.subject.unsayable; }, "what the network needs and the program has no word for")
      .def_prop_ro("result", [](const Checked& one) { return simulation_of(one.subject.plan, one.result); })
      .def_prop_ro(
          "causes", [](const Checked& one) { return seconds_by_name(one.causes); },
          "seconds by cause, mean over ranks; they add up to the step")
      .def_prop_ro(
          "exposed_communication", [](const Checked& one) { return seconds_by_name(one.communication); }, "seconds by kind")
      .def_ro("tensors_at_peak", &Checked::tensors, "the largest first")
      .def_ro("out_of_memory_chance", &Checked::out_of_memory_chance)
      .def_prop_ro(
          "memory_limit", [](const Checked& one) { return one.limit.value(); }, "of a device, in bytes");
}

}  // namespace

void bind_check(nb::module_& module) {
  bind_parts(module);
  nb::class_<CheckResult>(module, "Check", "Whether a plan fits, what holds it back, what one change would gain.")
      .def_ro("fits", &CheckResult::fits)
      .def_ro("now", &CheckResult::now)
      .def_ro("measure", &CheckResult::measure, "of the plan, in the unit of the objective")
      .def_ro("before", &CheckResult::before, "the earlier one it is held against; None: none was named")
      .def_prop_ro(
          "one_change", [](const CheckResult& check) { return check.improvements.one; }, "the fastest first")
      .def_prop_ro("two_changes", [](const CheckResult& check) { return check.improvements.two; })
      .def_prop_ro(
          "best", [](const CheckResult& check) { return check.search.ranked; }, "of all plans for the same program; may be empty")
      .def_prop_ro("gap", [](const CheckResult& check) { return check.search.gap; })
      .def_prop_ro("proof", [](const CheckResult& check) { return check.search.proof; })
      .def(
          "lines",
          [](const CheckResult& check, const Improvement& one) {
            return cli::changed_lines(check.now.subject, one.plan, cli::AllLines::Yes);
          },
          nb::arg("improvement"), "The lines to change, in the words of the program, or as fields of the plan file.")
      .def(
          "__repr__",
          [](const nb::object& self) -> nb::object { return nb::module_::import_("meshwright.display").attr("check_text")(self); },
          nb::sig("def __repr__(self) -> str"));
  module.def("check", &check, nb::arg("options"), nb::arg("progress").none(),
             nb::sig("def check(options: dict[str, object], progress: typing.Callable[[int, int, float], object] | None) -> Check"));
}

}  // namespace python
