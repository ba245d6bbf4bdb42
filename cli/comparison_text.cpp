#include "cli/comparison_text.h"

#include <fmt/format.h>

#include "cli/simulation_text.h"
#include "cli/table.h"
#include "sim/clock/expert_load.h"
#include "sim/units/counted.h"
#include "sim/units/unit_text.h"

namespace cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

std::vector<std::string> cells(const std::string& what, const sim::ErrorRow& row, double noise) {
  return {what,
          std::to_string(row.samples),
          sim::to_text(row.simulated),
          sim::to_text(row.measured),
          signed_percent(row.error()),
          sim::percent(noise)};
}

std::string errors_table(const sim::Comparison& comparison) {
  Rows rows{{"per step and rank", "samples", "simulated", "measured", "error", "noise floor"}};
  rows.push_back(cells("step", comparison.step, comparison.noise));
  for (const sim::ErrorRow& stage : comparison.stages) rows.push_back(cells(stage.name, stage, comparison.noise));
  for (const sim::ErrorRow& kind : comparison.kinds) rows.push_back(cells(kind.name, kind, comparison.noise));
  return table_text(rows);
}

std::string shares_table(const sim::Comparison& comparison) {
  const double memory_error = comparison.memory_simulated / comparison.memory_measured - 1;
  return table_text(
      {{"", "simulated", "measured", "error"},
       {"bubble (idle compute)", sim::percent(comparison.bubble_simulated), sim::percent(comparison.bubble_measured), ""},
       {"overlap (communication behind compute)", sim::percent(comparison.overlap_simulated), sim::percent(comparison.overlap_measured),
        ""},
       {"peak memory", sim::to_text(comparison.memory_simulated), sim::to_text(comparison.memory_measured), signed_percent(memory_error)}});
}

std::string unmatched(const char* where, const std::vector<std::string>& keys) {
  if (keys.empty()) return {};
  std::string text = fmt::format("{} only {}:\n", sim::counted(std::ssize(keys), "task"), where);
  for (std::size_t i = 0; i < keys.size() && i < 10; ++i) text += "  " + keys[i] + "\n";
  return text + (keys.size() > 10 ? "  ...\n" : "");
}

}  // namespace

std::string comparison_text(const sim::Comparison& comparison, const Console& console) {
  std::string text = console.heading("Simulated against measured") + "\n" + errors_table(comparison) + "\n" + shares_table(comparison);
  text += "simulated peak is made of: " + composition_text(comparison.memory_composition) + "\n\n";
  text += comparison.ledger_equal ? "Collective ledger: equal, entry by entry, on every rank and step.\n"
                                  : "Collective ledger: DIFFERENT: " + comparison.ledger_difference + "\n";
  const std::string lost = unmatched("simulated", comparison.only_simulated) + unmatched("measured", comparison.only_measured);
  return text + (lost.empty() ? "Every simulated task has its measured partner, and the other way round.\n" : lost);
}

std::string experts_text(const sim::Comparison& comparison, const sim::ParallelPlan& plan) {
  if (!comparison.expert_spread || !plan.model.experts) return {};
  const double planned = sim::load_spread(*plan.model.experts, plan.workload.expert_loads, sim::common_behavior());
  return fmt::format(
      "Tokens of experts: spread {0:.2g} of a microbatch, {1:.2g} in the plan; plan with --expert-loads \"spread {0:.2g}\".\n",
      *comparison.expert_spread, planned);
}

}  // namespace cli
