#include "gui/models/plan_tables.h"

#include <QCoreApplication>

#include "gui/models/cells.h"
#include "gui/models/reason_text.h"
#include "sim/cost/memory_interval.h"
#include "sim/cost/prediction_interval.h"

namespace gui {
namespace {

QString words(const char* text) { return QCoreApplication::translate("PlanTables", text); }

template <class Index>
Cell indexCell(Index index) {
  return {index.exists() ? QString::number(index.value()) : QStringLiteral("–"), {}};
}

Cell grouped(std::int64_t count) { return {QStringLiteral("%L1").arg(count), static_cast<qlonglong>(count)}; }

}  // namespace

QString categoryName(sim::MemoryCategory category) { return nameText(sim::kMemoryCategoryNames[static_cast<std::size_t>(category)]); }

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

Table sliceTable(const sim::Span& span, sim::SimTime slack) {
  Table table;
  table.headers = {words("Slice"), words("Value")};
  const sim::TaskKey& key = span.key;
  table.rows = {{{words("Operation"), {}}, {nameText(sim::kOperationNames[static_cast<std::size_t>(key.operation)]), {}}},
                {{words("Phase"), {}}, {nameText(sim::kPhaseNames[static_cast<std::size_t>(key.phase)]), {}}},
                {{words("Start"), {}}, {timeCell(span.start).text, {}}},
                {{words("Duration"), {}}, {timeCell(span.end - span.start).text, {}}},
                {{words("Slack"), {}}, {slack > sim::SimTime(0) ? timeCell(slack).text : words("none: it is critical"), {}}},
                {{words("Stage"), {}}, indexCell(key.stage)},
                {{words("Chunk"), {}}, indexCell(key.chunk)},
                {{words("Microbatch"), {}}, indexCell(key.microbatch)},
                {{words("Layer"), {}}, indexCell(key.layer)},
                {{words("Group"), {}}, {nameText(sim::kMeshAxisNames[static_cast<std::size_t>(key.group)]), {}}},
                {{words("Key"), {}}, {textOf(sim::to_text(key)), {}}}};
  return table;
}

Table aliveTable(const std::vector<AliveItem>& items) {
  Table table;
  table.headers = {words("Alive"), words("Microbatch"), words("Size")};
  for (const AliveItem& item : items)
    table.rows.push_back({{categoryName(item.category), {}}, indexCell(item.microbatch), bytesCell(item.amount)});
  return table;
}

}  // namespace gui
