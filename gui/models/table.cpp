#include "gui/models/table.h"

#include <QLocale>

namespace gui {
namespace {

QString quoted(QString text) {
  if (!text.contains(',') && !text.contains('"') && !text.contains('\n')) return text;
  return '"' + text.replace(QStringLiteral("\""), QStringLiteral("\"\"")) + '"';
}

struct PlainUnit {
  QString name;
  double scale = 1;
};
PlainUnit plainUnit(CellUnit unit) {
  switch (unit) {
    case CellUnit::Picoseconds: return {QStringLiteral(" (s)"), 1e-12};
    case CellUnit::Seconds: return {QStringLiteral(" (s)"), 1};
    case CellUnit::Bytes: return {QStringLiteral(" (B)"), 1};
    case CellUnit::Share: return {QStringLiteral(" (1 = 100 %)"), 1};
    case CellUnit::None: break;
  }
  return {};
}

// Of a column whose cells agree; "–" and the like have none.
CellUnit unitOf(const Table& table, std::size_t column) {
  CellUnit unit = CellUnit::None;
  for (const std::vector<Cell>& row : table.rows) {
    if (row[column].unit == CellUnit::None) continue;
    if (unit != CellUnit::None && row[column].unit != unit) return CellUnit::None;
    unit = row[column].unit;
  }
  return unit;
}

// Without grouping and digits that were rounded away; texts that say more than their number stay.
QString plain(const Cell& cell, CellUnit unit) {
  if (unit != CellUnit::None) {
    if (cell.unit == CellUnit::None) return {};
    if (unit == CellUnit::Bytes) return QString::number(cell.sort.toLongLong());
    return QString::number(cell.sort.toDouble() * plainUnit(unit).scale, 'g', 15);
  }
  bool is_number = false;
  QLocale().toDouble(cell.text, &is_number);
  if (!is_number || !isNumber(cell) || cell.unit != CellUnit::None) return cell.text;
  return cell.sort.typeId() == QMetaType::Double ? QString::number(cell.sort.toDouble(), 'g', 15) : QString::number(cell.sort.toLongLong());
}

}  // namespace

bool isNumber(const Cell& cell) {
  return cell.sort.typeId() == QMetaType::Double || cell.sort.typeId() == QMetaType::LongLong || cell.sort.typeId() == QMetaType::Int;
}

QString csvOf(const Table& table) {
  QStringList lines, cells;
  std::vector<CellUnit> units;
  for (qsizetype column = 0; column < table.headers.size(); ++column) {
    units.push_back(unitOf(table, static_cast<std::size_t>(column)));
    cells << quoted(table.headers[column] + plainUnit(units.back()).name);
  }
  lines << cells.join(',');
  for (const std::vector<Cell>& row : table.rows) {
    cells.clear();
    for (std::size_t column = 0; column < row.size(); ++column) cells << quoted(plain(row[column], units[column]));
    lines << cells.join(',');
  }
  return lines.join(QStringLiteral("\r\n")) + QStringLiteral("\r\n");
}

}  // namespace gui
