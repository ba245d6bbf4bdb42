#include "gui/models/comparison_tables.h"

#include <QCoreApplication>

#include "gui/models/cells.h"

namespace gui {
namespace {

QString said(const char* text) { return QCoreApplication::translate("ComparisonTables", text); }

std::vector<Cell> errorCells(const QString& name, const sim::ErrorRow& row) {
  return {{name, {}}, countCell(row.samples), timeCell(row.simulated), timeCell(row.measured), signedShareCell(row.error())};
}

Cell memoryError(const sim::Comparison& comparison) {
  if (comparison.memory_measured == sim::Bytes(0)) return {said("not measured"), 0};
  return signedShareCell(comparison.memory_simulated / comparison.memory_measured - 1);
}

}  // namespace

Table errorsTable(const sim::Comparison& comparison) {
  Table table;
  table.headers = {said("Per step and rank"), said("Samples"), said("Simulated"), said("Measured"), said("Error")};
  table.rows.push_back(errorCells(said("step"), comparison.step));
  for (const sim::ErrorRow& stage : comparison.stages) table.rows.push_back(errorCells(textOf(stage.name), stage));
  for (const sim::ErrorRow& kind : comparison.kinds) table.rows.push_back(errorCells(textOf(kind.name).replace('_', ' '), kind));
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
  return table;
}

Table unmatchedTable(const sim::Comparison& comparison) {
  Table table;
  table.headers = {said("Only"), said("Task without a partner")};
  for (const std::string& key : comparison.only_simulated) table.rows.push_back({{said("simulated"), {}}, {textOf(key), {}}});
  for (const std::string& key : comparison.only_measured) table.rows.push_back({{said("measured"), {}}, {textOf(key), {}}});
  return table;
}

}  // namespace gui
