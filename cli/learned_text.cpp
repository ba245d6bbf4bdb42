#include "cli/learned_text.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/table.h"
#include "sim/units/unit_text.h"

namespace cli {
namespace {

constexpr double kFar = 2;  // intervals of four in five

std::string value_text(double value, const std::string& unit) {
  if (unit == "us") return fmt::format("{:.1f} us", value * 1e6);
  if (unit == "ms") return fmt::format("{:.2f} ms", value * 1e3);
  return fmt::format("{:.3f}{}", value, unit.empty() ? "" : " " + unit);
}

std::string off(sim::Seconds predicted, sim::Seconds measured) { return fmt::format("{:+.1f} %", 100 * (predicted / measured - 1)); }

// A step that lies farther away than plans do was hardly believed: its run was disturbed, or its unit is another.
std::string set_aside_text(const sim::Learned& learned) {
  std::string text;
  for (const sim::LearnedStep& step : learned.steps)
    if (std::abs(std::log(step.after / step.measured)) > kFar * std::log1p(learned.interval))
      text += fmt::format(
          "{} was hardly believed: {} measured, {} predicted even now. Check its unit, program and devices, or give more runs.\n",
          step.name, sim::to_text(step.measured), sim::to_text(step.after));
  return text.empty() ? "" : "\n" + text;
}

}  // namespace

std::string corrections_text(const std::vector<sim::Correction>& corrections, const std::string& how) {
  std::vector<std::vector<std::string>> rows{{"task kind", how + " / priced", "samples"}};
  for (const sim::Correction& one : corrections) rows.push_back({one.kind, fmt::format("{:.3f}", one.factor), std::to_string(one.samples)});
  return table_text(rows);
}

std::string learned_text(const sim::Learned& learned) {
  std::vector<std::vector<std::string>> steps{{"evidence", "measured", "predicted before", "off", "now", "off"}};
  for (const sim::LearnedStep& step : learned.steps)
    steps.push_back({step.name, sim::to_text(step.measured), sim::to_text(step.before), off(step.before, step.measured),
                     sim::to_text(step.after), off(step.after, step.measured)});
  std::vector<std::vector<std::string>> constants{{"constant", "stands for", "before", "now", "settled", "by this evidence"}};
  for (const sim::LearnedConstant& one : learned.constants)
    constants.push_back({one.name, one.family, value_text(one.before, one.unit), value_text(one.after, one.unit),
                         fmt::format("{:.0f} %", 100 * one.known), std::string(sim::known_text(one.known))});
  const std::string forms = learned.cluster.software.learned_forms;
  return table_text(steps) + set_aside_text(learned) + "\n" + table_text(constants) +
         fmt::format(
             "\nFour of five measured steps lie within {:.0f} % of predictions for plans like these ({}); before: {:.0f} %.\n"
             "Other plans keep their interval.\n",
             100 * learned.interval, forms.empty() ? "one device" : forms, 100 * learned.interval_before);
}

}  // namespace cli
