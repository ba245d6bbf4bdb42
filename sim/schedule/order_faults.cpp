// Plays a written order action by action: what is missing, twice or too early, and who waits for whom where nobody can go on.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "sim/schedule/order_table.h"
#include "sim/units/at.h"

namespace sim {
namespace {

struct Work {  // an action on its virtual stage
  ActionKind kind{};
  std::int32_t virtual_stage = 0, microbatch = 0;
  auto operator<=>(const Work&) const = default;
};

class Play {
 public:
  explicit Play(const OrderTable& table)
      : table_(table),
        shape_{.stages = static_cast<std::int32_t>(table.stages.size()), .microbatches = table.microbatches, .chunks = table.chunks},
        next_(table.stages.size(), 0) {}

  std::vector<Violation> faults() && {
    count();
    if (!violations_.empty()) return std::move(violations_);
    while (advance()) {
    }
    name_circle();
    return std::move(violations_);
  }

 private:
  Work work(std::size_t row, const StageAction& action) const {
    const ChunkSite site{StageIndex(static_cast<std::int32_t>(row)), action.chunk};
    return {action.kind, virtual_stage(table_.placement, shape_, site), action.microbatch.value()};
  }
  std::string name(const Work& work) const {
    const std::string_view letters = table_.splits_backward ? "FIW" : "FBW";
    return fmt::format("{}{}{}", work.virtual_stage, sim::at(letters, work.kind), work.microbatch);
  }

  void count();
  std::vector<Work> needs(const Work& work) const;
  const Work* missing(const Work& work, std::vector<Work>& needed) const;
  bool advance();
  void name_circle();

  const OrderTable& table_;
  PipelineShape shape_;
  std::vector<std::size_t> next_;       // by row
  std::map<Work, std::size_t> row_of_;  // all work
  std::map<Work, bool> done_;
  std::vector<Violation> violations_;
};

void Play::count() {
  for (std::size_t row = 0; row < table_.stages.size(); ++row)
    for (const StageAction& action : table_.stages[row])
      if (!row_of_.emplace(work(row, action), row).second)
        violations_.push_back({fmt::format("row {}", row), fmt::format("{} is there twice", name(work(row, action))), "keep one of them"});
  for (std::int32_t stage = 0; stage < shape_.stages * shape_.chunks; ++stage)
    for (std::int32_t m = 0; m < shape_.microbatches; ++m)
      for (const ActionKind kind : {ActionKind::Forward, ActionKind::Backward, ActionKind::Weight}) {
        const Work wanted{kind, stage, m};
        if ((kind == ActionKind::Weight && !table_.splits_backward) || row_of_.count(wanted) > 0) continue;
        violations_.push_back(
            {fmt::format("row {}", site_of(table_.placement, shape_, stage).stage.value()), name(wanted) + " is missing", "add it"});
      }
}

std::vector<Work> Play::needs(const Work& work) const {
  const auto other = [&](ActionKind kind, std::int32_t stage) { return Work{kind, stage, work.microbatch}; };
  if (work.kind == ActionKind::Weight) return {other(ActionKind::Backward, work.virtual_stage)};
  if (work.kind == ActionKind::Forward) {
    if (work.virtual_stage == 0) return {};
    return {other(ActionKind::Forward, work.virtual_stage - 1)};
  }
  std::vector<Work> needed{other(ActionKind::Forward, work.virtual_stage)};
  if (work.virtual_stage + 1 < shape_.stages * shape_.chunks) needed.push_back(other(ActionKind::Backward, work.virtual_stage + 1));
  return needed;
}

const Work* Play::missing(const Work& work, std::vector<Work>& needed) const {
  needed = needs(work);
  for (const Work& one : needed)
    if (done_.count(one) == 0) return &one;
  return nullptr;
}

bool Play::advance() {
  bool moved = false;
  std::vector<Work> needed;
  for (std::size_t row = 0; row < next_.size(); ++row)
    for (; next_[row] < table_.stages[row].size(); ++next_[row], moved = true) {
      const Work now = work(row, table_.stages[row][next_[row]]);
      if (missing(now, needed) != nullptr) break;
      done_[now] = true;
    }
  return moved;
}

// From a row that stands still to the row that it waits for, until one comes back.
void Play::name_circle() {
  std::size_t row = 0;
  while (row < next_.size() && next_[row] == table_.stages[row].size()) ++row;
  if (row == next_.size()) return;
  std::string text;
  std::vector<bool> seen(next_.size(), false);
  std::vector<Work> needed;
  while (!seen[row]) {
    seen[row] = true;
    const Work now = work(row, table_.stages[row][next_[row]]);
    const Work* awaited = missing(now, needed);
    const std::size_t other = row_of_.at(*awaited);
    text += fmt::format("{}row {} waits at {} for {} of row {}", text.empty() ? "" : "; ", row, name(now), name(*awaited), other);
    row = other;
  }
  violations_.push_back({"", "nobody can go on: " + text, "move an awaited action before the one at which its row waits"});
}

}  // namespace

std::vector<Violation> order_faults(const OrderTable& table) { return Play(table).faults(); }

}  // namespace sim
