#include "gui/models/trace_tables.h"

#include <QCoreApplication>

#include "gui/models/cells.h"

namespace gui {
namespace {

QString told(const char* text) { return QCoreApplication::translate("TraceTables", text); }

}  // namespace

Table statisticsTable(const std::vector<SliceStatistics>& statistics, const std::vector<std::string>& names) {
  Table table;
  table.headers = {told("Name"), told("Slices"), told("Total"), told("Mean"), told("Shortest"), told("p99"), told("Longest")};
  for (const SliceStatistics& one : statistics)
    table.rows.push_back({{textOf(names[one.name]), {}},
                          countCell(one.slices),
                          timeCell(one.total),
                          timeCell(one.total / one.slices),
                          timeCell(one.shortest),
                          timeCell(one.p99),
                          timeCell(one.longest)});
  return table;
}

Table ownedTable(const std::vector<OwnedMemory>& owned, const std::vector<std::string>& owners, sim::Bytes before) {
  Table table;
  table.headers = {told("Allocated by"), told("Blocks"), told("Size")};
  if (before > sim::Bytes(0)) table.rows.push_back({{told("before the recording"), {}}, {QStringLiteral("–"), 0}, bytesCell(before)});
  for (const OwnedMemory& one : owned)
    table.rows.push_back({{textOf(owners[one.owner]), {}}, countCell(one.allocations), bytesCell(one.size)});
  return table;
}

Table membersTable(const std::vector<std::pair<std::string, std::string>>& members) {
  Table table;
  table.headers = {told("Event"), told("Value")};
  for (const auto& [name, value] : members) table.rows.push_back({{textOf(name), {}}, {textOf(value), {}}});
  return table;
}

}  // namespace gui
