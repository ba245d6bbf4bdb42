#include "python/followed_search.h"

#include "planner/fewer.h"

namespace python {

FollowedSearch::FollowedSearch(nb::object progress, std::optional<sim::Seconds> budget)
    : progress_(std::move(progress)), budget_(budget), begin_(std::chrono::steady_clock::now()) {}

planner::SearchResult FollowedSearch::search(const planner::SearchRequest& request) {
  return planner::search_as_asked(
      request,
      [this](planner::SearchProgress now) {
        const std::lock_guard lock(mutex_);
        now_ = now;
      },
      &stop_);
}

void FollowedSearch::glance() {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
  if (budget_ && spent.count() >= budget_->count()) stop_ = true;
  if (progress_.is_none()) return;
  planner::SearchProgress now;
  {
    const std::lock_guard lock(mutex_);
    now = now_;
  }
  progress_(now.done, now.all, now.best);
}

}  // namespace python
