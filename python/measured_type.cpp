#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/results.h"
#include "python/bindings.h"
#include "python/waiting.h"
#include "sim/validation/score.h"

namespace python {
namespace {

using cli::Compared, sim::Correction, sim::ErrorRow, sim::HardwareProfile, sim::Score;

Compared compare(const std::string& run, const std::string& cluster, std::int64_t warm_up) {
  cli::CompareOptions options;
  options.run = run, options.cluster = cluster, options.warm_up = warm_up;
  return cli::compared(options);
}

HardwareProfile calibrate(const std::vector<std::string>& runs, const std::string& cluster) {
  return cli::calibrated({.runs = runs, .cluster = cluster, .output = ""});
}

struct ValidatedRow {
  sim::PredictedRow predicted;
  sim::RowTarget target;
};
struct Validation {
  std::vector<ValidatedRow> rows;
  Score score;
};

// Rows are predicted to their end: Ctrl-C is obeyed after them.
Validation validate(const std::string& rows, bool leave_out_each) {
  std::atomic<bool> stop{false};
  return wait_for<Validation>(
      [&] {
        const sim::ValidationRows found = cli::validated({.rows = rows, .output = "", .fit = "", .leave_out_each = leave_out_each});
        Validation all{.rows = {}, .score = sim::score(found)};
        for (std::size_t row = 0; row < found.predictions.size(); ++row) all.rows.push_back({found.predictions[row], found.targets[row]});
        return all;
      },
      stop, [] {});
}

void bind_comparison(nb::module_& module) {
  nb::class_<ErrorRow>(module, "ErrorRow", "Simulated against measured, per step, in seconds.")
      .def_ro("name", &ErrorRow::name)
      .def_ro("samples", &ErrorRow::samples)
      .def_prop_ro("simulated", [](const ErrorRow& row) { return row.simulated.count(); })
      .def_prop_ro("measured", [](const ErrorRow& row) { return row.measured.count(); })
      .def_prop_ro("error", &ErrorRow::error, "(simulated - measured) / measured");
  nb::class_<Compared>(module, "Comparison", "A recorded run beside the simulation of its plan.")
      .def_ro("plan", &Compared::plan, "as it was priced")
      .def_prop_ro(
          "step", [](const Compared& all) { return all.comparison.step; }, "of the slowest rank")
      .def_prop_ro(
          "kinds", [](const Compared& all) { return all.comparison.kinds; }, "of tasks; the longest measured first")
      .def_prop_ro(
          "stages", [](const Compared& all) { return all.comparison.stages; }, "their computing")
      .def_prop_ro(
          "noise", [](const Compared& all) { return all.comparison.noise; }, "spread of the measured steps: quartiles' distance / median")
      .def_prop_ro(
          "ledger_equal", [](const Compared& all) { return all.comparison.ledger_equal; }, "each rank communicated what the plan says")
      .def_prop_ro("ledger_difference", [](const Compared& all) { return all.comparison.ledger_difference; })
      .def_prop_ro(
          "only_simulated", [](const Compared& all) { return all.comparison.only_simulated; }, "keys without a partner")
      .def_prop_ro("only_measured", [](const Compared& all) { return all.comparison.only_measured; })
      .def_prop_ro("bubble_simulated", [](const Compared& all) { return all.comparison.bubble_simulated; })
      .def_prop_ro("bubble_measured", [](const Compared& all) { return all.comparison.bubble_measured; })
      .def_prop_ro(
          "memory_simulated", [](const Compared& all) { return all.comparison.memory_simulated.value(); }, "bytes, of the fullest rank")
      .def_prop_ro(
          "expert_spread", [](const Compared& all) { return all.comparison.expert_spread; },
          "measured, of the tokens of experts: standard deviation over mean")
      .def_prop_ro("memory_measured", [](const Compared& all) { return all.comparison.memory_measured.value(); })
      .def(
          "__repr__",
          [](const nb::object& self) -> nb::object { return nb::module_::import_("meshwright.display").attr("comparison_text")(self); },
          nb::sig("def __repr__(self) -> str"))
      .def(
          "_repr_html_",
          [](const nb::object& self) -> nb::object { return nb::module_::import_("meshwright.display").attr("comparison_html")(self); },
          nb::sig("def _repr_html_(self) -> str"));
  module.def("compare", &compare, nb::arg("run"), nb::arg("cluster"), nb::arg("warm_up"), nb::call_guard<nb::gil_scoped_release>());
}

void bind_profile(nb::module_& module) {
  nb::class_<Correction>(module, "Correction", "Measured = factor x priced, of one kind of task.")
      .def_ro("kind", &Correction::kind)
      .def_ro("factor", &Correction::factor)
      .def_ro("samples", &Correction::samples);
  nb::class_<HardwareProfile>(module, "HardwareProfile", "What hardware can do, corrected by runs.")
      .def_ro("name", &HardwareProfile::name)
      .def_ro("corrections", &HardwareProfile::corrections)
      .def_ro("traces", &HardwareProfile::traces, "files that it was corrected by")
      .def(
          "save",
          [](const HardwareProfile& profile, const std::filesystem::path& path) { sim::save_hardware_profile(profile, path.string()); },
          nb::arg("path"), "A file that plan and compare take as a cluster.");
  module.def("calibrate", &calibrate, nb::arg("runs"), nb::arg("cluster"), nb::call_guard<nb::gil_scoped_release>());
}

void bind_score(nb::module_& module) {
  nb::class_<ValidatedRow>(module, "ValidatedRow", "A published run: predicted and measured.")
      .def_prop_ro("id", [](const ValidatedRow& row) { return row.predicted.id; })
      .def_prop_ro("source", [](const ValidatedRow& row) { return row.target.source; })
      .def_prop_ro(
          "error", [](const ValidatedRow& row) { return row.predicted.error; }, "why it cannot be predicted; empty: it was")
      .def_prop_ro(
          "time", [](const ValidatedRow& row) { return row.predicted.estimate.time.count(); }, "seconds")
      .def_prop_ro("time_low", [](const ValidatedRow& row) { return row.predicted.estimate.low.count(); })
      .def_prop_ro("time_high", [](const ValidatedRow& row) { return row.predicted.estimate.high.count(); })
      .def_prop_ro(
          "measured_time", [](const ValidatedRow& row) { return row.target.time; }, "seconds; None: not published")
      .def_prop_ro("memory_gib", [](const ValidatedRow& row) { return row.predicted.estimate.memory_gib; })
      .def_prop_ro("measured_memory_gib", [](const ValidatedRow& row) { return row.target.memory_gib; });
  nb::class_<Validation>(module, "Validation", "Predictions for published runs, and their score.")
      .def_ro("rows", &Validation::rows)
      .def_prop_ro(
          "macro_mape", [](const Validation& all) { return all.score.macro_mape; }, "mean over sources of their mean relative errors")
      .def_prop_ro(
          "micro_mape", [](const Validation& all) { return all.score.micro_mape; }, "mean over rows")
      .def_prop_ro("median", [](const Validation& all) { return all.score.median; })
      .def_prop_ro("bias", [](const Validation& all) { return all.score.bias; })
      .def_prop_ro(
          "coverage", [](const Validation& all) { return all.score.coverage; }, "share of rows within their interval")
      .def_prop_ro("memory_mape", [](const Validation& all) { return all.score.memory_mape; })
      .def_prop_ro(
          "errors", [](const Validation& all) { return all.score.errors; }, "rows that could not be predicted")
      .def(
          "text", [](const Validation& all) { return sim::score_text(all.score); }, "Tables in Markdown.")
      .def("__repr__", [](const Validation& all) { return sim::score_text(all.score); })
      .def("_repr_markdown_", [](const Validation& all) { return sim::score_text(all.score); });
  module.def("validate", &validate, nb::arg("rows"), nb::arg("leave_out_each"));
}

}  // namespace

void bind_measured(nb::module_& module) {
  bind_comparison(module);
  bind_profile(module);
  bind_score(module);
}

}  // namespace python
