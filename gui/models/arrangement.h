// Which rows of a table are visible, in which order: every word of the filter must occur in some column of a row; "schedule:1f1b" looks into
// the columns of that name alone. A pure function, so that large tables are arranged beside the window's thread.
#pragma once

#include <vector>

#include "gui/models/table.h"

namespace gui {

struct Arrangement {
  QString filter;
  int column = -1;  // to sort by; -1: as the table stands
  Qt::SortOrder order = Qt::AscendingOrder;
  bool operator==(const Arrangement&) const = default;
};
std::vector<int> arranged(const Table& table, const Arrangement& arrangement);  // positions of rows

}  // namespace gui
