#include "gui/models/trace_tables.h"

#include <QCoreApplication>

#include "gui/models/cells.h"

namespace gui {
namespace {

QString told(const char* text) { return QCoreApplication::translate("TraceTables", text); }

}  // namespace

Table statisticsTable(const std::vector<SliceStatistics>& statistics, const std::vector<std::string>& names) {
  Table table;
  table.headers = {told("Name"), told("Slices"), told("Total"), told("Mean"), told("Shortest"), told("Longest")};
  for (const SliceStatistics& one : statistics)
    table.rows.push_back({{textOf(names[one.name]), {}},
                          countCell(one.slices),
                          timeCell(one.total),
                          timeCell(one.total / one.slices),
                          timeCell(one.shortest),
                          timeCell(one.longest)});
  return table;
}

Table membersTable(const std::vector<std::pair<std::string, std::string>>& members) {
  Table table;
  table.headers = {told("Event"), told("Value")};
  for (const auto& [name, value] : members) table.rows.push_back({{textOf(name), {}}, {textOf(value), {}}});
  return table;
}

}  // namespace gui
