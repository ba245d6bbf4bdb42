#include "cli/plan_screen.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "cli/report.h"
#include "cli/samples_text.h"
#include "cli/table.h"
#include "planner/outlook.h"
#include "planner/unsearched.h"
#include "sim/cluster/whose_speed.h"
#include "sim/cost/prediction_interval.h"
#include "sim/model/model_text.h"
#include "sim/units/at.h"
#include "sim/units/counted.h"
#include "sim/units/unit_text.h"

namespace cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kShownReasons = 3, kShownFamilies = 6;
constexpr std::size_t kWidth = 100, kLongCell = 24, kShortCell = 10;
constexpr std::pair<std::string_view, std::string_view> kBrief[] = {
    {"microbatches", "micro"}, {"peak memory", "memory"}, {"OOM chance", "OOM"}, {"sequence par.", "seq. par."}};
constexpr std::string_view kOtherwise = "otherwise";  // its cells name what they say
constexpr std::string_view kDispensable[] = {"bubble", "tokens/s", "seq. par.", "reduced",
                                             "MFU",    "micro",    kOtherwise};  // by their brief names
constexpr std::string_view kAlways[] = {"#",        "energy", "time to train", "step",
                                        "tokens/s", "MFU",    "peak memory"};  // also where all plans have the same

constexpr std::string_view kBestWay[] = {"fastest way", "cheapest way", "way with the least energy", "way that is through first"};

std::string question(const planner::SearchRequest& request) {
  const std::string memory = request.memory_limit ? fmt::format(", {} a device", sim::to_text(*request.memory_limit)) : "";
  std::string fixed;
  for (const auto& [axis, value] : request.fixed) fixed += fmt::format(" {}={}", axis, value);
  return fmt::format("The {} to train {} on {}{} x {}: sequence {}, global batch {}, {}{}{}{}; speed of {}",
                     sim::at(kBestWay, request.objective), sim::family_and_size(request.model), request.fewer ? "up to " : "",
                     request.cluster.devices, request.cluster.hardware.name, request.workload.sequence, request.workload.global_batch,
                     sim::to_text(request.workload.precision), memory, fixed.empty() ? "" : ", with" + fixed,
                     request.robust ? ", by the time that nine of ten steps stay below" : "", sim::whose_speed(request.cluster).program);
}

// Columns in which all plans are alike become one sentence.
struct Narrowed {
  Rows rows;
  std::string alike;
};
Narrowed narrowed(const Rows& rows) {
  Narrowed narrow{.rows = Rows(rows.size()), .alike = {}};
  for (std::size_t column = 0; column + 1 < rows.front().size(); ++column) {  // the last one holds the reasons
    const std::string& name = rows.front()[column];
    const bool alike = std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return row[column] == rows[1][column]; });
    if (alike && std::find(std::begin(kAlways), std::end(kAlways), name) == std::end(kAlways)) {
      const std::string title = name == kOtherwise ? "" : name + " ";
      if (rows[1][column] != "-") narrow.alike += fmt::format("{}{}{}", narrow.alike.empty() ? "" : ", ", title, rows[1][column]);
      continue;
    }
    for (std::size_t row = 0; row < rows.size(); ++row) narrow.rows[row].push_back(rows[row][column]);
  }
  return narrow;
}

// Of all devices, for 1e9 tokens: money where a price is given, else hours.
std::string spent(const planner::RankedPlan& plan, double price) {
  const double hours = plan.plan.cluster.devices * 1e9 / plan.result.tokens_per_second / 3600;
  return price > 0 ? fmt::format("{:.2f}", hours * price) : fmt::format("{:.2f} h", hours);
}

// Of two plans what they are ranked by, as the table has it.
std::string range(const planner::RankedPlan& first, const planner::RankedPlan& last, planner::Objective objective, double price) {
  if (objective == planner::Objective::Cost) return fmt::format("{} to {} a 1e9 tokens", spent(first, price), spent(last, price));
  return planner::measure_text(objective, first.measure) + " to " + planner::measure_text(objective, last.measure);
}

// Plans that are as good as the first, for all that is known: the first and they.
struct Tie {
  std::vector<std::size_t> numbers{1};
  const planner::RankedPlan* last;
};
Tie tie(const std::vector<planner::RankedPlan>& plans) {
  Tie found{.last = &plans.front()};
  for (std::size_t at = 1; at < plans.size(); ++at) {
    if (plans[at].slower_chance >= planner::kSureOrder) continue;
    found.numbers.push_back(at + 1);
    if (plans[at].measure > found.last->measure) found.last = &plans[at];
  }
  return found;
}

// "1 to 3"; "1, 3" where another one stands between.
std::string numbers_text(const std::vector<std::size_t>& numbers) {
  if (numbers.back() == numbers.size() && numbers.size() > 2) return fmt::format("1 to {}", numbers.size());
  return fmt::format("{}", fmt::join(numbers, ", "));
}

std::string doubt(const sim::PredictionInterval& interval) {
  if (interval.is_even()) return fmt::format("within {:.0f} %: {}", 100 * interval.half_width, interval.basis);
  return fmt::format("from {:.0f} % below to {:.0f} % above: {}", 100 * interval.below(), 100 * interval.above(), interval.basis);
}

// What a robust search ranks by.
void add_percentile(Rows& rows, const std::vector<planner::RankedPlan>& plans) {
  rows[0].emplace_back("9 of 10 below");
  for (std::size_t at = 0; at < plans.size(); ++at) {
    const sim::Seconds step = sim::to_seconds(plans[at].result.step_time);
    const sim::PredictionInterval interval = sim::prediction_interval(plans[at].plan);
    rows[at + 1].push_back(sim::to_text(step * (1 + std::hypot(interval.half_width, interval.late))));
  }
}

void add_costs(Rows& rows, const PlanOptions& options, const std::vector<planner::RankedPlan>& plans) {
  if (options.price == 0 && planner::find_objective(options.objective) != planner::Objective::Cost) return;
  rows[0].emplace_back(options.price > 0 ? "cost a 1e9 tokens" : "device time a 1e9 tokens");
  for (std::size_t at = 0; at < plans.size(); ++at) rows[at + 1].push_back(spent(plans[at], options.price));
}

std::size_t width_of(const Rows& rows) {
  std::size_t width = 0;
  for (std::size_t column = 0; column < rows.front().size(); ++column) {
    std::size_t most = 0;
    for (const auto& row : rows) most = std::max(most, row[column].size());
    width += most + 2;
  }
  return width;
}

// Brief names first, then without what a reader misses least; --all has every column.
void fit(Rows& rows) {
  for (const auto& [name, brief] : kBrief)
    if (width_of(rows) > kWidth) std::ranges::replace(rows.front(), std::string(name), std::string(brief));
  for (const std::string_view name : kDispensable) {
    if (width_of(rows) <= kWidth) return;
    const auto column = std::find(rows.front().begin(), rows.front().end(), name) - rows.front().begin();
    if (column == std::ssize(rows.front())) continue;
    for (auto& row : rows) row.erase(row.begin() + column);
  }
}

using Letters = std::map<std::string, char>;

// Of a table that is too wide long cells are letters, and a line below it says what they stand for.
std::string lettered(Rows& rows, std::size_t longest, Letters& letters) {
  std::string meanings;
  if (width_of(rows) <= kWidth) return meanings;
  for (auto row = rows.begin() + 1; row != rows.end(); ++row)
    for (std::string& cell : *row) {
      if (cell.size() <= longest) continue;
      const auto [letter, is_new] = letters.try_emplace(cell, static_cast<char>('a' + letters.size()));
      if (is_new) meanings += fmt::format("{}({}) {}", meanings.empty() ? "  " : "; ", letter->second, cell);
      cell = fmt::format("({})", letter->second);
    }
  return meanings;
}

// Of plans that have another order than their schedule's; others may be as good in one.
std::string order_line(const std::vector<planner::RankedPlan>& plans) {
  std::string found;
  for (std::size_t at = 0; at < plans.size(); ++at)
    if (plans[at].order_gain > 0)
      found += fmt::format("{}plan {}: -{}", found.empty() ? "" : ", ", at + 1, sim::percent(plans[at].order_gain));
  return found.empty() ? "" : "  order searched for its passes: " + found + "; proven is what schedules' own orders give";
}

// Of the first plan: the training that its step is of.
std::vector<std::string> training_lines(const planner::SearchRequest& request, const planner::RankedPlan& plan) {
  const planner::Outlook all = planner::outlook_of(request, plan);
  const auto time = [](sim::Seconds of) { return sim::duration_text(of); };
  std::vector<std::string> lines{fmt::format("  plan 1: {} ({} to {}) for {} steps, goodput {}", time(all.time), time(all.low),
                                             time(all.high), grouped(request.whole.steps), sim::percent(all.goodput))};
  if (all.checkpoint_interval > 0)
    lines.push_back(
        fmt::format("  {:.1f} failures; a checkpoint every {} steps, of {}", all.failures, all.checkpoint_interval, time(all.save)));
  if (all.spares > 0 || all.waiting > 0)
    lines.push_back(
        fmt::format("  {} held back; waits for repairs {} of the time", sim::counted(all.spares, "node"), sim::percent(all.waiting)));
  return lines;
}

Section best_plans(const PlanOptions& options, const planner::SearchRequest& request, const planner::SearchResult& result) {
  const planner::Objective objective = request.objective;
  Narrowed narrow = narrowed(measured_rows(result.ranked, objective));
  if (options.robust) add_percentile(narrow.rows, result.ranked);
  add_costs(narrow.rows, options, result.ranked);
  Letters letters;
  std::string meanings = lettered(narrow.rows, kLongCell, letters);
  fit(narrow.rows);
  if (const std::string more = lettered(narrow.rows, kShortCell, letters); !more.empty())
    meanings += (meanings.empty() ? "" : ";") + more.substr(1);
  Section section{.heading = "Best plans", .rows = std::move(narrow.rows)};
  if (const Tie tied = tie(result.ranked); tied.numbers.size() > 1) {
    section.heading +=
        fmt::format(": {} are one tie, {}", numbers_text(tied.numbers), range(result.ranked.front(), *tied.last, objective, options.price));
    section.lines.push_back(fmt::format("  one tie: that plan 1 is {} holds with less than {:.0f} %",
                                        objective == planner::Objective::Step ? "faster" : "ahead", 100 * planner::kSureOrder));
  }
  if (!meanings.empty()) section.lines.push_back(meanings);
  if (!narrow.alike.empty()) section.lines.push_back((result.ranked.size() > 1 ? "  in all: " : "  ") + narrow.alike);
  if (const std::string order = order_line(result.ranked); !order.empty()) section.lines.push_back(order);
  if (objective == planner::Objective::TimeToTrain)
    for (std::string& line : training_lines(request, result.ranked.front())) section.lines.push_back(std::move(line));
  const sim::PredictionInterval interval = sim::prediction_interval(result.ranked.front().plan);
  section.lines.push_back("  four of five measured steps lie " + doubt(interval));
  for (const auto& row : samples_rows(result.ranked.front().plan)) section.lines.push_back(fmt::format("  {}: {}", row[0], row[1]));
  return section;
}

Section reasons(planner::Objective objective, const planner::SearchResult& result) {
  Section section{.heading = "Why plan 1"};
  for (std::size_t at = 1; at < std::min(result.ranked.size(), kShownReasons + 1); ++at)
    section.lines.push_back(fmt::format("  plan {} is {}", at + 1, result.ranked[at].why_not_best));
  for (const planner::RankedPlan& risky : result.risky)
    section.lines.push_back(fmt::format("  left aside: {}, {}: {}; --risk lets it compete", plan_summary(risky.plan),
                                        sim::to_text(sim::to_seconds(risky.result.step_time)), risky.why_not_best));
  section.lines.push_back("  " + proof_in_short(result, objective));
  return section;
}

Section next(const PlanOptions& options, const planner::SearchResult& result) {
  const std::string file = options.output.empty() ? "plan.json" : options.output;
  Section section{.heading = "Next"};
  if (options.output.empty()) section.lines.emplace_back("  -o plan.json writes plan 1");
  section.lines.push_back(fmt::format("  meshwright check {}    what holds it back, and what one change would gain", file));
  section.lines.push_back(options.program.empty() ? fmt::format("  meshwright simulate {} --text    its timeline and memory", file)
                                                  : fmt::format("  meshwright export {} --to {} -o recipe/", file, options.program));
  section.lines.push_back(
      fmt::format("  --why: the {} families left out; --all: the Pareto front, all columns; --json: everything", result.excluded.size()));
  return section;
}

// The largest data degree that is out for the batch alone; 0: none.
std::int64_t degree_without_batch(const planner::SearchResult& result) {
  std::int64_t most = 0;
  for (const planner::Exclusion& out : result.excluded)
    if (out.rule == "divisibility.batch")
      for (const planner::Argument& argument : out.arguments)
        if (argument.name == "data") most = std::max<std::int64_t>(most, std::stoll(argument.value));
  return most;
}

// Such a degree has no candidates, and stands behind all families that have some; but another batch is the smallest change.
std::string another_batch(const planner::SearchRequest& request, std::int64_t degree) {
  const std::int64_t batch = request.workload.global_batch, below = batch / degree * degree;
  const std::string either = below > 0 ? fmt::format("{} or {}", below, below + degree) : std::to_string(degree);
  return fmt::format("  global batch {} is not divisible by data degree {}: --global-batch {} lets it compete", batch, degree, either);
}

// The families with most candidates say most about a question without an answer.
Section nothing_found(const planner::SearchRequest& request, const planner::SearchResult& result) {
  std::vector<planner::Exclusion> first = result.excluded;
  std::stable_sort(first.begin(), first.end(),
                   [](const planner::Exclusion& a, const planner::Exclusion& b) { return a.candidates > b.candidates; });
  if (first.size() > kShownFamilies) first.resize(kShownFamilies);
  Section section{.heading = "No plan", .rows = exclusion_rows(first), .lines = {"  " + proof_in_short(result)}};
  const auto has_fix = [](const planner::Exclusion& out) { return !out.nearest_fix.empty(); };
  const auto is_too_large = [](const planner::Exclusion& out) { return out.code == "memory"; };
  if (std::ranges::any_of(first, is_too_large) && std::ranges::none_of(result.excluded, has_fix))
    section.lines.push_back("  nothing nearby fits: take more devices, or a GPU model with more memory, or leave axes of --fix out");
  if (const std::int64_t degree = degree_without_batch(result); degree > 0) section.lines.push_back(another_batch(request, degree));
  return section;
}

Rows unsearched_rows() {
  Rows rows;
  for (const planner::Unsearched& word : planner::unsearched()) rows.push_back({std::string(word.field), std::string(word.because)});
  return rows;
}

}  // namespace

std::string plan_screen(const PlanOptions& options, const planner::SearchRequest& request, const planner::SearchResult& result,
                        const Console& console) {
  Report report{.title = question(request), .sections = {}};
  if (result.ranked.empty()) {
    report.sections.push_back(nothing_found(request, result));
    for (const planner::RankedPlan& risky : result.risky)
      report.sections.push_back(
          {.heading = "",
           .rows = {},
           .lines = {fmt::format("Fits, but left aside: {}: {}. --risk lets it compete", plan_summary(risky.plan), risky.why_not_best)}});
  } else {
    report.sections = {best_plans(options, request, result), reasons(request.objective, result), next(options, result)};
  }
  if (options.why) {
    report.sections.push_back({.heading = "Left out", .rows = exclusion_rows(result.excluded)});
    report.sections.push_back({.heading = "Not searched", .rows = unsearched_rows()});
  }
  return screen_text(report, console);
}

}  // namespace cli
