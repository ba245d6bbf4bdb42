#include "gui/models/arrangement.h"

#include <algorithm>

#include "sim/units/at.h"

namespace gui {
namespace {

struct Term {
  std::vector<std::size_t> columns;
  QString word;
};

std::vector<Term> termsOf(const Table& table, const QString& filter) {
  std::vector<Term> terms;
  for (const QString& text : filter.split(' ', Qt::SkipEmptyParts)) {
    const auto colon = text.indexOf(':');
    Term term{{}, text.mid(colon + 1)};
    for (qsizetype column = 0; column < table.headers.size(); ++column)
      if (colon < 0 || table.headers[column].startsWith(text.left(colon), Qt::CaseInsensitive))
        term.columns.push_back(static_cast<std::size_t>(column));
    terms.push_back(std::move(term));
  }
  return terms;
}

bool matches(const std::vector<Cell>& row, const std::vector<Term>& terms) {
  return std::all_of(terms.begin(), terms.end(), [&](const Term& term) {
    return std::any_of(term.columns.begin(), term.columns.end(),
                       [&](std::size_t column) { return row[column].text.contains(term.word, Qt::CaseInsensitive); });
  });
}

// Keys first, then the sort: comparing QVariants costs more than all the rest.
template <class KeyOf>
void sortBy(std::vector<int>& rows, const Arrangement& arrangement, std::size_t num_rows, KeyOf keyOf) {
  std::vector<decltype(keyOf(0))> keys(num_rows);
  for (const int row : rows) sim::at(keys, row) = keyOf(row);
  const auto less = [&](int a, int b) { return sim::at(keys, a) < sim::at(keys, b); };
  if (arrangement.order == Qt::AscendingOrder)
    std::stable_sort(rows.begin(), rows.end(), less);
  else
    std::stable_sort(rows.begin(), rows.end(), [&](int a, int b) { return less(b, a); });
}

}  // namespace

std::vector<int> arranged(const Table& table, const Arrangement& arrangement) {
  const std::vector<Term> terms = termsOf(table, arrangement.filter);
  std::vector<int> rows;
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    if (matches(table.rows[row], terms)) rows.push_back(static_cast<int>(row));
  if (arrangement.column < 0 || arrangement.column >= table.headers.size()) return rows;
  const auto column = static_cast<std::size_t>(arrangement.column);
  const auto cell = [&](int row) -> const Cell& { return sim::at(table.rows, row)[column]; };
  const bool numbers = std::all_of(rows.begin(), rows.end(), [&](int row) { return isNumber(cell(row)); });
  const bool whole =
      numbers && std::none_of(rows.begin(), rows.end(), [&](int row) { return cell(row).sort.typeId() == QMetaType::Double; });
  if (whole)
    sortBy(rows, arrangement, table.rows.size(), [&](int row) { return cell(row).sort.toLongLong(); });
  else if (numbers)
    sortBy(rows, arrangement, table.rows.size(), [&](int row) { return cell(row).sort.toDouble(); });
  else
    sortBy(rows, arrangement, table.rows.size(), [&](int row) { return cell(row).text; });
  return rows;
}

}  // namespace gui
