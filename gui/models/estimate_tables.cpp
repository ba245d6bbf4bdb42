#include "gui/models/estimate_tables.h"

#include <QCoreApplication>

#include "gui/models/cells.h"
#include "gui/models/reason_text.h"

namespace gui {
namespace {

QString worded(const char* text) { return QCoreApplication::translate("EstimateTables", text); }

Cell gibCell(double gib) {
  constexpr double kGibi = 1 << 30;
  return bytesCell(sim::Bytes(static_cast<std::int64_t>(gib * kGibi)));
}

Cell named(std::string_view name) { return {nameText(name), {}}; }
Cell written(std::string_view name) { return {textOf(name), {}}; }  // as files and papers write it
Cell yesNo(bool yes) { return {yes ? worded("yes") : worded("no"), {}}; }
template <class Kind, std::size_t N>
std::string_view nameOf(Kind kind, const std::string_view (&names)[N]) {
  return names[static_cast<std::size_t>(kind)];
}

std::vector<Cell> cellsOf(const planner::EstimatedLayout& layout, const planner::LayoutRequest& request, int position) {
  const sim::Layout& cut = layout.run.layout;
  const double tokens = static_cast<double>(request.global_batch) * request.network.effective_sequence / layout.step.time.count();
  const QString schedule = cut.pipeline > 1 ? textOf(cut.schedule) + (cut.chunks > 1 ? QStringLiteral(" × %1").arg(cut.chunks) : QString())
                                            : QStringLiteral("–");
  return {countCell(position + 1),
          timeCell(layout.step.time),
          {intervalText(layout), layout.step.low.count()},
          bytesCell(memoryOf(layout)),
          {worded("%1 to %2").arg(gibCell(layout.step.memory_low_gib).text, gibCell(layout.step.memory_high_gib).text),
           layout.step.memory_low_gib},
          shareCell(layout.step.out_of_memory_chance),
          countCell(cut.data),
          countCell(cut.tensor),
          countCell(cut.pipeline),
          countCell(cut.context),
          countCell(cut.expert),
          {schedule, {}},
          {QStringLiteral("%1 × %2").arg(cut.microbatches).arg(cut.micro_batch), static_cast<qlonglong>(cut.microbatches)},
          countCell(cut.zero_stage),
          named(nameOf(layout.run.execution.recompute, sim::kRecomputeKindNames)),
          shareCell(layout.mfu),
          {QStringLiteral("%L1").arg(tokens, 0, 'f', 0), tokens}};
}

}  // namespace

sim::Bytes memoryOf(const planner::EstimatedLayout& layout) {
  constexpr double kGibi = 1 << 30;
  return sim::Bytes(static_cast<std::int64_t>(layout.memory.total_gib * kGibi));
}

QString intervalText(const planner::EstimatedLayout& layout) {
  return worded("%1 to %2").arg(timeCell(layout.step.low).text, timeCell(layout.step.high).text);
}

Table layoutsTable(const Estimate& estimate, std::optional<std::size_t> shown) {
  Table table;
  table.headers = {worded("#"),
                   worded("Step time"),
                   worded("80 % interval"),
                   worded("Memory"),
                   worded("Memory, 80 %"),
                   worded("Too large"),
                   worded("Data"),
                   worded("Tensor"),
                   worded("Pipeline"),
                   worded("Context"),
                   worded("Experts over"),
                   worded("Schedule"),
                   worded("Microbatches"),
                   worded("ZeRO"),
                   worded("Recompute"),
                   worded("MFU"),
                   worded("Tokens/s")};
  for (const planner::EstimatedLayout& layout : estimate.result.ranked)
    table.rows.push_back(cellsOf(layout, estimate.request, static_cast<int>(table.rows.size())));
  table.marked = estimate.on_front;
  if (shown) table.rows[*shown].front().text.prepend(QStringLiteral("● "));
  return table;
}

Table partsTable(const planner::EstimatedLayout& layout) {
  const sim::StepParts& parts = layout.step.parts;
  const sim::MemoryEstimate& memory = layout.memory;
  Table table;
  table.headers = {worded("Made of"), worded("Amount"), worded("Share")};
  const auto time = [&](const QString& name, double seconds) {
    if (seconds > 0) table.rows.push_back({{name, {}}, timeCell(sim::Seconds(seconds)), shareCell(seconds / parts.total())});
  };
  const auto space = [&](const QString& name, double gib) {
    if (gib > 0) table.rows.push_back({{name, {}}, gibCell(gib), shareCell(gib / memory.total_gib)});
  };
  time(worded("the step"), parts.total());
  time(worded("blocks, with bubble and tensor exchange"), parts.pipeline);
  time(worded("gradients, where nothing hides them"), parts.gradients);
  time(worded("optimizer"), parts.optimizer);
  time(worded("gathered weights, where nothing hides them"), parts.gather);
  time(worded("host between steps"), parts.overhead);
  space(worded("the memory"), memory.total_gib);
  space(worded("weights, gradients, optimizer states"), memory.states_gib);
  space(worded("saved activations"), memory.activations_gib);
  space(worded("logits and gathered layers at the peak"), memory.peak_gib);
  space(worded("driver, libraries, what the allocator holds"),
        memory.total_gib - memory.states_gib - memory.activations_gib - memory.peak_gib);
  table.marked.resize(table.rows.size());
  for (std::size_t row = 0; row < table.rows.size(); ++row) table.marked[row] = table.rows[row][2].sort.toDouble() == 1;
  return table;
}

Table assumptionsTable(const Estimate& estimate, const planner::EstimatedLayout& layout) {
  const sim::Execution& does = layout.run.execution;
  const sim::SoftwareStack& software = estimate.request.cluster.software;
  Table table;
  table.headers = {worded("Assumed"), worded("Value")};
  table.rows = {{{worded("software"), {}}, written(software.name)},
                {{worded("precision"), {}}, written(nameOf(does.format, sim::kNumberFormatNames))},
                {{worded("optimizer"), {}}, written(nameOf(does.optimizer, sim::kStepOptimizerNames))},
                {{worded("attention kernel"), {}}, written(nameOf(does.attention, sim::kAttentionKernelNames))},
                {{worded("one kernel for a normalization"), {}}, yesNo(does.fused_norm)},
                {{worded("one kernel for the loss"), {}}, yesNo(does.fused_loss)},
                {{worded("compiled blocks"), {}}, yesNo(does.compiled)},
                {{worded("sequence parallel"), {}}, yesNo(layout.run.layout.sequence_parallel)},
                {{worded("gradients reduced during backward"), {}}, yesNo(does.overlap_reduce)},
                {{worded("weights gathered during computing"), {}}, yesNo(does.overlap_gather)},
                {{worded("tensor exchange during computing"), {}}, yesNo(does.overlap_tensor)},
                {{worded("pipeline exchange during computing"), {}}, yesNo(does.overlap_pipeline)},
                {{worded("bytes of a gradient, sent and summed"), {}},
                 {QStringLiteral("%1, %2").arg(does.reduce_bytes).arg(does.accumulate_bytes), {}}},
                {{worded("driver and libraries"), {}}, gibCell(software.context_gib)},
                {{worded("memory that can be used"), {}}, gibCell(layout.memory.available_gib)},
                {{worded("tokens of a sample"), {}}, countCell(static_cast<std::int64_t>(estimate.request.network.effective_sequence))}};
  if (const auto& experts = estimate.request.network.experts)
    table.rows.push_back({{worded("experts a token"), {}}, {worded("%1 of %2").arg(experts->topk).arg(experts->experts), {}}});
  return table;
}

}  // namespace gui
