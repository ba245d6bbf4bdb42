// A table as a Qt item model that sorts and filters itself: small tables at once, large ones on a thread of their own. Rows are what is
// visible; positions name rows of the table, however it is arranged. Read only.
#pragma once

#include <QAbstractTableModel>
#include <QThreadPool>
#include <cstdint>
#include <memory>
#include <vector>

#include "gui/models/arrangement.h"
#include "sim/units/at.h"

namespace gui {

class TableItemModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  static constexpr std::size_t kLarge = 5000;  // rows

  explicit TableItemModel(QObject* parent = nullptr);
  ~TableItemModel() override;
  void setTable(Table table);  // unsorted; the filter stays
  const Table& table() const { return *table_; }
  void setFilter(const QString& filter);
  void sort(int column, Qt::SortOrder order) override;

  int positionOf(int row) const { return sim::at(rows_, row); }
  int rowOf(int position) const;  // -1: not visible
  const std::vector<int>& positions() const { return rows_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 Q_SIGNALS:
  void arrangementChanged();

 private:
  void arrange();
  void adopt(std::vector<int> rows);

  std::shared_ptr<const Table> table_ = std::make_shared<Table>();
  Arrangement wanted_;
  std::vector<int> rows_, row_of_;
  std::uint64_t asked_ = 0;  // what is asked later makes an earlier answer void
  QThreadPool pool_;
};

}  // namespace gui
