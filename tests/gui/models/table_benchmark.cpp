// Prints what arranging a table of 100,000 candidates costs: to sort by a number, by text, to filter. Processor time, which a busy
// machine does not stretch; it is spent beside the window's thread.
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "gui/models/arrangement.h"

namespace {

gui::Table candidates(int count) {
  gui::Table table;
  for (const char* header :
       {"Step", "Memory", "Tokens/s", "MFU", "Bubble", "Data", "Tensor", "Pipeline", "Schedule", "ZeRO", "Recompute", "Why"})
    table.headers << QString::fromLatin1(header);
  for (int row = 0; row < count; ++row) {
    const qlonglong value = qlonglong{row} * 7919 % count;
    std::vector<gui::Cell> cells;
    for (int column = 0; column < 8; ++column) cells.push_back({QStringLiteral("%1 ms").arg(value + column), value + column});
    for (int column = 8; column < 12; ++column) cells.push_back({QStringLiteral("interleaved %1").arg(value % 977), {}});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

void measure(const char* what, const gui::Table& table, const gui::Arrangement& arrangement) {
  double worst = 0;
  std::size_t rows = 0;
  for (int round = 0; round < 10; ++round) {
    const std::clock_t begin = std::clock();
    rows = gui::arranged(table, arrangement).size();
    worst = std::max(worst, 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  std::printf("%-16s %7zu rows, worst of 10: %6.1f ms\n", what, rows, worst);
}

}  // namespace

int main() {
  const gui::Table table = candidates(100'000);
  measure("sort by number", table, {.filter = {}, .column = 0});
  measure("sort by text", table, {.filter = {}, .column = 8, .order = Qt::DescendingOrder});
  measure("filter", table, {.filter = "interleaved schedule:97", .column = -1});
}
