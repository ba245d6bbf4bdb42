// A table with a title, a filter and a count; sorts by any column.
#pragma once

#include <QWidget>

#include "gui/models/table_item_model.h"

class QLabel;
class QLineEdit;
class QTableView;

namespace gui {

class TablePanel : public QWidget {
  Q_OBJECT
 public:
  enum class Filter { Shown, Hidden };
  TablePanel(const QString& title, Filter filter, QWidget* parent = nullptr);

  void setTable(Table table);
  void setTableInPlace(Table table);  // of as many rows: sorted and chosen as before
  const Table& table() const { return model_->table(); }
  Table visibleTable() const;             // as filtered and sorted
  std::vector<bool> visibleRows() const;  // by position
  void choose(int position);              // -1: none
  int chosen() const;
  void setFilter(const QString& terms);
  void setStretchedColumn(int column) { stretched_ = column; }  // takes the room that is left; of the next table
  QTableView* view() const { return view_; }
  QLineEdit* filterLine() const { return filter_; }

 Q_SIGNALS:
  void rowChosen(int position);
  void rowOpened(int position);  // double click, Enter
  void filterChanged();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;  // the table becomes wider or narrower

 private:
  void copyRow() const;
  void updateCount();
  void fitStretched();  // what is left, but never too little to read
  void arrangeColumns();
  int stretched_ = -1;
  int content_ = 0;         // how wide what the stretched column holds is
  bool filtering_ = false;  // until the model has done it
  TableItemModel* model_;
  QTableView* view_;
  QLineEdit* filter_;
  QLabel* count_;
};

}  // namespace gui
