// What became of a set of candidates, in numbers: how many have which verdict, which of them is nearest to being in. Sets that have no candidate in common add up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/judgement.h"
#include "planner/plan_candidate.h"

namespace planner {

class Tally {
 public:
  void add(std::size_t index, const Judgement& judgement);
  void add(const Tally& other);  // in any order: of equal candidates the first counts

  std::int64_t size() const { return size_; }
  std::size_t first() const { return first_; }  // member; there must be one
  std::int64_t count(Verdict verdict) const { return counts_[static_cast<std::size_t>(verdict)]; }
  // The member of that verdict with the shortest bound (Beaten), or the least memory; there must be one.
  std::size_t least(Verdict verdict) const { return least_[static_cast<std::size_t>(verdict)].index; }
  const std::vector<std::size_t>& refused() const { return refused_; }  // by a rule, in no order
  // A rule was asked of some members, and refused each of them.
  bool is_refused() const { return !refused_.empty() && legal_ == 0; }

 private:
  struct Least {
    std::int64_t measure = 0;
    std::size_t index = 0;
  };
  static constexpr std::size_t kVerdicts = static_cast<std::size_t>(Verdict::Simulated) + 1;
  std::int64_t size_ = 0, legal_ = 0;
  std::size_t first_ = 0;
  std::array<std::int64_t, kVerdicts> counts_{};
  std::array<Least, kVerdicts> least_{};
  std::vector<std::size_t> refused_;
};

}  // namespace planner
