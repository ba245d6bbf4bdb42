#include "cli/followed_search.h"

#include <fmt/format.h>

#include <atomic>
#include <thread>

#include "cli/interrupt.h"
#include "cli/plan_text.h"
#include "cli/progress.h"

namespace cli {
namespace {

std::string found_so_far(const planner::SearchProgress& now, planner::Objective objective) {
  if (now.best == 0) return "";
  const std::string best = "best " + planner::measure_text(objective, now.best);
  return now.least == 0 || now.least >= now.best ? best : best + ", " + nothing_better(objective, now.best / now.least - 1);
}

}  // namespace

FollowedSearch followed_search(SearchWay way, const planner::SearchRequest& request, const std::string& what,
                               std::optional<sim::Seconds> budget) {
  std::atomic<bool> stop{interrupted().load()};
  std::atomic<bool> has_answer{false};
  const std::jthread watch = stop_when_over(budget, has_answer, stop);
  Progress progress(what + ": candidate");
  FollowedSearch followed;
  followed.result = way(
      request,
      [&](planner::SearchProgress now) {
        const bool is_first = now.best > 0 && !has_answer.exchange(true);
        progress.update({.done = now.done, .all = now.all, .details = found_so_far(now, request.objective), .is_news = is_first});
      },
      &stop);
  followed.ended = stop;
  return followed;
}

}  // namespace cli
