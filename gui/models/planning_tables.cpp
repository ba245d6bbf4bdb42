#include "gui/models/planning_tables.h"

#include <QCoreApplication>
#include <algorithm>

#include "gui/models/cells.h"
#include "gui/models/reason_text.h"
#include "planner/outlook.h"
#include "sim/plan/field_uses.h"
#include "sim/plan/field_words.h"
#include "sim/units/unit_text.h"

namespace gui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("PlanningTables", text); }

// What a plan says in a field; "–" where it says nothing. The cut is told where it is not even.
QString settingText(const sim::PlanField& field, const sim::ParallelPlan& plan) {
  const QString nothing = QStringLiteral("–");
  if (!sim::has_use(field, plan)) return nothing;
  if (field.name == "cut" && plan.cut.first == sim::even_cut(plan.model.inner_layers(), plan.pipeline_shape()).first) return tr("even");
  const sim::FieldValue value = field.access.get(plan);
  if (const bool* on = std::get_if<bool>(&value)) return *on ? tr("yes") : tr("no");
  const std::string said = sim::said_of(field, plan);
  if (const auto* bytes = std::get_if<sim::Bytes>(&value); bytes != nullptr && said == sim::to_text(value)) return bytesCell(*bytes).text;
  return nameText(said);
}

Cell settingCell(const sim::PlanField& field, const sim::ParallelPlan& plan) {
  Cell cell{settingText(field, plan), {}};
  const sim::FieldValue value = field.access.get(plan);
  if (const auto* number = std::get_if<std::int64_t>(&value)) cell.sort = static_cast<qlonglong>(*number);
  if (const auto* bytes = std::get_if<sim::Bytes>(&value)) cell = {cell.text, static_cast<qlonglong>(bytes->value()), CellUnit::Bytes};
  return cell;
}

bool isTied(const planner::RankedPlan& plan) { return plan.slower_chance < planner::kSureOrder; }

using Fields = std::vector<const sim::PlanField*>;
// Settings of a layout that plans may differ in; microbatches follow from the others, an order of its own is a file.
Fields settings() {
  Fields fields;
  for (const sim::PlanField& field : sim::plan_fields())
    if (field.role == sim::FieldRole::Layout && field.name != "microbatches" && field.name != "order") fields.push_back(&field);
  return fields;
}

// What is said of plans by what they are ranked by, one row an objective. Read with tr().
struct RankingWords {
  const char *measure, *truly, *tie, *none, *noneMore, *proven;
};
constexpr RankingWords kRankingWords[] = {
    {"", QT_TRANSLATE_NOOP("PlanningTables", "Truly slower"),
     QT_TRANSLATE_NOOP("PlanningTables", "Plans 1, %1 are one tie (%2 to %3): that plan 1 is faster holds with less than %4"),
     QT_TRANSLATE_NOOP("PlanningTables", "No plan is faster: proven"),
     QT_TRANSLATE_NOOP("PlanningTables", "No plan is more than %1 faster: proven"),
     QT_TRANSLATE_NOOP("PlanningTables", "%L1 proven slower")},
    {"", QT_TRANSLATE_NOOP("PlanningTables", "Truly dearer"),
     QT_TRANSLATE_NOOP("PlanningTables", "Plans 1, %1 are one tie (%2 to %3): that plan 1 is cheaper holds with less than %4"),
     QT_TRANSLATE_NOOP("PlanningTables", "No plan is cheaper: proven"),
     QT_TRANSLATE_NOOP("PlanningTables", "No plan is more than %1 cheaper: proven"),
     QT_TRANSLATE_NOOP("PlanningTables", "%L1 proven dearer")},
    {QT_TRANSLATE_NOOP("PlanningTables", "Energy of a step"), QT_TRANSLATE_NOOP("PlanningTables", "Truly more energy"),
     QT_TRANSLATE_NOOP("PlanningTables", "Plans 1, %1 are one tie (%2 to %3): that plan 1 takes less energy holds with less than %4"),
     QT_TRANSLATE_NOOP("PlanningTables", "No plan takes less energy: proven"),
     QT_TRANSLATE_NOOP("PlanningTables", "No plan takes more than %1 less energy: proven"),
     QT_TRANSLATE_NOOP("PlanningTables", "%L1 proven to take more energy")},
    {QT_TRANSLATE_NOOP("PlanningTables", "Time to train"), QT_TRANSLATE_NOOP("PlanningTables", "Truly longer"),
     QT_TRANSLATE_NOOP("PlanningTables", "Plans 1, %1 are one tie (%2 to %3): that plan 1 trains faster holds with less than %4"),
     QT_TRANSLATE_NOOP("PlanningTables", "No plan trains faster: proven"),
     QT_TRANSLATE_NOOP("PlanningTables", "No plan trains more than %1 faster: proven"),
     QT_TRANSLATE_NOOP("PlanningTables", "%L1 proven to train slower")}};
const RankingWords& wordsOf(planner::Objective objective) { return sim::at(kRankingWords, objective); }

// Hours of all devices for 1e9 tokens.
Cell deviceTimeCell(const planner::RankedPlan& plan) {
  const double hours = plan.plan.cluster.devices * 1e9 / plan.result.tokens_per_second / 3600;
  return {tr("%L1 h").arg(hours, 0, 'f', hours < 10 ? 2 : 0), hours};
}

QString durationText(sim::Seconds time) { return textOf(sim::duration_text(time)); }
QString rangeText(const planner::Outlook& all) { return tr("%1 to %2").arg(durationText(all.low), durationText(all.high)); }

// Of a whole training with a plan, beside the time that it is ranked by.
constexpr const char* kTrainingHeaders[] = {QT_TRANSLATE_NOOP("PlanningTables", "80 % interval"),
                                            QT_TRANSLATE_NOOP("PlanningTables", "Goodput"), QT_TRANSLATE_NOOP("PlanningTables", "Failures"),
                                            QT_TRANSLATE_NOOP("PlanningTables", "Steps a checkpoint")};
std::vector<Cell> trainingCells(const planner::Outlook& all) {
  const Cell interval = all.checkpoint_interval > 0 ? countCell(all.checkpoint_interval) : Cell{QStringLiteral("–"), {}};
  return {{rangeText(all), all.low.count()},
          shareCell(all.goodput),
          {QStringLiteral("%L1").arg(all.failures, 0, 'f', 1), all.failures},
          interval};
}

bool haveOtherDevices(const std::vector<Candidate>& candidates) {
  return std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
    return candidate.plan.plan.cluster.devices != candidates.front().plan.plan.cluster.devices;
  });
}

bool differs(const sim::PlanField& field, const std::vector<Candidate>& candidates) {
  return std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
    return settingText(field, candidate.plan.plan) != settingText(field, candidates.front().plan.plan);
  });
}

}  // namespace

Table candidatesTable(const std::vector<Candidate>& candidates, planner::Objective ranked_by, const planner::WholeTraining& whole) {
  Fields columns = settings();
  std::erase_if(columns, [&](const sim::PlanField* field) { return !differs(*field, candidates); });
  const bool has_devices = haveOtherDevices(candidates);
  Table table;
  table.headers = {tr("#"), tr("Step time"), tr("Peak memory"), tr("OOM chance"), tr(wordsOf(ranked_by).truly)};
  const QString measure = tr(wordsOf(ranked_by).measure);
  if (!measure.isEmpty()) table.headers << measure;
  const bool trains = ranked_by == planner::Objective::TimeToTrain;
  for (const char* header : kTrainingHeaders)
    if (trains) table.headers << tr(header);
  if (has_devices) table.headers << tr("Devices") << tr("Device time, 1e9 tokens");
  for (const sim::PlanField* field : columns) table.headers << headerText(field->words);
  table.headers << tr("MFU") << tr("Bubble") << tr("Tokens/s") << tr("Why not the best");
  for (const Candidate& candidate : candidates) {
    const sim::SimulationResult& result = candidate.plan.result;
    const auto position = static_cast<std::int64_t>(table.rows.size());
    const Cell slower = position == 0 ? Cell{QStringLiteral("–"), 0.0, CellUnit::Share} : shareCell(candidate.plan.slower_chance);
    std::vector<Cell> cells = {countCell(position + 1), timeCell(result.step_time), bytesCell(result.peak_memory),
                               shareCell(candidate.plan.out_of_memory_chance), slower};
    if (position > 0 && isTied(candidate.plan)) cells.front().text += QStringLiteral(" =");
    if (!measure.isEmpty()) cells.push_back({textOf(planner::measure_text(ranked_by, candidate.plan.measure)), candidate.plan.measure});
    if (trains)
      for (Cell& cell : trainingCells(planner::outlook_of(whole, candidate.plan))) cells.push_back(std::move(cell));
    if (has_devices) {
      cells.push_back(countCell(candidate.plan.plan.cluster.devices));
      cells.push_back(deviceTimeCell(candidate.plan));
    }
    for (const sim::PlanField* field : columns) cells.push_back(settingCell(*field, candidate.plan.plan));
    cells.push_back(shareCell(result.mfu));
    cells.push_back(shareCell(result.bubble));
    cells.push_back({QStringLiteral("%L1").arg(result.tokens_per_second, 0, 'f', 0), result.tokens_per_second});
    cells.push_back({position == 0 ? tr("the best") : reasonText(candidate.plan.reasons), {}});
    table.rows.push_back(std::move(cells));
    table.marked.push_back(candidate.on_front);
  }
  return table;
}

QString commonSettings(const std::vector<Candidate>& candidates) {
  constexpr std::string_view kAlways[] = {"data", "pipeline", "tensor", "zero", "recompute"};  // also at their defaults
  if (candidates.empty()) return {};
  const sim::ParallelPlan& plan = candidates.front().plan.plan;
  QStringList texts;
  for (const sim::PlanField* field : settings()) {
    const QString text = settingText(*field, plan);
    const bool is_told = std::find(std::begin(kAlways), std::end(kAlways), field->name) != std::end(kAlways) ||
                         (!sim::is_at_default(*field, plan) && field->name != "cut");
    if (is_told && text != QStringLiteral("–") && !differs(*field, candidates)) texts << nameText(field->words) + ' ' + text;
  }
  return texts.join(QStringLiteral(", "));
}

QString tieText(const PlanAnswer& answer) {
  const std::vector<planner::RankedPlan>& ranked = answer.result.ranked;
  QStringList numbers;
  double last = 0;
  for (std::size_t at = 1; at < ranked.size(); ++at) {
    if (!isTied(ranked[at])) continue;
    numbers << QString::number(at + 1);
    last = std::max(last, ranked[at].measure);
  }
  constexpr qsizetype kShown = 8;
  if (numbers.isEmpty()) return {};
  if (numbers.size() > kShown) numbers = numbers.mid(0, kShown) << QStringLiteral("…");
  const auto text = [&](double measure) { return textOf(planner::measure_text(answer.objective, measure)); };
  return tr(wordsOf(answer.objective).tie)
      .arg(numbers.join(QStringLiteral(", ")), text(ranked.front().measure), text(last), shareCell(planner::kSureOrder).text);
}

QString provenText(const PlanAnswer& answer) {
  const std::optional<double>& gap = answer.result.gap;
  if (!gap || answer.result.ranked.empty()) return {};
  const RankingWords& words = wordsOf(answer.objective);
  return *gap <= 0 ? tr(words.none) : tr(words.noneMore).arg(shareCell(*gap).text);
}

QString trainingText(const PlanAnswer& answer) {
  if (answer.objective != planner::Objective::TimeToTrain || answer.result.ranked.empty()) return {};
  const planner::Outlook all = planner::outlook_of(answer.whole, answer.result.ranked.front());
  const QString time = tr("Plan 1 trains %L1 steps in %2 (%3), goodput %4")
                           .arg(answer.whole.steps)
                           .arg(durationText(all.time), rangeText(all), shareCell(all.goodput).text);
  if (all.checkpoint_interval == 0) return time;
  return time + QStringLiteral("; ") +
         tr("%L1 failures, a checkpoint every %L2 steps, of %3")
             .arg(all.failures, 0, 'f', 1)
             .arg(all.checkpoint_interval)
             .arg(durationText(all.save));
}

QString searchText(const PlanAnswer& answer) {
  const planner::SearchResult& result = answer.result;
  if (result.ranked.empty()) return sentenceText(result.proof);
  QStringList rest;
  const auto add = [&](std::int64_t count, const QString& text) {
    if (count > 0) rest << text.arg(count);
  };
  add(result.pruned_bound, tr(wordsOf(answer.objective).proven));
  add(result.pruned_memory, tr("%L1 too large"));
  add(result.pruned_risk, tr("%L1 likely to run out of memory"));
  add(result.infeasible, tr("%L1 against a rule"));
  const QString simulated = tr("%L1 of %L2 plans simulated").arg(result.simulated).arg(result.candidates);
  return rest.isEmpty() ? simulated : simulated + QStringLiteral("; ") + rest.join(QStringLiteral(", "));
}

Table exclusionsTable(const std::vector<planner::Exclusion>& excluded) {
  Table table;
  table.headers = {tr("Family"), tr("Plans"), tr("Constraint"), tr("Why it is out"), tr("Nearest fix")};
  for (const planner::Exclusion& out : excluded)
    table.rows.push_back({{textOf(out.family), {}},
                          countCell(out.candidates),
                          {nameText(out.code), {}},
                          {reasonText(planner::Reason{out.rule, out.arguments}), {}},
                          {out.bound > 0             ? QStringLiteral("–")
                           : out.nearest_fix.empty() ? tr("none close by")
                                                     : textOf(out.nearest_fix),
                           {}}});
  return table;
}

}  // namespace gui
