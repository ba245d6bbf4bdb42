#include "gui/models/comparison_tables.h"

#include <QCoreApplication>
#include <algorithm>
#include <chrono>

#include "gui/models/cells.h"
#include "gui/models/reason_text.h"
#include "sim/units/at.h"

namespace gui {
namespace {

QString said(const char* text) { return QCoreApplication::translate("ComparisonTables", text); }

constexpr const char* kGroups[] = {QT_TRANSLATE_NOOP("ComparisonTables", "step"), QT_TRANSLATE_NOOP("ComparisonTables", "stage"),
                                   QT_TRANSLATE_NOOP("ComparisonTables", "kind of task"),
                                   QT_TRANSLATE_NOOP("ComparisonTables", "collective")};

QString rankName(const sim::Timeline& timeline, const sim::Span& span) {
  return QString::number(timeline.devices[span.device.position()].representative.value());
}

Cell memoryError(const sim::Comparison& comparison) {
  if (comparison.memory_measured == sim::Bytes(0)) return {said("not measured"), 0};
  return signedShareCell(comparison.memory_simulated / comparison.memory_measured - 1);
}

}  // namespace

Table errorsTable(const std::vector<ErrorGroup>& groups) {
  Table table;
  table.headers = {said("Of"), said("Per step and rank"), said("Samples"), said("A"), said("B"), said("Error of A")};
  for (const ErrorGroup& group : groups)
    table.rows.push_back({{said(sim::at(kGroups, group.of)), {}},
                          {nameText(group.row.name), {}},
                          countCell(group.row.samples),
                          timeCell(group.row.simulated),
                          timeCell(group.row.measured),
                          signedShareCell(group.row.error())});
  table.marked = {true};
  return table;
}

Table sharesTable(const sim::Comparison& comparison) {
  Table table;
  table.headers = {said("Share"), said("Simulated"), said("Measured"), said("Error")};
  const auto points = [](double simulated, double measured) {
    return Cell{QString::asprintf("%+.1f pp", 100 * (simulated - measured)), simulated - measured};
  };
  table.rows = {
      {{said("bubble"), {}},
       shareCell(comparison.bubble_simulated),
       shareCell(comparison.bubble_measured),
       points(comparison.bubble_simulated, comparison.bubble_measured)},
      {{said("communication behind compute"), {}},
       shareCell(comparison.overlap_simulated),
       shareCell(comparison.overlap_measured),
       points(comparison.overlap_simulated, comparison.overlap_measured)},
      {{said("peak memory"), {}}, bytesCell(comparison.memory_simulated), bytesCell(comparison.memory_measured), memoryError(comparison)},
      {{said("noise of measured steps"), {}}, {QStringLiteral("–"), 0.0}, shareCell(comparison.noise), {QStringLiteral("–"), 0.0}}};
  if (comparison.expert_spread)
    table.rows.push_back({{said("spread of tokens over experts"), {}},
                          {QStringLiteral("–"), 0.0},
                          shareCell(*comparison.expert_spread),
                          {QStringLiteral("–"), 0.0}});
  return table;
}

Table unmatchedTable(const ComparedSteps& steps) {
  Table table;
  table.headers = {said("Only in"), said("Task without a partner")};
  const auto add = [&](const char* side, const QString& task) { table.rows.push_back({{QString::fromLatin1(side), {}}, {task, {}}}); };
  if (const sim::Comparison* whole = steps.wholeRun()) {
    for (const std::string& task : whole->only_simulated) add("A", textOf(task));
    for (const std::string& task : whole->only_measured) add("B", textOf(task));
    return table;
  }
  const auto list = [&](const char* side, const sim::Timeline& timeline, const std::vector<std::uint32_t>& spans) {
    for (const std::uint32_t at : spans)
      add(side, said("rank %1: %2").arg(rankName(timeline, timeline.spans[at]), textOf(sim::to_text(timeline.spans[at].key))));
  };
  const auto kernels = [&](const char* side, const SharedTraceStep& trace) {
    if (!trace) return;
    for (const std::string& why : trace->why_not) add(side, sentenceText(why));
    for (const UnjoinedKernels& one : trace->unjoined)
      add(side, said("%1: %2, %3, %4 of their time")
                    .arg(textOf(one.name), countText(one.kernels, said("1 kernel"), said("%L1 kernels")), timeCell(one.time).text,
                         shareCell(static_cast<double>(one.time.count()) / static_cast<double>(trace->all.count())).text));
  };
  kernels("A", steps.left.trace);
  kernels("B", steps.right.trace);
  list("A", steps.left.timeline(), steps.pairing.only_left);
  list("B", steps.right.timeline(), steps.pairing.only_right);
  return table;
}

DifferenceTable differencesTable(const ComparedSteps& steps) {
  const std::vector<sim::Span>&left = steps.left.timeline().spans, &right = steps.right.timeline().spans;
  const auto difference = [&](const Pair& pair) {
    return right[pair.right].end - right[pair.right].start - (left[pair.left].end - left[pair.left].start);
  };
  DifferenceTable found{{{said("Task"), said("Rank"), said("A"), said("B"), said("Difference"), said("B / A")}, {}, {}},
                        steps.pairing.pairs};
  const auto more = [&](const Pair& a, const Pair& b) {
    const sim::SimTime one = std::chrono::abs(difference(a)), other = std::chrono::abs(difference(b));
    return one != other ? one > other : a.right < b.right;
  };
  const std::size_t kept = std::min(kMostDifferences, found.pairs.size());
  std::partial_sort(found.pairs.begin(), found.pairs.begin() + static_cast<std::ptrdiff_t>(kept), found.pairs.end(), more);
  found.pairs.resize(kept);
  for (const Pair& pair : found.pairs) {
    const double ratio = ratioOf(steps, pair);
    found.table.rows.push_back({{textOf(sim::to_text(right[pair.right].key)), {}},
                                {rankName(steps.right.timeline(), right[pair.right]), right[pair.right].device.value()},
                                timeCell(left[pair.left].end - left[pair.left].start),
                                timeCell(right[pair.right].end - right[pair.right].start),
                                timeCell(difference(pair)),
                                {ratio < 1000 ? QString::number(ratio, 'f', 2) : QStringLiteral("> 1000"), ratio}});
  }
  return found;
}

}  // namespace gui
