#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tbb/global_control.h>

#include "cli/plan_request.h"
#include "cli/results.h"
#include "python/bindings.h"
#include "python/followed_search.h"
#include "python/given.h"
#include "python/waiting.h"

namespace python {
namespace {

using planner::Exclusion, planner::RankedPlan, planner::SearchResult;

struct Found {
  SearchResult result;
  std::vector<sim::Violation> notes;
};

cli::PlanOptions options_of(const nb::dict& given) {
  cli::PlanOptions options;
  take(given, "model", options.model), take(given, "cluster", options.cluster), take(given, "devices", options.devices);
  take(given, "global_batch", options.global_batch), take(given, "sequence", options.sequence);
  take(given, "adapters", options.adapters), take(given, "frozen", options.frozen), take(given, "memory_limit", options.memory_limit);
  take(given, "risk", options.risk), take(given, "gap", options.gap), take(given, "budget", options.budget);
  take(given, "software", options.software), take(given, "precision", options.precision), take(given, "optimizer", options.optimizer);
  take(given, "fp32_gradients", options.fp32_gradients), take_fixed(given, options.fixed), take(given, "top", options.top);
  take(given, "threads", options.threads), take(given, "vocabulary_multiple", options.vocabulary_multiple);
  take(given, "fewer", options.fewer), take(given, "robust", options.robust), take(given, "front", options.all);
  take(given, "samples", options.samples), take(given, "expert_loads", options.expert_loads), take(given, "mtp_layers", options.mtp_layers),
      take(given, "mtp_apart", options.mtp_apart), take(given, "source_tokens", options.source_tokens);
  take_objective(given, options);
  take(given, "runnable", options.runnable), take(given, "offload", options.offload), take(given, "program", options.program);
  take(given, "learning_rate", options.learning_rate), take(given, "seed", options.seed);
  return options;
}

Found plan(const nb::dict& given, const nb::object& progress) {
  const cli::PlanOptions options = options_of(given);
  FollowedSearch followed(progress, cli::budget_of(options.budget));
  return wait_for<Found>(
      [&] {
        std::optional<tbb::global_control> limit;
        if (options.threads > 0) limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(options.threads));
        const planner::SearchRequest request = cli::search_request(options);
        Found found{.result = followed.search(request), .notes = {}};
        found.notes = cli::notes_of(options, request);
        return found;
      },
      followed.stop(), [&] { followed.glance(); });
}

nb::object shown(const char* how, const nb::object& self) { return nb::module_::import_("meshwright.display").attr(how)(self); }

}  // namespace

void bind_search(nb::module_& module) {
  nb::class_<RankedPlan>(module, "RankedPlan", "A plan with what it costs, and why it is not the best.")
      .def_ro("plan", &RankedPlan::plan)
      .def_prop_ro(
          "result", [](const RankedPlan& one) { return simulation_of(one.plan, one.result); }, "without a timeline: simulate() makes one")
      .def_ro("why_not_best", &RankedPlan::why_not_best, "empty for the best")
      .def_ro("measure", &RankedPlan::measure, "what the objective measures: seconds, of a device or of a training, or joules")
      .def_ro("out_of_memory_chance", &RankedPlan::out_of_memory_chance, "under the memory limit that was asked for");
  nb::class_<Found>(module, "Ranking", "Plans, best first. Empty: nothing is feasible, and excluded says why.")
      .def("__len__", [](const Found& found) { return found.result.ranked.size(); })
      .def(
          "__getitem__",
          [](const Found& found, std::ptrdiff_t index) -> const RankedPlan& {
            const auto size = static_cast<std::ptrdiff_t>(found.result.ranked.size());
            const std::ptrdiff_t position = index < 0 ? index + size : index;
            if (position < 0 || position >= size) throw nb::index_error();
            return found.result.ranked[static_cast<std::size_t>(position)];
          },
          nb::rv_policy::reference_internal)
      .def_prop_ro(
          "best", [](const nb::object& self) -> nb::object { return self[0].attr("plan"); }, nb::sig("def best(self) -> Plan"),
          "the fastest plan; raises IndexError where none is feasible")
      .def_prop_ro(
          "ranked", [](const Found& found) { return found.result.ranked; }, "best first, at most `top`")
      .def_prop_ro(
          "pareto", [](const Found& found) { return found.result.pareto; }, "step time ascending, peak memory descending")
      .def_prop_ro(
          "risky", [](const Found& found) { return found.result.risky; }, "faster, with a higher chance to run out of memory")
      .def_prop_ro(
          "excluded",
          [](const Found& found) {
            std::vector<std::string> lines;
            for (const Exclusion& one : found.result.excluded)
              lines.push_back(one.family + ": " + one.reason + (one.nearest_fix.empty() ? "" : "; try " + one.nearest_fix));
            return lines;
          },
          "families of plans that are out, and why")
      .def_prop_ro("candidates", [](const Found& found) { return found.result.candidates; })
      .def_prop_ro("simulated", [](const Found& found) { return found.result.simulated; })
      .def_prop_ro(
          "gap", [](const Found& found) { return found.result.gap; }, "share by which the best is slower than any plan can be, proven")
      .def_prop_ro("proof", [](const Found& found) { return found.result.proof; })
      .def_ro("notes", &Found::notes)
      .def(
          "frame", [](const nb::object& self) -> nb::object { return shown("ranking_frame", self); },
          nb::sig("def frame(self) -> pandas.DataFrame"), "One row a plan. Raises ImportError where pandas is not there.")
      .def(
          "__repr__", [](const nb::object& self) -> nb::object { return shown("ranking_text", self); },
          nb::sig("def __repr__(self) -> str"))
      .def(
          "_repr_html_", [](const nb::object& self) -> nb::object { return shown("ranking_html", self); },
          nb::sig("def _repr_html_(self) -> str"));
  module.def("plan", &plan, nb::arg("options"), nb::arg("progress").none(),
             nb::sig("def plan(options: dict[str, object], progress: typing.Callable[[int, int, float], object] | None) -> Ranking"));
}

}  // namespace python
