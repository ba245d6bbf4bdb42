#include "cli/table.h"

#include <algorithm>
#include <cctype>

namespace cli {
namespace {

bool looks_like_number(const std::string& cell) {
  const std::size_t first = cell.find_first_not_of("+- ");
  return cell.empty() || cell == "-" || (first != std::string::npos && std::isdigit(static_cast<unsigned char>(cell[first])) != 0);
}

struct Column {
  std::size_t width = 0;
  bool numeric = true;
};

std::vector<Column> measure_columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<Column> columns;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    columns.resize(std::max(columns.size(), rows[row].size()));
    for (std::size_t column = 0; column < rows[row].size(); ++column) {
      columns[column].width = std::max(columns[column].width, rows[row][column].size());
      if (row > 0 && !looks_like_number(rows[row][column])) columns[column].numeric = false;
    }
  }
  if (!columns.empty()) columns.back().numeric = columns.size() == 1 && columns.back().numeric;
  return columns;
}

}  // namespace

std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  const std::vector<Column> columns = measure_columns(rows);
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string blanks(columns[column].width - row[column].size(), ' ');
      line += (column == 0 ? "" : "  ") + (columns[column].numeric ? blanks + row[column] : row[column] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace cli
