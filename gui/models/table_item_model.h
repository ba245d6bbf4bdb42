// Any table of the window as a Qt item model: cells of text, each with the value it sorts by. Used by every table; filled by the other
// files of this room. Read only.
#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <QVariant>
#include <vector>

namespace gui {

struct Cell {
  QString text;
  QVariant sort;  // a number aligns to the right; invalid: the text itself
};
struct Table {
  QStringList headers;
  std::vector<std::vector<Cell>> rows;
  std::vector<bool> marked;  // rows in bold; empty: none
};
QString csvOf(const Table& table);  // RFC 4180, the texts as shown

class TableItemModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  static constexpr int kSortRole = Qt::UserRole;
  using QAbstractTableModel::QAbstractTableModel;

  void setTable(Table table);
  const Table& table() const { return table_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  Table table_;
};

}  // namespace gui
