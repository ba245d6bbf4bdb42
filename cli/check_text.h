// What check and diff print: one screen each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/checked.h"
#include "cli/report.h"
#include "planner/search.h"
#include "sim/calibration/learn.h"

namespace cli {

struct CheckResult {
  planner::SearchRequest request;  // what was asked of the search
  Checked now;
  double measure = 0;  // of the plan, in the unit of the objective
  planner::Improvements improvements;
  planner::SearchResult search;           // for the same program, freely
  std::optional<Checked> better{};        // the best plan taken apart; none: the plan is as good
  std::optional<Checked> before{};        // --against
  std::optional<sim::Learned> learned{};  // --log: what the job's own steps corrected, before anything was priced
  struct Price {                          // --prices: the best under another question; none: no plan is feasible
    std::string words;
    std::optional<sim::Seconds> per_token;
    std::optional<sim::ParallelPlan> plan;
  };
  std::vector<Price> prices{};
  bool fits = false;
  bool to_the_tensor = false, all_changes = false;  // what --why asks for
};
// That a plan of this measure truly is better than the one that is checked; errors that both share cancel.
double chance_better(const CheckResult& check, const sim::ParallelPlan& plan, double measure);
Report check_report(const CheckResult& check);
Report difference_report(const Checked& before, const Checked& now);

// The lines to change, in the words of the program, or as fields of the plan file.
enum class AllLines : std::uint8_t { No, Yes };  // No: as many as a screen has room for
std::vector<std::string> changed_lines(const Subject& subject, const sim::ParallelPlan& after, AllLines all = AllLines::No);

}  // namespace cli
