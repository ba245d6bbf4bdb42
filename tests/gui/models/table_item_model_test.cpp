#include "gui/models/table_item_model.h"

#include <gmock/gmock.h>

#include <QAbstractItemModelTester>

namespace gui {
namespace {

Table exampleTable() { return {{"Name", "Size"}, {{{"a, \"b\"", {}}, {"9 B", 9}}, {{"c", {}}, {"10 B", 10}}}, {false, true}}; }

TEST(TableItemModel, KeepsTheRulesOfModels) {
  TableItemModel model;
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setTable(exampleTable());
  model.setTable({});
  model.setTable(exampleTable());
  EXPECT_EQ(model.rowCount(), 2);
  EXPECT_EQ(model.columnCount(), 2);
}

TEST(TableItemModel, NumbersStandRightAndSortByValue) {
  TableItemModel model;
  model.setTable(exampleTable());
  EXPECT_EQ(model.index(0, 1).data().toString(), "9 B");
  EXPECT_EQ(model.index(0, 1).data(TableItemModel::kSortRole).toInt(), 9);
  EXPECT_TRUE(model.index(0, 1).data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight);
  EXPECT_TRUE(model.index(0, 0).data(Qt::TextAlignmentRole).toInt() & Qt::AlignLeft);
  EXPECT_EQ(model.headerData(1, Qt::Horizontal, Qt::DisplayRole).toString(), "Size");
  EXPECT_TRUE(model.index(1, 0).data(Qt::FontRole).value<QFont>().bold());
  EXPECT_FALSE(model.index(0, 0).data(Qt::FontRole).isValid());
}

TEST(TableItemModel, CsvQuotesWhatNeedsIt) { EXPECT_EQ(csvOf(exampleTable()), "Name,Size\r\n\"a, \"\"b\"\"\",9 B\r\nc,10 B\r\n"); }

}  // namespace
}  // namespace gui
