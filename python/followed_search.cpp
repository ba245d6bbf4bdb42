#include "python/followed_search.h"

#include "cli/interrupt.h"
#include "planner/fewer.h"

namespace python {

FollowedSearch::FollowedSearch(nb::object progress, std::optional<sim::Seconds> budget) : progress_(std::move(progress)), budget_(budget) {}

planner::SearchResult FollowedSearch::search(const planner::SearchRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    begin_ = std::chrono::steady_clock::now();
    over_ = stop_.load();
    now_ = {};
    has_answer_ = false;
  }
  return planner::search_as_asked(
      request,
      [this](planner::SearchProgress now) {
        const std::lock_guard lock(mutex_);
        now_ = now;
        has_answer_ = has_answer_ || now.best > 0;
        if (stop_) over_ = true;
      },
      &over_);
}

void FollowedSearch::end_when_over() {
  const std::lock_guard lock(mutex_);
  if (!budget_ || begin_ == std::chrono::steady_clock::time_point{}) return;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
  if (cli::is_over(sim::Seconds(spent.count()), budget_, has_answer_)) over_ = true;
}

void FollowedSearch::glance() {
  end_when_over();
  if (progress_.is_none()) return;
  planner::SearchProgress now;
  {
    const std::lock_guard lock(mutex_);
    now = now_;
  }
  progress_(now.done, now.all, now.best);
}

}  // namespace python
