#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/plan_request.h"
#include "cli/results.h"
#include "python/bindings.h"
#include "python/followed_search.h"
#include "python/waiting.h"

namespace python {
namespace {

using cli::Checked, cli::CheckResult, cli::HeldTensors, planner::Improvement;

std::map<std::string, double> seconds_by_name(const std::vector<cli::StepCause>& causes) {
  std::map<std::string, double> all;
  for (const cli::StepCause& cause : causes) all[cause.name] = cause.time.count();
  return all;
}

cli::ImportOptions subject_of(const std::string& subject, const std::string& model, const std::string& cluster, std::int32_t devices,
                              const std::string& software) {
  cli::ImportOptions options;
  options.recipe = subject, options.model = model, options.cluster = cluster, options.devices = devices, options.software = software;
  return options;
}

CheckResult check(const std::string& subject, const std::string& model, const std::string& cluster, std::int32_t devices,
                  const std::string& software, const std::string& memory_limit, const std::string& risk, const std::string& budget,
                  const std::string& against, const nb::object& progress) {
  cli::CheckOptions options;
  options.subject = subject_of(subject, model, cluster, devices, software);
  options.memory_limit = memory_limit, options.risk = risk, options.against = against;
  FollowedSearch followed(progress, cli::budget_of(budget));
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
      .def_ro("out_of_memory_chance", &Improvement::out_of_memory_chance);
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
  module.def(
      "check", &check, nb::arg("subject"), nb::arg("model"), nb::arg("cluster"), nb::arg("devices"), nb::arg("software"),
      nb::arg("memory_limit"), nb::arg("risk"), nb::arg("budget"), nb::arg("against"), nb::arg("progress").none(),
      nb::sig("def check(subject: str, model: str, cluster: str, devices: int, software: str, memory_limit: str, risk: str, budget: str, "
              "against: str, progress: typing.Callable[[int, int, float], object] | None) -> Check"));
}

}  // namespace python
