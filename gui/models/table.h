// Any table of the window: cells of text, each with the value it sorts by. Made by the other files of this room; shown by the item model.
#pragma once

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
bool isNumber(const Cell& cell);
QString csvOf(const Table& table);  // RFC 4180, the texts as shown

}  // namespace gui
