#include "gui/models/table_item_model.h"

#include <QFont>
#include <numeric>
#include <utility>

#include "sim/units/at.h"

namespace gui {

TableItemModel::TableItemModel(QObject* parent) : QAbstractTableModel(parent) { pool_.setMaxThreadCount(1); }
TableItemModel::~TableItemModel() { pool_.waitForDone(); }

void TableItemModel::setTable(Table table) {
  beginResetModel();
  table_ = std::make_shared<Table>(std::move(table));
  wanted_.column = -1;
  rows_.resize(table_->rows.size());
  std::iota(rows_.begin(), rows_.end(), 0);
  row_of_ = rows_;
  ++asked_;
  endResetModel();
  if (!wanted_.filter.isEmpty()) arrange();
}

void TableItemModel::setFilter(const QString& filter) {
  wanted_.filter = filter;
  arrange();
}

void TableItemModel::sort(int column, Qt::SortOrder order) {
  if (wanted_.column == column && wanted_.order == order) return;
  wanted_.column = column;
  wanted_.order = order;
  arrange();
}

void TableItemModel::arrange() {
  const std::uint64_t number = ++asked_;
  if (table_->rows.size() < kLarge) return adopt(arranged(*table_, wanted_));
  pool_.start([this, number, table = table_, wanted = wanted_] {
    std::vector<int> rows = arranged(*table, wanted);
    QMetaObject::invokeMethod(
        this,
        [this, number, rows = std::move(rows)] {
          if (number == asked_) adopt(rows);
        },
        Qt::QueuedConnection);
  });
}

// What is selected stays selected, wherever it goes.
void TableItemModel::adopt(std::vector<int> rows) {
  Q_EMIT layoutAboutToBeChanged();
  const QModelIndexList before = persistentIndexList();
  std::vector<int> positions;
  for (const QModelIndex& index : before) positions.push_back(positionOf(index.row()));
  rows_ = std::move(rows);
  row_of_.assign(table_->rows.size(), -1);
  for (std::size_t row = 0; row < rows_.size(); ++row) sim::at(row_of_, rows_[row]) = static_cast<int>(row);
  QModelIndexList after;
  for (qsizetype at = 0; at < before.size(); ++at) {
    const int row = rowOf(sim::at(positions, at));
    after << (row < 0 ? QModelIndex() : createIndex(row, before[at].column()));
  }
  changePersistentIndexList(before, after);
  Q_EMIT layoutChanged();
  Q_EMIT arrangementChanged();
}

int TableItemModel::rowOf(int position) const {
  return position >= 0 && std::cmp_less(position, row_of_.size()) ? sim::at(row_of_, position) : -1;
}

int TableItemModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(rows_.size()); }
int TableItemModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(table_->headers.size()); }

QVariant TableItemModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const auto position = static_cast<std::size_t>(positionOf(index.row()));
  const Cell& cell = sim::at(table_->rows[position], index.column());
  switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole: return cell.text;
    case Qt::TextAlignmentRole: return QVariant((isNumber(cell) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::FontRole:
      if (position < table_->marked.size() && table_->marked[position]) {
        QFont bold;
        bold.setBold(true);
        return bold;
      }
      return {};
    default: return {};
  }
}

QVariant TableItemModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= table_->headers.size()) return {};
  if (role == Qt::DisplayRole) return table_->headers[section];
  const bool right = !table_->rows.empty() && isNumber(sim::at(table_->rows.front(), section));
  if (role == Qt::TextAlignmentRole) return QVariant((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  return {};
}

}  // namespace gui
