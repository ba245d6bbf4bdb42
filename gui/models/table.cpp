#include "gui/models/table.h"

namespace gui {
namespace {

QString quoted(QString text) {
  if (!text.contains(',') && !text.contains('"') && !text.contains('\n')) return text;
  return '"' + text.replace(QStringLiteral("\""), QStringLiteral("\"\"")) + '"';
}

}  // namespace

bool isNumber(const Cell& cell) {
  return cell.sort.typeId() == QMetaType::Double || cell.sort.typeId() == QMetaType::LongLong || cell.sort.typeId() == QMetaType::Int;
}

QString csvOf(const Table& table) {
  QStringList lines, cells;
  for (const QString& header : table.headers) cells << quoted(header);
  lines << cells.join(',');
  for (const std::vector<Cell>& row : table.rows) {
    cells.clear();
    for (const Cell& cell : row) cells << quoted(cell.text);
    lines << cells.join(',');
  }
  return lines.join(QStringLiteral("\r\n")) + QStringLiteral("\r\n");
}

}  // namespace gui
