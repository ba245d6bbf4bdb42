// Candidates that wait to be looked at again, nearest to the result first: by time, of equal ones (within the gap) by memory.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "planner/frontier.h"

namespace planner {

class WaitingList {
 public:
  explicit WaitingList(double gap) : gap_(gap) {}
  void push(const Outcome& bound);
  bool empty() const { return waiting_.empty(); }
  std::int64_t next() const { return waiting_.top().index; }
  std::int64_t pop();

 private:
  struct Waiting {
    std::int64_t time = 0;  // in steps of the gap
    sim::Bytes memory{};
    std::int64_t index = 0;
    auto operator<=>(const Waiting&) const = default;
  };
  double gap_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
};

}  // namespace planner
