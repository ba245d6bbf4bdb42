#include "gui/models/planning_tables.h"

#include <QCoreApplication>

#include "gui/models/cells.h"
#include "gui/models/reason_text.h"
#include "sim/cost/gradient_lifetime.h"
#include "sim/plan/plan_fields.h"

namespace gui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("PlanningTables", text); }

// The data degree, and how its ranks are used beside that: replicas of shards, parts of a sample, experts dealt out.
Cell dataCell(const sim::DeviceMesh& mesh) {
  Cell cell = countCell(mesh.data);
  if (mesh.context > 1) cell.text += tr(" × context %1").arg(mesh.context);
  if (mesh.expert > 1) cell.text += tr(", experts over %1").arg(mesh.expert);
  if (mesh.replicas > 1) cell.text += tr(", %1 replicas").arg(mesh.replicas);
  return cell;
}

std::vector<Cell> cellsOf(const Candidate& candidate, int position) {
  const sim::ParallelPlan& plan = candidate.plan.plan;
  const sim::SimulationResult& result = candidate.plan.result;
  const QString recompute = nameText(sim::kRecomputeNames[static_cast<std::size_t>(plan.recompute)]);
  return {countCell(position + 1),
          timeCell(result.step_time),
          bytesCell(result.peak_memory),
          shareCell(candidate.plan.out_of_memory_chance),
          dataCell(plan.mesh),
          countCell(plan.mesh.tensor),
          countCell(plan.mesh.pipeline),
          {plan.mesh.pipeline == 1 ? QStringLiteral("–")
                                   : textOf(plan.schedule) + (plan.chunks > 1 ? QStringLiteral(" × %1").arg(plan.chunks) : QString()),
           {}},
          countCell(plan.microbatch_size),
          countCell(plan.zero_stage),
          {sim::reduces_each(plan) ? tr("each") : tr("last"), {}},
          {plan.offload_optimizer ? recompute + QStringLiteral(", ") + tr("optimizer on the host") : recompute, {}},
          {plan.sequence_parallel ? tr("yes") : tr("no"), {}},
          shareCell(result.mfu),
          shareCell(result.bubble),
          {QStringLiteral("%L1").arg(result.tokens_per_second, 0, 'f', 0), result.tokens_per_second},
          {position == 0 ? tr("the best") : reasonText(candidate.plan.reasons), {}}};
}

// Fields of the layout that have columns, or follow from those that have.
constexpr std::string_view kTold[] = {
    "data",  "pipeline",    "tensor",     "replicas",     "expert", "context",           "vocabulary_multiple", "schedule",
    "order", "chunks",      "microbatch", "microbatches", "cut",    "sequence_parallel", "recompute",           "offload_optimizer",
    "zero",  "accumulation"};

QString unusualText(const sim::ParallelPlan& plan) {
  QStringList texts;
  for (const sim::UnusualField& field : sim::unusual_fields(plan, kTold)) {
    const bool* const is_on = std::get_if<bool>(&field.value);
    const QString value = is_on == nullptr ? nameText(sim::to_text(field.value)) : *is_on ? tr("yes") : tr("no");
    texts << nameText(field.words) + QStringLiteral(" ") + value;
  }
  return texts.join(QStringLiteral(", "));
}

// All others, where some plan has one that is not at its default: before the reasons.
void addOtherFields(Table& table, const std::vector<Candidate>& candidates) {
  std::vector<Cell> cells;
  bool any = false;
  for (const Candidate& candidate : candidates) {
    cells.push_back({unusualText(candidate.plan.plan), {}});
    any = any || !cells.back().text.isEmpty();
  }
  if (!any) return;
  table.headers.insert(table.headers.end() - 1, tr("Otherwise"));
  for (std::size_t row = 0; row < cells.size(); ++row) table.rows[row].insert(table.rows[row].end() - 1, cells[row]);
}

}  // namespace

Table candidatesTable(const std::vector<Candidate>& candidates) {
  Table table;
  table.headers = {tr("#"),        tr("Step time"),       tr("Peak memory"), tr("OOM chance"), tr("Data"),
                   tr("Tensor"),   tr("Pipeline"),        tr("Schedule"),    tr("Microbatch"), tr("ZeRO"),
                   tr("Reduced"),  tr("Recompute"),       tr("Seq. par."),   tr("MFU"),        tr("Bubble"),
                   tr("Tokens/s"), tr("Why not the best")};
  for (const Candidate& candidate : candidates) {
    table.rows.push_back(cellsOf(candidate, static_cast<int>(table.rows.size())));
    table.marked.push_back(candidate.on_front);
  }
  addOtherFields(table, candidates);
  return table;
}

Table exclusionsTable(const std::vector<planner::Exclusion>& excluded) {
  Table table;
  table.headers = {tr("Family"), tr("Plans"), tr("Constraint"), tr("Why it is out"), tr("Nearest fix")};
  for (const planner::Exclusion& out : excluded)
    table.rows.push_back({{textOf(out.family), {}},
                          countCell(out.candidates),
                          {nameText(out.code), {}},
                          {reasonText(planner::Reason{out.rule, out.arguments}), {}},
                          {out.nearest_fix.empty() ? tr("none near by") : textOf(out.nearest_fix), {}}});
  return table;
}

}  // namespace gui
