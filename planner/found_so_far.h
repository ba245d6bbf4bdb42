// What a search has simulated so far, as far as its answer needs it: the plans that compete, and the fastest of those that are too risky.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "planner/frontier.h"
#include "planner/search.h"

namespace planner {

class FoundSoFar {
 public:
  explicit FoundSoFar(const SearchRequest& request);  // which must outlive it

  const Frontier& frontier() const { return frontier_; }
  const std::optional<Outcome>& fastest_risky() const { return fastest_risky_; }
  bool has_ranked() const { return !frontier_.ranked().empty(); }
  bool has_ranks() const;  // as many as are asked for

  sim::Bytes safe() const { return safe_; }  // what occupies more is too risky
  bool is_surely_risky(const Outcome& bound) const { return bound.memory > safe_; }
  bool can_matter(const Outcome& bound) const;  // false: it is in no part of the answer
  Verdict dismissed(const Outcome& bound) const {
    return is_surely_risky(bound) ? Verdict::TooRisky : Verdict::Beaten;
  }  // of what cannot matter

  Verdict take(const Outcome& simulated, const sim::ParallelPlan& plan, sim::SimulationResult result);
  void forget_others();  // results that the answer does not need

  const std::map<std::int64_t, sim::SimulationResult>& results() const { return results_; }  // by candidate
  std::int64_t simulated() const { return simulated_; }
  std::int64_t too_large() const { return too_large_; }  // of these
  std::int64_t risky() const { return risky_; }

 private:
  const SearchRequest& request_;
  sim::Bytes safe_;
  Frontier frontier_;
  std::optional<Outcome> fastest_risky_;
  std::map<std::int64_t, sim::SimulationResult> results_;
  std::int64_t simulated_ = 0, too_large_ = 0, risky_ = 0;
};

}  // namespace planner
