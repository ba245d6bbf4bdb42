#include "planner/waiting_list.h"

#include <algorithm>
#include <cmath>

namespace planner {

void WaitingList::push(const Outcome& bound) {
  const std::int64_t time = bound.time.count();
  const auto steps = [&] { return static_cast<std::int64_t>(std::log(std::max(1.0, static_cast<double>(time))) / std::log1p(gap_)); };
  waiting_.push({.time = gap_ > 0 ? steps() : time, .memory = bound.memory, .index = bound.index});
}

std::int64_t WaitingList::pop() {
  const std::int64_t index = next();
  waiting_.pop();
  return index;
}

}  // namespace planner
