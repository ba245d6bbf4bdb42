#include "gui/models/table_item_model.h"

#include <QFont>

namespace gui {
namespace {

bool isNumber(const Cell& cell) {
  return cell.sort.typeId() == QMetaType::Double || cell.sort.typeId() == QMetaType::LongLong || cell.sort.typeId() == QMetaType::Int;
}

QString quoted(QString text) {
  if (!text.contains(',') && !text.contains('"') && !text.contains('\n')) return text;
  return '"' + text.replace(QStringLiteral("\""), QStringLiteral("\"\"")) + '"';
}

}  // namespace

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

void TableItemModel::setTable(Table table) {
  beginResetModel();
  table_ = std::move(table);
  endResetModel();
}

int TableItemModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(table_.rows.size()); }
int TableItemModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(table_.headers.size()); }

QVariant TableItemModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const auto row = static_cast<std::size_t>(index.row());
  const Cell& cell = table_.rows[row][static_cast<std::size_t>(index.column())];
  switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole: return cell.text;
    case kSortRole: return cell.sort.isValid() ? cell.sort : QVariant(cell.text);
    case Qt::TextAlignmentRole: return QVariant((isNumber(cell) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::FontRole:
      if (row < table_.marked.size() && table_.marked[row]) {
        QFont bold;
        bold.setBold(true);
        return bold;
      }
      return {};
    default: return {};
  }
}

QVariant TableItemModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= table_.headers.size()) return {};
  if (role == Qt::DisplayRole) return table_.headers[section];
  const bool right = !table_.rows.empty() && isNumber(table_.rows.front()[static_cast<std::size_t>(section)]);
  if (role == Qt::TextAlignmentRole) return QVariant((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  return {};
}

}  // namespace gui
