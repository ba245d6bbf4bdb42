#include "gui/models/explanation_tables.h"

#include <QCoreApplication>
#include <algorithm>

#include "gui/models/cells.h"
#include "sim/units/at.h"

namespace gui {
namespace {

QString spoken(const char* text) { return QCoreApplication::translate("ExplanationTables", text); }

constexpr const char* kCauses[] = {
    QT_TRANSLATE_NOOP("ExplanationTables", "Warm-up"),         QT_TRANSLATE_NOOP("ExplanationTables", "Drain"),
    QT_TRANSLATE_NOOP("ExplanationTables", "Imbalance"),       QT_TRANSLATE_NOOP("ExplanationTables", "Exposed communication"),
    QT_TRANSLATE_NOOP("ExplanationTables", "Dependency wait"), QT_TRANSLATE_NOOP("ExplanationTables", "Host")};
static_assert(std::size(kCauses) == sim::kNumIdleCauses);

constexpr std::int64_t kLeastGap = 10'000;  // steps that differ by less than a part of so many have no gap to share out

double shareOf(sim::SimTime part, sim::SimTime whole) {
  return whole > sim::SimTime(0) ? static_cast<double>(part.count()) / static_cast<double>(whole.count()) : 0;
}

std::vector<Cell> idleCells(const QString& name, const sim::IdleTime& idle) {
  const sim::SimTime whole = idle.computing + idle.idle();
  std::vector<Cell> cells = {{name, {}}, shareCell(shareOf(idle.computing, whole)), shareCell(shareOf(idle.idle(), whole))};
  for (const sim::SimTime time : idle.by_cause) cells.push_back(shareCell(shareOf(time, whole)));
  return cells;
}

QString deviceName(const sim::GraphDevice& device) {
  if (device.multiplicity == 1) return spoken("rank %1, stage %2").arg(device.representative.value()).arg(device.stage.value());
  return spoken("stage %1 (%2 ranks)").arg(device.stage.value()).arg(device.multiplicity);
}

}  // namespace

QString causeName(sim::IdleCause cause) { return spoken(sim::at(kCauses, cause)); }

Table bubbleTable(const SimulatedPlan& simulated) {
  Table table;
  table.headers = {spoken("Of the step"), spoken("Computing"), spoken("Idle")};
  for (const char* cause : kCauses) table.headers << spoken(cause);
  table.rows.push_back(idleCells(spoken("all ranks"), sim::all_devices(simulated.idle, simulated.graph)));
  for (const ShownDevice& shown : simulated.shown().devices.devices())
    table.rows.push_back(idleCells(deviceName(shown.device), simulated.idle[shown.source.position()]));
  table.marked = {true};
  return table;
}

Table criticalKindsTable(const SimulatedPlan& simulated) {
  Table table;
  table.headers = {spoken("On the critical path"), spoken("Time"), spoken("Share")};
  for (const sim::CriticalKind& kind : sim::critical_kinds(simulated.critical, simulated.result.timeline))
    table.rows.push_back({{spoken(kind.name.c_str()), {}}, timeCell(kind.time), shareCell(shareOf(kind.time, simulated.result.step_time))});
  return table;
}

Table criticalLinksTable(const SimulatedPlan& simulated, TaskNames name) {
  Table table;
  table.headers = {spoken("#"), spoken("Task"), spoken("Begins"), spoken("Takes")};
  for (const sim::CriticalLink& link : simulated.critical.links) {
    const sim::Span& span = simulated.result.timeline.spans[link.span];
    table.rows.push_back({countCell(static_cast<std::int64_t>(table.rows.size()) + 1),
                          {name(span.key), {}},
                          timeCell(link.begin),
                          timeCell(link.end - link.begin)});
  }
  return table;
}

Table foundTable(const SimulatedPlan& simulated, const std::vector<std::uint32_t>& spans, TaskNames name) {
  constexpr std::size_t kMost = 10'000;
  Table table;
  table.headers = {spoken("#"), spoken("Task"), spoken("Where"), spoken("Begins"), spoken("Takes")};
  const Unfolding& devices = simulated.shown().devices;
  for (std::size_t at = 0; at < std::min(kMost, spans.size()); ++at) {
    const sim::Span& span = simulated.shownSpan(spans[at]);
    const std::size_t device = devices.deviceOf(spans[at]);
    table.rows.push_back({countCell(static_cast<std::int64_t>(at) + 1),
                          {name(span.key), {}},
                          {deviceName(devices.devices()[device].device), static_cast<int>(device)},
                          timeCell(span.start),
                          timeCell(span.end - span.start)});
  }
  return table;
}

Table gapTable(const ComparedSteps& steps) {
  const sim::IdleTime left = steps.left.idle(), right = steps.right.idle();
  Table table;
  table.headers = {spoken("Where the time goes"), spoken("A"), spoken("B"), spoken("Difference"), spoken("Of the gap")};
  const sim::SimTime gap = right.computing + right.idle() - left.computing - left.idle();
  const bool explains = std::chrono::abs(gap) * kLeastGap > left.computing + left.idle();
  const auto add = [&](const QString& name, sim::SimTime there, sim::SimTime here) {
    const Cell share = explains ? signedShareCell(static_cast<double>((here - there).count()) / static_cast<double>(gap.count()))
                                : Cell{QStringLiteral("–"), 0.0};
    table.rows.push_back({{name, {}}, timeCell(there), timeCell(here), timeCell(here - there), share});
  };
  add(spoken("the step"), left.computing + left.idle(), right.computing + right.idle());
  table.marked = {true};
  add(spoken("Computing"), left.computing, right.computing);
  for (std::size_t cause = 0; cause < sim::kNumIdleCauses; ++cause)
    add(spoken(kCauses[cause]), left.by_cause[cause], right.by_cause[cause]);
  return table;
}

}  // namespace gui
