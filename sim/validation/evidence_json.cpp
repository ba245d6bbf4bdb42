#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "sim/calibration/training_log.h"
#include "sim/units/json_reader.h"
#include "sim/units/text_file.h"
#include "sim/units/unit_text.h"
#include "sim/validation/evidence.h"
#include "sim/validation/predict_rows.h"

namespace sim {
namespace {

constexpr const char* kHowTo = "write plan.json=7.42s, plan.json=41000 tokens/s or plan.json=7.42s,61.2GiB";

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == std::string_view::npos ? "" : std::string(text.substr(begin, end - begin + 1));
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (;;) {
    const std::size_t comma = line.find(',');
    cells.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

// "41000 tokens/s" of all devices together; "5100 tokens/s/device".
std::optional<Seconds> step_of_rate(std::string_view text, const ParallelPlan& plan) {
  const std::size_t at = text.find("tokens/s");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string rest = trimmed(text.substr(at + 8)), digits = trimmed(text.substr(0, at));
  if (!rest.empty() && rest != "/device" && rest != "/GPU" && rest != "/gpu") return std::nullopt;
  double rate = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rate);
  if (error != std::errc() || end != digits.data() + digits.size() || !(rate > 0)) return std::nullopt;
  const double tokens = static_cast<double>(plan.workload.global_batch) * static_cast<double>(plan.workload.sequence);
  return Seconds(tokens / (rest.empty() ? rate : rate * plan.mesh.ranks()));
}

// A step of a year is no step, nor is one of a nanosecond: what the clock counts is in picoseconds.
constexpr Seconds kShortestStep{1e-6}, kLongestStep{86400.0 * 100};

void take_value(const std::string& value, Evidence& evidence, std::vector<Violation>& violations) {
  if (const auto seconds = parse_duration(value); seconds && seconds->count() > 0)
    evidence.step = *seconds;
  else if (const auto step = step_of_rate(value, evidence.plan))
    evidence.step = *step;
  else if (const auto memory = parse_bytes(value); memory && memory->value() > 0)
    evidence.memory = *memory;
  else
    violations.push_back({evidence.name, "'" + value + "' is no time, rate or memory", kHowTo});
  if (evidence.step && *evidence.step < kShortestStep)
    violations.push_back({evidence.name, "'" + value + "' is no step: it takes less than 1 us", kHowTo});
  if (evidence.step && *evidence.step > kLongestStep)
    violations.push_back({evidence.name, "'" + value + "' is no step: it takes more than 100 days", kHowTo});
}

Evidence evidence_of(const std::string& plan, std::span<const std::string> values, std::vector<Violation>& violations) {
  Evidence evidence{.name = plan, .plan = load_plan(plan), .step = {}, .memory = {}};
  for (const std::string& value : values)
    if (!value.empty()) take_value(value, evidence, violations);
  if (!evidence.step && !evidence.memory && violations.empty()) violations.push_back({plan, "has nothing measured beside it", kHowTo});
  return evidence;
}

std::vector<Evidence> from_table(const std::string& file) {
  const std::string text = load_text_file(file);
  std::vector<Evidence> evidence;
  std::vector<Violation> violations;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string line = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty() || line.front() == '#' || line.starts_with("plan,")) continue;
    const std::vector<std::string> cells = cells_of(line);
    evidence.push_back(evidence_of(cells.front(), std::span(cells).subspan(1), violations));
  }
  if (evidence.empty()) violations.push_back({"", "holds no measured plan", "give lines like plan.json,7.42 s,61.2 GiB"});
  if (!violations.empty()) throw InputError(file, violations);
  return evidence;
}

std::vector<Evidence> from_rows(const std::string& file) {
  const SoftwareCatalog catalog = load_software_catalog();
  std::map<std::string, Device> devices;
  const RowProfiles profiles{catalog, [&](const std::string& part) -> const Device& {
                               const auto known = devices.find(part);
                               return known != devices.end() ? known->second : devices.emplace(part, load_device(part)).first->second;
                             }};
  const Json document = load_json_file(file);
  std::vector<Evidence> evidence;
  for (const Json& row : rows_of(document, file)) {
    const std::string id = JsonReader(row, file).text("id", fmt::format("row {}", evidence.size()));
    const RowTarget target = read_target(row, id);
    DescribedRow described = describe_row(row, id, profiles);
    if (!target.time || described.timed == Timed::Layer) continue;
    settle_recompute(described);
    evidence.push_back({.name = id, .plan = std::move(described.plan), .step = Seconds(*target.time), .memory = {}});
  }
  if (evidence.empty())
    throw InputError(file, {{"", "holds no row with the time of a step", "give a file like profiles/published/rows.json"}});
  return evidence;
}

}  // namespace

std::vector<Evidence> read_evidence(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos) {
    if (text.ends_with(".csv")) return from_table(text);
    if (text.ends_with(".json")) return from_rows(text);
    throw InputError("--measured", {{"", "'" + text + "' is neither a plan with what was measured, a .csv nor rows in .json", kHowTo}});
  }
  std::vector<Violation> violations;
  const std::vector<std::string> values = cells_of(std::string_view(text).substr(equals + 1));
  std::vector<Evidence> evidence{evidence_of(text.substr(0, equals), values, violations)};
  if (!violations.empty()) throw InputError("--measured", violations);
  return evidence;
}

// The median of n steps is known to 1.25 spreads over the root of n.
Evidence evidence_of_log(const std::string& log, ParallelPlan plan) {
  Evidence evidence{.name = log, .plan = std::move(plan), .step = {}, .memory = {}};
  const TrainingLog read = read_training_log(load_text_file(log), log, evidence.plan);
  evidence.step = read.median;
  evidence.spread = 1.2533 * read.spread / std::sqrt(static_cast<double>(read.steps.size()));
  evidence.memory = read.memory;
  return evidence;
}

}  // namespace sim
