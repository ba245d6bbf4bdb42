#include "gui/models/plan_tables.h"

#include <QCoreApplication>

#include "gui/models/cells.h"
#include "gui/models/reason_text.h"
#include "sim/cost/memory_interval.h"
#include "sim/cost/prediction_interval.h"
#include "sim/units/at.h"
#include "sim/units/unit_text.h"

namespace gui {
namespace {

QString words(const char* text) { return QCoreApplication::translate("PlanTables", text); }

template <class Index>
Cell indexCell(Index index) {
  return {index.exists() ? QString::number(index.value()) : QStringLiteral("–"), {}};
}

Cell grouped(std::int64_t count) { return {QStringLiteral("%L1").arg(count), static_cast<qlonglong>(count)}; }

// "8, on one node": how far they are apart.
QString ranksText(const SliceFigures& figures) {
  return figures.on_node == figures.ranks ? words("%L1, on one node").arg(figures.ranks)
                                          : words("%L1, %L2 on a node").arg(figures.ranks).arg(figures.on_node);
}

// What only some slices have: bytes and their rate, products and theirs.
std::vector<std::vector<Cell>> rateRows(const SliceFigures& figures, sim::Seconds time) {
  std::vector<std::vector<Cell>> rows;
  const auto add = [&](const QString& name, const QString& value) { rows.push_back({{name, {}}, {value, {}}}); };
  if (figures.payload > sim::Bytes(0)) {
    add(words("Bytes"), bytesCell(figures.payload).text);
    if (time.count() > 0 && !figures.is_posted)
      add(words("Bytes a second"), textOf(sim::to_text(sim::BytesPerSecond(static_cast<double>(figures.payload.value()) / time.count()))));
  }
  if (figures.ranks > 1) add(words("Ranks of the group"), ranksText(figures));
  if (!figures.algorithm.empty()) add(words("Algorithm"), nameText(figures.algorithm));
  if (figures.flops && time.count() > 0) {
    add(words("Operations"), textOf(sim::to_text(sim::FlopsPerSecond(*figures.flops))).chopped(2));
    add(words("Operations a second"), textOf(sim::to_text(sim::FlopsPerSecond(*figures.flops / time.count()))));
    if (figures.share_of_peak > 0) add(words("Share of the peak"), shareCell(figures.share_of_peak).text);
  }
  if (figures.alone > sim::SimTime(0)) add(words("With its links for itself"), timeCell(figures.alone).text);
  return rows;
}

}  // namespace

QString categoryName(sim::MemoryCategory category) { return nameText(sim::at(sim::kMemoryCategoryNames, category)); }

Table figuresTable(const SimulatedPlan& simulated) {
  const sim::SimulationResult& result = simulated.result;
  const sim::Bytes limit = sim::usable_memory(simulated.plan.cluster);
  const sim::PredictionInterval interval = sim::prediction_interval(simulated.plan);
  const sim::Seconds step = sim::to_seconds(result.step_time);
  const QString range = words("%1 to %2").arg(timeCell(interval.low(step)).text, timeCell(interval.high(step)).text);
  const sim::MemoryInterval memory = sim::memory_interval(simulated.plan, sim::fullest_device(result)->at_peak);
  const QString memory_range =
      words("%1 to %2").arg(bytesCell(memory.low(result.peak_memory)).text, bytesCell(memory.high(result.peak_memory)).text);
  Table table;
  table.headers = {words("Figure"), words("Value")};
  table.rows = {{{words("Step time"), {}}, timeCell(result.step_time)},
                {{words("80 % interval"), {}}, {range, interval.half_width}},
                {{words("Tokens/s"), {}}, {QStringLiteral("%L1").arg(result.tokens_per_second, 0, 'f', 0), result.tokens_per_second}},
                {{words("MFU"), {}}, shareCell(result.mfu)},
                {{words("Bubble"), {}}, shareCell(result.bubble)},
                {{words("Exposed communication"), {}}, shareCell(result.exposed_communication)},
                {{words("Peak memory"), {}}, bytesCell(result.peak_memory)},
                {{words("Memory, 80 %"), {}}, {memory_range, memory.half_width}},
                {{words("Memory of a device"), {}}, bytesCell(limit)},
                {{words("Chance to run out of it"), {}}, shareCell(memory.chance_above(result.peak_memory, limit))},
                {{words("Fits"), {}}, {result.fits ? words("yes") : words("no"), 0}},
                {{words("Devices"), {}}, grouped(simulated.plan.mesh.ranks())},
                {{words("Tasks"), {}}, grouped(result.num_tasks)}};
  return table;
}

Table sliceTable(const SimulatedPlan& simulated, std::uint32_t position) {
  const sim::Span& span = simulated.result.timeline.spans[position];
  const sim::SimTime slack = simulated.critical.slack[position];
  Table table;
  table.headers = {words("Slice"), words("Value")};
  const sim::TaskKey& key = span.key;
  table.rows = {{{words("Operation"), {}}, {nameText(sim::at(sim::kOperationNames, key.operation)), {}}},
                {{words("Phase"), {}}, {nameText(sim::at(sim::kPhaseNames, key.phase)), {}}},
                {{words("Start"), {}}, {textOf(momentText({span.start, span.end - span.start})), {}}},
                {{words("Duration"), {}}, {timeCell(span.end - span.start).text, {}}},
                {{words("Slack"), {}}, {slack > sim::SimTime(0) ? timeCell(slack).text : words("none: it is critical"), {}}},
                {{words("Stage"), {}}, indexCell(key.stage)},
                {{words("Chunk"), {}}, indexCell(key.chunk)},
                {{words("Microbatch"), {}}, indexCell(key.microbatch)},
                {{words("Layer"), {}}, indexCell(key.layer)},
                {{words("Group"), {}}, {nameText(sim::at(sim::kMeshAxisNames, key.group)), {}}},
                {{words("Key"), {}}, {textOf(sim::to_text(key)), {}}}};
  constexpr std::ptrdiff_t kBehindDuration = 4;
  std::vector<std::vector<Cell>> rates = rateRows(figuresOf(simulated, position), sim::to_seconds(span.end - span.start));
  table.rows.insert(table.rows.begin() + kBehindDuration, rates.begin(), rates.end());
  return table;
}

Table aliveTable(const std::vector<AliveItem>& items) {
  Table table;
  table.headers = {words("Alive"), words("Microbatch"), words("Size")};
  for (const AliveItem& item : items)
    table.rows.push_back({{categoryName(item.category), {}}, indexCell(item.microbatch), bytesCell(item.amount)});
  return table;
}

Table tensorsTable(const std::vector<AliveTensors>& tensors, sim::LayerIndex head) {
  const auto layer_name = [head](sim::LayerIndex layer) {
    if (!layer.exists()) return words("no layer");
    return layer == sim::LayerIndex(0) ? words("embedding") : layer == head ? words("head") : words("layer %1").arg(layer.value());
  };
  Table table;
  table.headers = {words("Layer"), words("Tensors"), words("Blocks"), words("Size")};
  for (const AliveTensors& one : tensors) {
    const QString taken_by = one.taken_by ? nameText(sim::at(sim::kOperationNames, *one.taken_by)) + QStringLiteral(" ") : QString();
    table.rows.push_back({{layer_name(one.layer), one.layer.exists() ? QVariant(one.layer.value()) : QVariant(-1)},
                          {taken_by + categoryName(one.category), {}},
                          countCell(one.blocks),
                          bytesCell(one.amount)});
  }
  return table;
}

}  // namespace gui
