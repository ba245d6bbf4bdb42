#include "cli/report.h"

#include <algorithm>
#include <sstream>

#include "cli/table.h"

namespace cli {
namespace {

constexpr std::size_t kDeepest = kScreenColumns / 2;

// Where a line that is too long goes on: under its last cell, if that begins in the left half.
std::size_t indent_of(const std::string& line) {
  std::size_t indent = line.find_first_not_of(' ') == std::string::npos ? 0 : line.find_first_not_of(' ') + 2;
  for (std::size_t at = line.find("  "); at != std::string::npos; at = line.find("  ", at)) {
    at = line.find_first_not_of(' ', at);
    if (at == std::string::npos || at > kDeepest) break;
    indent = at;
  }
  return indent;
}

// The last space of the screen, but not after a digit if there is another: a number keeps its unit.
std::size_t space_to_break(std::string_view line, std::size_t first) {
  const std::size_t last = line.rfind(' ', kScreenColumns);
  for (std::size_t space = last; space != std::string_view::npos && space > first; space = line.rfind(' ', space - 1))
    if (std::isdigit(static_cast<unsigned char>(line[space - 1])) == 0) return space;
  return last;
}

void append_wrapped(std::string& text, std::string line) {
  const std::string blanks(std::min(indent_of(line), kDeepest), ' ');
  while (line.size() > kScreenColumns) {
    std::size_t space = space_to_break(line, blanks.size());
    if (space == std::string::npos || space <= blanks.size()) space = line.find(' ', kScreenColumns);  // a word longer than the screen
    if (space == std::string::npos) break;
    text += line.substr(0, line.find_last_not_of(' ', space) + 1) + "\n";
    line = blanks + line.substr(space + 1);
  }
  text += line + "\n";
}

// A bar within a cell would end it.
std::string cell_text(std::string cell) {
  for (std::size_t at = cell.find('|'); at != std::string::npos; at = cell.find('|', at + 2)) cell.insert(at, "\\");
  return cell;
}

std::string markdown_table(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    text += "|";
    for (const std::string& cell : row) text += " " + cell_text(cell) + " |";
    text += "\n";
    if (&row != &rows.front()) continue;
    text += "|";
    for (std::size_t column = 0; column < row.size(); ++column) text += "---|";
    text += "\n";
  }
  return text;
}

}  // namespace

std::string wrapped(std::string_view text) {
  std::string result, line;
  std::istringstream lines{std::string(text)};
  while (std::getline(lines, line)) append_wrapped(result, line);
  return result;
}

std::string screen_text(const Report& report, const Console& console) {
  std::string text = console.heading(wrapped(report.title).substr(0, wrapped(report.title).size() - 1)) + "\n";
  for (const Section& section : report.sections) {
    text += "\n";
    if (!section.heading.empty()) text += console.heading(section.heading) + "\n";
    if (!section.rows.empty()) text += wrapped(table_text(section.rows));
    for (const std::string& line : section.lines) text += wrapped(line);
  }
  return text;
}

std::size_t num_lines(const Report& report) {
  const std::string text = screen_text(report, Console(Form::Json));
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

std::string markdown_text(const Report& report) {
  std::string text = "## " + report.title + "\n";
  for (const Section& section : report.sections) {
    text += "\n";
    if (!section.heading.empty()) text += "### " + section.heading + "\n\n";
    if (!section.rows.empty()) text += markdown_table(section.rows) + "\n";
    for (const std::string& line : section.lines) text += line + "\n\n";
  }
  return text;
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

}  // namespace cli
