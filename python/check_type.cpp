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

using cli::Checked, cli::CheckResult, cli::Difference, cli::HeldTensors, planner::Improvement;

std::map<std::string, double> seconds_by_name(const std::vector<cli::StepCause>& causes) {
  std::map<std::string, double> all;
  for (const cli::StepCause& cause : causes) all[cause.name] = cause.time.count();
  return all;
}

// What a configuration may leave open.
cli::ImportOptions beside_of(const nb::dict& given) {
  cli::ImportOptions beside;
  take(given, "model", beside.model), take(given, "cluster", beside.cluster), take(given, "devices", beside.devices);
  take(given, "software", beside.software), take(given, "recompute", beside.recompute), take(given, "global_batch", beside.global_batch);
  take(given, "sequence", beside.sequence), take(given, "microbatch", beside.microbatch), take(given, "vocabulary", beside.vocabulary);
  take(given, "variables", beside.given);
  return beside;
}

Difference difference(const std::string& before, const std::string& now, const nb::dict& given) {
  return cli::difference({.given = beside_of(given), .before = before, .now = now});
}

cli::CheckOptions check_options_of(const nb::dict& given) {
  cli::CheckOptions options;
  options.subject = beside_of(given);
  take(given, "subject", options.subject.recipe);
  take_fixed(given, options.fixed), take(given, "prices", options.prices);
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

void bind_difference(nb::module_& module) {
  nb::class_<Difference>(module, "Difference", "Two plans beside each other.")
      .def_ro("before", &Difference::before)
      .def_ro("now", &Difference::now)
      .def_prop_ro(
          "faster_chance", [](const Difference& two) { return cli::chance_faster(two.now, two.before); }, "that the second truly is faster")
      .def(
          "lines", [](const Difference& two) { return cli::changed_lines(two.before.subject, two.now.subject.plan, cli::AllLines::Yes); },
          "The settings that differ, in the words of the program, or as fields of the plan file.");
  module.def("diff", &difference, nb::arg("before"), nb::arg("now"), nb::arg("options"),
             nb::sig("def diff(before: str, now: str, options: dict[str, object]) -> Difference"));
}

}  // namespace

void bind_check(nb::module_& module) {
  bind_parts(module);
  bind_difference(module);
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
      .def_prop_ro(
          "better", [](const CheckResult& check) { return check.better; }, "the best taken apart as `now` is; None: the plan is as good")
      .def_prop_ro(
          "prices",
          [](const CheckResult& check) {
            std::map<std::string, std::optional<double>> all;
            for (const CheckResult::Price& price : check.prices)
              all[price.words] = price.per_token ? std::optional(price.per_token->count()) : std::nullopt;
            return all;
          },
          "where asked for: seconds a token of the best plan with more memory, network, devices or batch; None: no plan is feasible")
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
