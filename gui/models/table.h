// Any table of the window: cells of text, each with the value it sorts by. Made by the other files of this room; shown by the item model.
#pragma once

#include <QStringList>
#include <QVariant>
#include <cstdint>
#include <vector>

namespace gui {

enum class CellUnit : std::uint8_t { None, Picoseconds, Seconds, Bytes, Share };  // of the value it sorts by
struct Cell {
  QString text;
  QVariant sort;  // a number aligns to the right; invalid: the text itself
  CellUnit unit = CellUnit::None;
};
struct Table {
  QStringList headers;
  std::vector<std::vector<Cell>> rows;
  std::vector<bool> marked;  // rows in bold; empty: none
};
bool isNumber(const Cell& cell);
QString csvOf(const Table& table);  // RFC 4180: numbers as they are, their unit behind the header; other texts as shown

}  // namespace gui
