#include "sim/schedule/order_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "sim/units/at.h"

namespace sim {
namespace {

struct Cell {
  std::int32_t virtual_stage = 0;
  char kind = 'F';
  MicrobatchIndex microbatch;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\""), end = text.find_last_not_of(" \t\r\"");
  return begin == std::string_view::npos ? std::string_view{} : text.substr(begin, end - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool read_number(std::string_view text, std::int32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= 0 && number < 1'000'000;
}

std::optional<Cell> read_cell(std::string_view text) {
  const std::size_t letter = text.find_first_not_of("0123456789");
  Cell cell;
  std::int32_t microbatch = 0;
  if (letter == std::string_view::npos || std::string_view("FIWB").find(text[letter]) == std::string_view::npos) return std::nullopt;
  if (!read_number(text.substr(0, letter), cell.virtual_stage) || !read_number(text.substr(letter + 1), microbatch)) return std::nullopt;
  cell.kind = text[letter];
  cell.microbatch = MicrobatchIndex(microbatch);
  return cell;
}

bool is_implied(std::string_view text) {
  static constexpr std::string_view kNames[] = {"SEND_F", "RECV_F", "SEND_B", "RECV_B", "UNSHARD", "RESHARD", "REDUCE_GRAD"};
  const std::size_t letter = text.find_first_not_of("0123456789");
  if (letter == std::string_view::npos) return false;
  return std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view name) { return text.substr(letter).starts_with(name); });
}

// "(0F1;1B0)OVERLAP_F_B" is its parts, one after the other.
std::vector<std::string_view> parts_of(std::string_view text) {
  if (!text.starts_with("(")) return {text};
  const std::size_t end = text.find(')');
  return end == std::string_view::npos ? std::vector{text} : split(text.substr(1, end - 1), ';');
}

using Cells = std::vector<std::vector<Cell>>;  // by row

std::string shortened(std::string_view text) {
  constexpr std::size_t kShown = 32;
  return std::string(text.substr(0, kShown)) + (text.size() > kShown ? "..." : "");
}

Cells read_cells(const std::vector<std::string>& rows, std::vector<Violation>& violations) {
  Cells cells(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::vector<std::string_view> columns = split(rows[row], ',');
    for (std::size_t column = 0; column < columns.size(); ++column)
      for (const std::string_view part : parts_of(trimmed(columns[column]))) {
        const std::string_view text = trimmed(part);
        if (text.empty() || is_implied(text)) continue;
        if (const auto cell = read_cell(text))
          cells[row].push_back(*cell);
        else
          violations.push_back({fmt::format("row {}, cell {}", row, column), fmt::format("\"{}\" is no action", shortened(text)),
                                "write them like 0F0, 1I2, 1W2 or 1B2"});
      }
  }
  return cells;
}

// Which placement puts every virtual stage where its row has it.
std::optional<ChunkPlacement> placement_of(const Cells& cells, PipelineShape shape) {
  for (const ChunkPlacement placement : {ChunkPlacement::Loop, ChunkPlacement::V}) {
    bool fits = true;
    for (std::size_t row = 0; row < cells.size(); ++row)
      for (const Cell& cell : cells[row])
        fits = fits && cell.virtual_stage < shape.stages * shape.chunks &&
               site_of(placement, shape, cell.virtual_stage).stage.position() == row;
    if (fits) return placement;
  }
  return std::nullopt;
}

void add_actions(std::vector<StageAction>& actions, const Cell& cell, ChunkIndex chunk, bool splits) {
  if (cell.kind == 'F') actions.push_back({ActionKind::Forward, cell.microbatch, chunk});
  if (cell.kind == 'I' || cell.kind == 'B') actions.push_back({ActionKind::Backward, cell.microbatch, chunk});
  if (cell.kind == 'W' || (cell.kind == 'B' && splits)) actions.push_back({ActionKind::Weight, cell.microbatch, chunk});
}

}  // namespace

OrderTable parse_order(const std::vector<std::string>& rows, std::vector<Violation>& violations) {
  const Cells cells = read_cells(rows, violations);
  OrderTable table;
  std::int32_t last_stage = 0;
  for (const std::vector<Cell>& row : cells)
    for (const Cell& cell : row) {
      last_stage = std::max(last_stage, cell.virtual_stage);
      table.microbatches = std::max(table.microbatches, cell.microbatch.value() + 1);
      table.splits_backward = table.splits_backward || cell.kind == 'I' || cell.kind == 'W';
    }
  const auto stages = static_cast<std::int32_t>(rows.size());
  table.chunks = stages == 0 ? 1 : last_stage / stages + 1;
  const PipelineShape shape{.stages = stages, .microbatches = table.microbatches, .chunks = table.chunks};
  const auto placement = placement_of(cells, shape);
  if (!placement && violations.empty())
    violations.push_back(
        {"",
         fmt::format("{} virtual stages on {} rows are placed neither in a loop (row r: r, r + {}, ...) nor in a V (row r: r, {} - r, ...)",
                     last_stage + 1, stages, stages, 2 * stages - 1),
         "give each row the virtual stages of one of the two"});
  if (!violations.empty()) return table;
  table.placement = *placement;
  table.stages.resize(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (const Cell& cell : cells[row])
      add_actions(table.stages[row], cell, site_of(*placement, shape, cell.virtual_stage).chunk, table.splits_backward);
  return table;
}

std::vector<std::string> order_rows(const OrderTable& table) {
  const PipelineShape shape{
      .stages = static_cast<std::int32_t>(table.stages.size()), .microbatches = table.microbatches, .chunks = table.chunks};
  const std::string_view letters = table.splits_backward ? "FIW" : "FBW";
  std::vector<std::string> rows;
  for (StageIndex stage(0); stage.value() < shape.stages; ++stage) {
    std::string row;
    for (const StageAction& action : table.stages[stage.position()])
      row += fmt::format("{}{}{}{}", row.empty() ? "" : ",", virtual_stage(table.placement, shape, {stage, action.chunk}),
                         sim::at(letters, action.kind), action.microbatch.value());
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace sim
