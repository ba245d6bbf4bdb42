#include "gui/models/table_item_model.h"

#include <gmock/gmock.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

namespace gui {
namespace {

Table exampleTable() { return {{"Name", "Size"}, {{{"a", {}}, {"9 B", 9}}, {{"c", {}}, {"10 B", 10}}}, {false, true}}; }

TEST(TableItemModel, KeepsTheRulesOfModels) {
  TableItemModel model;
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setTable(exampleTable());
  model.setTable({});
  model.setTable(exampleTable());
  model.sort(1, Qt::DescendingOrder);
  model.setFilter("10");
  EXPECT_EQ(model.rowCount(), 1);
  model.setFilter("");
  EXPECT_EQ(model.rowCount(), 2);
  EXPECT_EQ(model.columnCount(), 2);
}

TEST(TableItemModel, NumbersStandRight) {
  TableItemModel model;
  model.setTable(exampleTable());
  EXPECT_EQ(model.index(0, 1).data().toString(), "9 B");
  EXPECT_TRUE(model.index(0, 1).data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight);
  EXPECT_TRUE(model.index(0, 0).data(Qt::TextAlignmentRole).toInt() & Qt::AlignLeft);
  EXPECT_EQ(model.headerData(1, Qt::Horizontal, Qt::DisplayRole).toString(), "Size");
  EXPECT_TRUE(model.index(1, 0).data(Qt::FontRole).value<QFont>().bold());
  EXPECT_FALSE(model.index(0, 0).data(Qt::FontRole).isValid());
}

TEST(TableItemModel, WhatIsRememberedFollowsItsRow) {
  TableItemModel model;
  model.setTable(exampleTable());
  const QPersistentModelIndex first = model.index(0, 1);
  model.sort(1, Qt::DescendingOrder);
  EXPECT_EQ(first.row(), 1);
  EXPECT_EQ(model.positionOf(1), 0);
  model.setFilter("10");
  EXPECT_FALSE(first.isValid());
  EXPECT_EQ(model.rowOf(0), -1);
}

// Large tables are arranged on a thread of their own: asked again before it is done, only the last arrangement shows.
TEST(TableItemModel, LargeTablesDoNotWait) {
  Table table{{"Number", "Text"}, {}, {}};
  for (int row = 0; row < 20000; ++row)
    table.rows.push_back({{QString::number(row * 7919 % 20000), row * 7919 % 20000}, {QStringLiteral("plan"), {}}});
  TableItemModel model;
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setTable(table);
  QSignalSpy arranged(&model, &TableItemModel::arrangementChanged);
  model.sort(0, Qt::AscendingOrder);
  model.setFilter("number:77");
  EXPECT_EQ(model.rowCount(), 20000);
  ASSERT_TRUE(arranged.wait(5000));
  EXPECT_EQ(arranged.count(), 1);
  EXPECT_LT(model.rowCount(), 1000);
  for (int row = 1; row < model.rowCount(); ++row) EXPECT_LT(model.index(row - 1, 0).data().toInt(), model.index(row, 0).data().toInt());
}

}  // namespace
}  // namespace gui
