#include "gui/models/trace_tables.h"

#include <QCoreApplication>

#include "gui/models/cells.h"

namespace gui {
namespace {

QString told(const char* text) { return QCoreApplication::translate("TraceTables", text); }

constexpr std::ptrdiff_t kSelf = 3;  // column, behind the total

// Members that profilers write without their unit; the others say it in their name.
struct MemberUnit {
  std::string_view name;
  enum { Microseconds, Bytes } unit;
};
constexpr MemberUnit kUnits[] = {{"dur", MemberUnit::Microseconds},    {"ts", MemberUnit::Microseconds},
                                 {"bytes", MemberUnit::Bytes},         {"Bytes", MemberUnit::Bytes},
                                 {"shared memory", MemberUnit::Bytes}, {"Total Allocated", MemberUnit::Bytes}};

QString valueText(const std::string& name, const std::string& value) {
  bool is_number = false;
  const double number = textOf(value).toDouble(&is_number);
  for (const MemberUnit& row : kUnits) {
    if (row.name != name || !is_number) continue;
    if (row.unit == MemberUnit::Bytes) return bytesCell(sim::Bytes(static_cast<std::int64_t>(number))).text;
    return name == "ts" ? QStringLiteral("%L1 us").arg(number, 0, 'f', 3) : timeCell(sim::Seconds(number * 1e-6)).text;
  }
  return textOf(value);
}

}  // namespace

std::string spokenName(const std::string& name) { return name.starts_with("void ") ? name.substr(5) : name; }

Table statisticsTable(const std::vector<SliceStatistics>& statistics, const std::vector<std::string>& names, Nesting nesting) {
  Table table;
  table.headers = {told("Name"), told("Slices"), told("Total"), told("Mean"), told("Shortest"), told("p99"), told("Longest")};
  for (const SliceStatistics& one : statistics) {
    table.rows.push_back({{textOf(spokenName(names[one.name])), {}},
                          countCell(one.slices),
                          timeCell(one.total),
                          timeCell(one.total / one.slices),
                          timeCell(one.shortest),
                          timeCell(one.p99),
                          timeCell(one.longest)});
    if (nesting == Nesting::Nested) table.rows.back().insert(table.rows.back().begin() + kSelf, timeCell(one.self));
  }
  if (nesting == Nesting::Nested) table.headers.insert(kSelf, told("Self"));
  return table;
}

Table busyTable(const std::vector<BusyTime>& times) {
  Table table;
  table.headers = {told("Device"),       told("Computing"), told("Communicating"),
                   told("Both at once"), told("Idle"),      told("Hidden communication")};
  for (const BusyTime& one : times) {
    const sim::SimTime range = one.computing + one.communicating - one.both + one.idle;
    const auto share = [](sim::SimTime part, sim::SimTime whole) {
      return whole > sim::SimTime(0) ? shareCell(static_cast<double>(part.count()) / static_cast<double>(whole.count()))
                                     : Cell{QStringLiteral("–"), -1.0, CellUnit::Share};
    };
    table.rows.push_back({{textOf(one.device), {}},
                          share(one.computing, range),
                          share(one.communicating, range),
                          share(one.both, range),
                          share(one.idle, range),
                          share(one.both, one.communicating)});
  }
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
  for (const auto& [name, value] : members) table.rows.push_back({{textOf(name), {}}, {valueText(name, value), {}}});
  return table;
}

}  // namespace gui
