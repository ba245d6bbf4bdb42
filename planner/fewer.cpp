#include "planner/fewer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "planner/least_recomputation.h"
#include "planner/outlook.h"
#include "planner/proof.h"
#include "planner/ranked_plan.h"
#include "planner/ranking.h"
#include "planner/searched_orders.h"
#include "sim/units/at.h"

namespace planner {
namespace {

// Of the plans shown: measure ascending, peak memory descending.
std::vector<RankedPlan> front_of(std::vector<RankedPlan> plans) {
  const auto order = [](const RankedPlan& plan) { return std::pair(plan.ranked_by, plan.result.peak_memory); };
  std::stable_sort(plans.begin(), plans.end(), [&](const RankedPlan& a, const RankedPlan& b) { return order(a) < order(b); });
  std::vector<RankedPlan> front;
  for (RankedPlan& plan : plans)
    if (front.empty() || plan.result.peak_memory < front.back().result.peak_memory) front.push_back(std::move(plan));
  return front;
}

class Fewer {
 public:
  Fewer(const SearchRequest& request, const Progress& progress, const std::atomic<bool>* cancel)
      : request_(request), progress_(progress), cancel_(cancel) {}
  SearchResult run();

 private:
  bool canceled() const { return cancel_ != nullptr && cancel_->load(std::memory_order_relaxed); }
  double last() const { return all_.ranked.back().ranked_by; }
  void ask(std::int32_t devices);
  void add(std::int32_t devices, SearchResult found);
  void add_counts(const SearchResult& found);
  void add_excluded(std::int32_t devices, std::vector<Exclusion> excluded);
  void say_what_beats(Exclusion& out) const;

  const SearchRequest& request_;
  const Progress& progress_;
  const std::atomic<bool>* cancel_;
  SearchResult all_;
  double least_ = 0;  // that any plan's measure can be; 0: nothing is known
};

void Fewer::add_counts(const SearchResult& found) {
  all_.candidates += found.candidates;
  all_.infeasible += found.infeasible;
  all_.pruned_memory += found.pruned_memory;
  all_.pruned_risk += found.pruned_risk;
  all_.pruned_bound += found.pruned_bound;
  all_.simulated += found.simulated;
  all_.open += found.open;
  all_.judgements.insert(all_.judgements.end(), found.judgements.begin(), found.judgements.end());
}

// Those that take longer than the last of the ranks so far need not be looked at.
void Fewer::ask(std::int32_t devices) {
  SearchRequest one = request_;
  one.cluster.devices = devices;
  one.whole.reliability.spares = spares_beside(request_, devices);
  one.front = false;
  const bool is_full = std::ssize(all_.ranked) >= request_.top;
  if (is_full) one.ceiling = Ranking(one).rank(last());
  add(devices, search(one, progress_, cancel_));
}

void Fewer::add(std::int32_t devices, SearchResult found) {
  add_counts(found);
  const double best = found.ranked.empty() ? 0 : found.ranked.front().ranked_by;
  const double beyond = !all_.ranked.empty() ? last() / (1 + request_.gap) : 0;  // of what the ceiling left out
  const double least = found.gap ? best / (1 + *found.gap) : beyond;
  if (least > 0) least_ = least_ == 0 ? least : std::min(least_, least);
  if (all_.excluded.empty()) add_excluded(devices, std::move(found.excluded));
  if (found.ranked.empty() && !all_.ranked.empty() && !canceled()) {
    all_.excluded.push_back(exclude(fmt::format("devices={}", devices), {.code = "bound", .arguments = {}}, ""));
    all_.excluded.back().bound = last();
  }
  std::move(found.ranked.begin(), found.ranked.end(), std::back_inserter(all_.ranked));
  std::stable_sort(all_.ranked.begin(), all_.ranked.end(),
                   [](const RankedPlan& a, const RankedPlan& b) { return a.ranked_by < b.ranked_by; });
  if (std::ssize(all_.ranked) > std::max(1, request_.top)) all_.ranked.resize(sim::count_of(std::max(1, request_.top)));
  if (all_.risky.empty()) all_.risky = std::move(found.risky);
}

// The families of the first number stand for all.
void Fewer::add_excluded(std::int32_t devices, std::vector<Exclusion> excluded) {
  for (Exclusion& out : excluded) out.family = fmt::format("devices={} {}", devices, out.family);
  all_.excluded = std::move(excluded);
}

// The last of the ranks is known when every number has been asked.
void Fewer::say_what_beats(Exclusion& out) const {
  const std::int64_t candidates = out.candidates;
  const double bound = out.bound;
  const Objective objective = request_.objective;
  out = exclude(
      out.family,
      {std::string(words_of(objective).bound), {{"bound", measure_text(objective, bound)}, {"time", measure_text(objective, last())}}}, "");
  out.bound = bound;
  out.candidates = candidates;
}

SearchResult Fewer::run() {
  for (const std::int32_t devices : device_counts(request_))
    if (!canceled()) ask(devices);
  compare_to_first(all_.ranked, request_.objective);
  for (Exclusion& out : all_.excluded)
    if (out.bound > 0 && !all_.ranked.empty()) say_what_beats(out);
  all_.pareto = front_of(all_.ranked);
  if (!all_.ranked.empty() && least_ > 0 && !canceled()) all_.gap = std::max(0.0, all_.ranked.front().ranked_by / least_ - 1);
  SearchRequest ranks = request_;
  ranks.front = false;
  all_.proof = proof_of({ranks, all_, canceled(), all_.ranked.empty() ? std::string() : measure_text(request_.objective, last())});
  return std::move(all_);
}

}  // namespace

std::vector<std::int32_t> device_counts(const SearchRequest& request) {
  const std::int32_t node = request.cluster.devices_per_node(), all = request.cluster.devices;
  std::set<std::int32_t, std::greater<>> counts{all};
  for (std::int32_t spares = 1; spares <= request.whole.most_spares; ++spares) counts.insert(all - spares * node);
  if (!request.fewer) return {counts.begin(), counts.end()};
  for (std::int32_t part = all; part >= node; part /= 2)
    for (const std::int32_t count : {part, part / 4 * 3})
      if (count >= node && count % node == 0) counts.insert(count);
  for (std::int32_t part = std::min(node, all) / 2; part >= 1; part /= 2) counts.insert(part);
  return {counts.begin(), counts.end()};
}

SearchResult search_fewer(const SearchRequest& request, const Progress& progress, const std::atomic<bool>* cancel) {
  return Fewer(request, progress, cancel).run();
}

SearchResult search_as_asked(const SearchRequest& request, const Progress& progress, const std::atomic<bool>* cancel) {
  const bool asks_others = request.fewer || request.whole.most_spares > 0;
  SearchResult result = asks_others ? search_fewer(request, progress, cancel) : search(request, progress, cancel);
  recompute_least(request, result, cancel);
  search_orders(request, result, cancel);
  return result;
}

}  // namespace planner
