#include "planner/search.h"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <numeric>

#include "planner/evaluator.h"
#include "planner/explanation.h"
#include "planner/frontier.h"
#include "planner/search_space.h"
#include "planner/why_not_best.h"
#include "sim/cost/memory_interval.h"
#include "sim/engine/out_of_memory.h"
#include "sim/units/unit_text.h"

namespace planner {
namespace {

using sim::to_text;

class Search {
 public:
  Search(const SearchRequest& request, const Progress& progress, const std::atomic<bool>* cancel)
      : request_(request),
        progress_(progress),
        cancel_(cancel),
        model_(sim::make_model_graph(request.model, {request.vocabulary_multiple})),
        space_(enumerate(request)),
        judgements_(space_.candidates.size()),
        frontier_(static_cast<std::size_t>(std::max(1, request.top))),
        safe_(sim::most_occupied(request.cluster, {.limit = memory_limit(request), .chance = request.risk})) {}

  SearchResult run();

 private:
  bool canceled() const { return cancel_ != nullptr && cancel_->load(std::memory_order_relaxed); }
  void tell(std::int64_t done);
  void judge_all();
  void simulate_open();
  std::vector<std::int64_t> next_wave(std::vector<std::int64_t>& open) const;
  void simulate_wave(const std::vector<std::int64_t>& wave);
  void take(std::int64_t index, sim::SimulationResult result);
  void keep_needed_results();
  void tell_twins(std::int64_t index);
  Outcome bound(std::int64_t index) const;
  bool is_surely_risky(std::int64_t index) const { return bound(index).memory > safe_; }
  bool can_matter(std::int64_t index) const;
  RankedPlan plan_of(const Outcome& outcome) const;
  RankedPlan ranked(const Outcome& outcome) const;
  std::vector<RankedPlan> risky() const;
  void count(SearchResult& result) const;
  std::string proof(const SearchResult& result) const;

  const SearchRequest& request_;
  const Progress& progress_;
  const std::atomic<bool>* cancel_;
  sim::ModelGraph model_;
  SearchSpace space_;
  std::vector<Judgement> judgements_;
  Frontier frontier_;
  sim::Bytes safe_;                                        // what occupies more is too risky
  std::optional<Outcome> fastest_risky_;                   // that is simulated
  std::map<std::int64_t, sim::SimulationResult> results_;  // of what the frontier holds, and of that
  std::int64_t simulated_ = 0, too_large_by_simulation_ = 0, risky_by_simulation_ = 0;
  std::mutex telling_;
  std::int64_t done_ = 0;
};

void Search::tell(std::int64_t done) {
  const std::lock_guard lock(telling_);
  done_ += done;
  if (progress_ && done > 0) progress_({.done = done_, .all = static_cast<std::int64_t>(judgements_.size())});
}

Outcome Search::bound(std::int64_t index) const {
  const Judgement& judgement = judgements_[static_cast<std::size_t>(index)];
  return {.time = judgement.time, .memory = judgement.memory, .index = index};
}

// Candidates of one mesh share prices: one evaluator each.
void Search::judge_all() {
  std::vector<std::size_t> meshes;
  for (std::size_t at = 0; at < space_.candidates.size(); ++at)
    if (at == 0 || !(space_.candidates[at].mesh == space_.candidates[at - 1].mesh)) meshes.push_back(at);
  meshes.push_back(space_.candidates.size());
  tbb::parallel_for(std::size_t{0}, meshes.size() - 1, [&](std::size_t mesh) {
    Evaluator evaluator(request_, model_);
    std::int64_t refused = 0;
    for (std::size_t at = meshes[mesh]; at < meshes[mesh + 1] && !canceled(); ++at) {
      judgements_[at] = evaluator.judge(space_.candidates[at]);
      if (judgements_[at].verdict != Verdict::Open) ++refused;
    }
    tell(refused);
  });
}

// Of plans that are surely too risky the fastest is told, if it is faster than the best.
bool Search::can_matter(std::int64_t index) const {
  if (!is_surely_risky(index)) return frontier_.can_enter(bound(index));
  const bool gains = frontier_.ranked().empty() || bound(index).time < frontier_.ranked().front().time;
  return gains && (!fastest_risky_ || bound(index) < *fastest_risky_);
}

// What is simulated together: the front of the bounds, and as many of the fastest as are ranked. Whatever else their simulations may
// beat waits for them. Threads play no part in the choice, so they do not change what is simulated.
std::vector<std::int64_t> Search::next_wave(std::vector<std::int64_t>& open) const {
  std::vector<std::int64_t> wave, later;
  const auto beaten_by_wave = [&](std::int64_t index) {
    return std::any_of(wave.begin(), wave.end(),
                       [&](std::int64_t other) { return !is_surely_risky(other) && dominates(bound(other), bound(index)); });
  };
  const std::size_t ranked = static_cast<std::size_t>(std::max(1, request_.top));
  std::size_t risky = 0;
  for (const std::int64_t index : open) {
    if (!can_matter(index)) continue;
    if (is_surely_risky(index)) {  // one of them at a time, which may spare the others
      (risky++ == 0 ? wave : later).push_back(index);
      continue;
    }
    const bool fills_ranking = frontier_.ranked().empty() && wave.size() < ranked + risky;
    (fills_ranking || !beaten_by_wave(index) ? wave : later).push_back(index);
  }
  open = std::move(later);
  return wave;
}

// ZeRO 1 and 2 run the same tasks (gradients are reduced after the last microbatch), so they take the same time and differ in memory:
// the simulation of one is the time of the other.
void Search::tell_twins(std::int64_t index) {
  const PlanCandidate& simulated = space_.candidates[static_cast<std::size_t>(index)];
  if (simulated.zero_stage != 1 && simulated.zero_stage != 2) return;
  PlanCandidate twin = simulated;
  twin.zero_stage = 3 - simulated.zero_stage;
  const auto is_near = [&](std::int64_t at) {  // candidates of one shape follow each other
    return at >= 0 && at < static_cast<std::int64_t>(judgements_.size()) &&
           space_.candidates[static_cast<std::size_t>(at)].mesh == twin.mesh &&
           space_.candidates[static_cast<std::size_t>(at)].microbatch == twin.microbatch &&
           space_.candidates[static_cast<std::size_t>(at)].chunks == twin.chunks;
  };
  const std::int64_t step = twin.zero_stage > simulated.zero_stage ? 1 : -1;
  for (std::int64_t at = index + step; is_near(at); at += step) {
    Judgement& judgement = judgements_[static_cast<std::size_t>(at)];
    if (!(space_.candidates[static_cast<std::size_t>(at)] == twin)) continue;
    if (judgement.verdict == Verdict::Open) judgement.time = judgements_[static_cast<std::size_t>(index)].time;
    return;
  }
}

// The largest first: nobody waits for one long simulation at the end.
void Search::simulate_wave(const std::vector<std::int64_t>& wave) {
  const auto size = [&](std::size_t at) {
    const PlanCandidate& candidate = space_.candidates[static_cast<std::size_t>(wave[at])];
    return candidate.mesh.pipeline * (request_.workload.global_batch / candidate.mesh.data / candidate.microbatch);
  };
  std::vector<std::size_t> order(wave.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  std::vector<sim::SimulationResult> results(wave.size());
  std::atomic<std::size_t> next{0};
  tbb::parallel_for(std::size_t{0}, wave.size(), [&](std::size_t) {
    const std::size_t at = order[next++];
    if (canceled()) return;
    results[at] = simulate(model_, Evaluator(request_, model_).plan(space_.candidates[static_cast<std::size_t>(wave[at])]));
    tell(1);
  });
  if (canceled()) return;
  for (std::size_t at = 0; at < wave.size(); ++at) {
    Judgement& judgement = judgements_[static_cast<std::size_t>(wave[at])];
    judgement = {.verdict = Verdict::Simulated, .memory = results[at].peak_memory, .time = results[at].step_time};
    ++simulated_;
    tell_twins(wave[at]);
    take(wave[at], std::move(results[at]));
  }
  keep_needed_results();
}

void Search::take(std::int64_t index, sim::SimulationResult result) {
  Judgement& judgement = judgements_[static_cast<std::size_t>(index)];
  if (judgement.memory > memory_limit(request_) || !result.host_fits) {
    judgement.verdict = Verdict::TooLarge;
    ++too_large_by_simulation_;
    return;
  }
  const sim::ParallelPlan plan = Evaluator(request_, model_).plan(space_.candidates[static_cast<std::size_t>(index)]);
  if (sim::out_of_memory_chance(plan, result, memory_limit(request_)) > request_.risk) {
    judgement.verdict = Verdict::TooRisky;
    ++risky_by_simulation_;
    if (fastest_risky_ && !(bound(index) < *fastest_risky_)) return;
    fastest_risky_ = bound(index);
  } else {
    frontier_.add(bound(index));
  }
  results_[index] = std::move(result);
}

void Search::keep_needed_results() {
  std::map<std::int64_t, sim::SimulationResult> needed;
  for (const auto* list : {&frontier_.ranked(), &frontier_.pareto()})
    for (const Outcome& outcome : *list)
      if (const auto result = results_.find(outcome.index); result != results_.end()) needed.insert(results_.extract(result));
  if (fastest_risky_)
    if (const auto result = results_.find(fastest_risky_->index); result != results_.end()) needed.insert(results_.extract(result));
  results_ = std::move(needed);
}

void Search::simulate_open() {
  std::vector<std::int64_t> open;
  for (std::size_t at = 0; at < judgements_.size(); ++at)
    if (judgements_[at].verdict == Verdict::Open) open.push_back(static_cast<std::int64_t>(at));
  std::sort(open.begin(), open.end(), [&](std::int64_t a, std::int64_t b) { return bound(a) < bound(b); });
  while (!open.empty() && !canceled()) {
    const std::size_t before = open.size();
    const std::vector<std::int64_t> wave = next_wave(open);
    tell(static_cast<std::int64_t>(before - open.size() - wave.size()));
    simulate_wave(wave);
  }
  if (canceled()) return;
  for (Judgement& judgement : judgements_)
    if (judgement.verdict == Verdict::Open) judgement.verdict = judgement.memory > safe_ ? Verdict::TooRisky : Verdict::Beaten;
}

RankedPlan Search::plan_of(const Outcome& outcome) const {
  RankedPlan plan;
  plan.plan = Evaluator(request_, model_).plan(space_.candidates[static_cast<std::size_t>(outcome.index)]);
  plan.result = results_.at(outcome.index);
  plan.plan.predictions =
      sim::Predictions{.step_time = sim::to_seconds(outcome.time), .peak_memory = outcome.memory, .hash = sim::plan_hash(plan.plan)};
  plan.out_of_memory_chance = sim::out_of_memory_chance(plan.plan, plan.result, memory_limit(request_));
  return plan;
}

RankedPlan Search::ranked(const Outcome& outcome) const {
  RankedPlan plan = plan_of(outcome);
  const sim::SimulationResult& best = results_.at(frontier_.ranked().front().index);
  if (outcome != frontier_.ranked().front()) plan.reasons = why_not_best(plan.result, best);
  plan.why_not_best = to_sentence(plan.reasons);
  return plan;
}

std::vector<RankedPlan> Search::risky() const {
  const bool has_best = !frontier_.ranked().empty();
  if (!fastest_risky_ || (has_best && fastest_risky_->time >= frontier_.ranked().front().time)) return {};
  RankedPlan plan = plan_of(*fastest_risky_);
  const auto share = [](double of_one) { return sim::percent(of_one); };
  plan.reasons = {{"risk", {{"chance", share(plan.out_of_memory_chance)}, {"risk", share(request_.risk)}}}};
  if (has_best) {
    const double best = sim::to_seconds(frontier_.ranked().front().time).count(), own = sim::to_seconds(fastest_risky_->time).count();
    plan.reasons.push_back({"faster", {{"percent", share(1 - own / best)}}});
  }
  plan.why_not_best = to_sentence(plan.reasons);
  return {plan};
}

void Search::count(SearchResult& result) const {
  const auto of = [&](Verdict verdict) {
    return std::count_if(judgements_.begin(), judgements_.end(), [&](const Judgement& judgement) { return judgement.verdict == verdict; });
  };
  result.candidates = static_cast<std::int64_t>(judgements_.size());
  result.infeasible = of(Verdict::Illegal) + of(Verdict::NotRunnable);
  result.pruned_memory = of(Verdict::TooLarge) - too_large_by_simulation_;
  result.pruned_risk = of(Verdict::TooRisky) - risky_by_simulation_;
  result.pruned_bound = of(Verdict::Beaten);
  result.simulated = simulated_;
}

std::string Search::proof(const SearchResult& result) const {
  const std::string counts = fmt::format(
      "{} candidates: {} against a rule, {} above {} by a lower bound on memory, {} more likely than {} to run out of it, {} beaten by "
      "their "
      "bounds, {} simulated",
      result.candidates, result.infeasible, result.pruned_memory, to_text(memory_limit(request_)), result.pruned_risk,
      sim::percent(request_.risk), result.pruned_bound, result.simulated);
  if (canceled()) return fmt::format("canceled, nothing is proven; {}", counts);
  if (result.ranked.empty()) return fmt::format("no plan is feasible; {}", counts);
  return fmt::format(
      "best, top {} and Pareto front hold over {}. Beaten: step time bound above that of plan {} ({}), and a simulated plan is at most as "
      "slow and as large as the bounds",
      result.ranked.size(), counts, result.ranked.size(), to_text(sim::to_seconds(frontier_.ranked().back().time)));
}

SearchResult Search::run() {
  judge_all();
  if (!canceled()) simulate_open();
  SearchResult result;
  for (const Outcome& outcome : frontier_.ranked()) result.ranked.push_back(ranked(outcome));
  for (const Outcome& outcome : frontier_.pareto()) result.pareto.push_back(ranked(outcome));
  result.risky = risky();
  count(result);
  result.proof = proof(result);
  result.excluded = std::move(space_.excluded);
  if (canceled()) return result;
  const sim::SimTime worst = frontier_.ranked().empty() ? sim::SimTime{} : frontier_.ranked().back().time;
  std::vector<Exclusion> families = excluded_families({request_, model_, space_.candidates, judgements_}, worst);
  result.excluded.insert(result.excluded.end(), std::make_move_iterator(families.begin()), std::make_move_iterator(families.end()));
  return result;
}

}  // namespace

SearchResult search(const SearchRequest& request, const Progress& progress, const std::atomic<bool>* cancel) {
  SearchResult result = Search(request, progress, cancel).run();
  const bool is_canceled = cancel != nullptr && cancel->load(std::memory_order_relaxed);
  const bool has_asked = request.offload || request.fixed.count("offload_optimizer") + request.fixed.count("offload_activations") > 0;
  const bool has_host = request.cluster.hardware.kind == sim::DeviceKind::Gpu;  // a CPU rank's host is itself
  if (!result.ranked.empty() || is_canceled || has_asked || !has_host) return result;
  SearchRequest with_host = request;
  with_host.offload = true;
  SearchResult offloaded = Search(with_host, progress, cancel).run();
  if (offloaded.ranked.empty()) return result;
  if (offloaded.risky.empty()) offloaded.risky = std::move(result.risky);
  return offloaded;
}

}  // namespace planner
