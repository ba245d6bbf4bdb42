// What is simulated so far, and what a candidate would need to matter: the top K by (time, memory, index) and the Pareto front.
// The guarantee of the whole search is can_enter(): a candidate it refuses is in neither list of the whole space.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/units/quantity.h"
#include "sim/units/sim_time.h"

namespace planner {

struct Outcome {  // of a simulation, or a lower bound on one
  sim::SimTime time{};
  sim::Bytes memory{};
  std::int64_t index = 0;                            // of the candidate
  auto operator<=>(const Outcome&) const = default;  // the ranking
};

// At most as long, at most as large; equal in both: the earlier candidate.
bool dominates(const Outcome& a, const Outcome& b);

// The bound as if time and memory were larger by that share: what does not matter then is as good as what is there within the share.
Outcome relaxed(const Outcome& bound, double gap);

class Frontier {
 public:
  struct Tolerance {
    double gap = 0;
    bool holds_for_front = true;            // else for the ranks alone, and pareto() is that of what was added
    std::optional<sim::SimTime> ceiling{};  // nothing that takes as long enters
  };
  explicit Frontier(std::size_t top) : top_(top) {}
  Frontier(std::size_t top, Tolerance tolerance) : top_(top), tolerance_(tolerance) {}

  void add(const Outcome& simulated);
  // False: whatever the simulation says above this bound, the candidate is worse than the K-th best and a simulated plan dominates it, but for the
  // gap: each rank is at most by that share slower than the true one, and beside each plan left out the front has one at most that much slower and larger
  // (where the gap holds for the front).
  bool can_enter(const Outcome& bound) const;

  const std::vector<Outcome>& ranked() const { return ranked_; }  // best first
  const std::vector<Outcome>& pareto() const { return pareto_; }  // time ascending, memory descending

 private:
  std::size_t top_;
  Tolerance tolerance_;
  std::vector<Outcome> ranked_, pareto_;
};

}  // namespace planner
