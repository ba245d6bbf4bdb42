// A timeline as characters. Declared in timeline.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/timeline/rows.h"
#include "sim/timeline/timeline.h"
#include "sim/units/at.h"
#include "sim/units/unit_text.h"

namespace sim {
namespace {

char letter_of(const TaskKey& key) {
  if (moves_data(key.operation)) return '=';
  switch (key.phase) {
    case Phase::Forward: return 'F';
    case Phase::Backward: return 'B';
    case Phase::Recompute: return 'r';
    case Phase::Weight: return 'W';
    case Phase::Gradients:
    case Phase::Step: return 's';
  }
  return '?';
}

// A cell shows what happens at its middle.
class Line {
 public:
  Line(std::size_t columns, SimTime end) : cells_(columns, '.'), end_(end) {}

  void paint(const Span& span) {
    const std::size_t last = first_cell_from(span.end);
    for (std::size_t cell = first_cell_from(span.start); cell < last; ++cell) cells_[cell] = letter_of(span.key);
  }
  const std::string& text() const { return cells_; }

 private:
  std::size_t first_cell_from(SimTime time) const {  // whose middle is not before `time`
    const double cells = static_cast<double>(time.count()) / static_cast<double>(end_.count()) * static_cast<double>(cells_.size());
    return static_cast<std::size_t>(std::clamp(std::ceil(cells - 0.5), 0.0, static_cast<double>(cells_.size())));
  }

  std::string cells_;
  SimTime end_;
};

std::string scale(std::size_t indent, std::size_t columns, SimTime end) {
  const std::string last = to_text(to_seconds(end));
  const std::size_t gap = columns > last.size() + 1 ? columns - last.size() - 1 : 1;
  return std::string(indent, ' ') + "0" + std::string(gap, ' ') + last + "\n";
}

}  // namespace

std::string picture_text(const Timeline& timeline, Columns columns) {
  const auto width = count_of(std::max(columns.value, 1));
  SimTime end(1);
  for (const Span& span : timeline.spans) end = std::max(end, span.end);
  std::string text;
  std::size_t indent = 0;
  for (const DeviceRow& row : device_rows(timeline)) {
    Line line(width, end);
    for (const bool communicates : {true, false})  // computing is painted over communication that it hides
      for (const Span& span : row.spans)
        if ((moves_data(span.key.operation) || is_of_host(span.stream)) == communicates) line.paint(span);
    indent = row.label.size() + 3;
    text += row.label + " | " + line.text() + "\n";
  }
  return text + scale(indent, width, end);
}

}  // namespace sim
