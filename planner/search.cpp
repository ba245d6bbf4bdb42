#include "planner/search.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "planner/evaluator.h"
#include "planner/explanation.h"
#include "planner/found_so_far.h"
#include "planner/known_plan.h"
#include "planner/longest_step.h"
#include "planner/looks.h"
#include "planner/meshes.h"
#include "planner/proof.h"
#include "planner/ranked_plan.h"
#include "planner/ranking.h"
#include "planner/search_space.h"
#include "planner/simulations.h"
#include "planner/twin.h"
#include "planner/waiting_list.h"
#include "sim/units/at.h"
#include "sim/units/input_error.h"

namespace planner {
namespace {

// One round: candidates of several meshes at once, so many whatever the number of threads.
constexpr std::size_t kRefined = 64, kSimulated = 8;
constexpr std::size_t kSimulatedAtFirst = 2;  // until a plan is there to be shown
constexpr std::int64_t kOutlasting = 64;      // simulated plans longer than the clock, where nothing else is found: nothing will be
// Of so many meshes evaluators keep what candidates share. A front asks of hundreds: what is forgotten is made anew for whoever asks again.
constexpr std::size_t kKeptMeshes = 96;

class Search {
 public:
  Search(const SearchRequest& request, const Progress& progress, const std::atomic<bool>* cancel)
      : request_(request),
        progress_(progress),
        cancel_(cancel),
        model_(sim::make_model_graph(request.model, {request.vocabulary_multiple}, request.workload.precision)),
        space_(enumerate(request, cancel)),
        meshes_(request, model_, space_.candidates),
        judgements_(space_.candidates.size()),
        waiting_(request.gap),
        ranking_(request),
        so_far_(request) {
    for (const auto& list : space_.candidates.words()) {
      std::vector<bool>& plain = plain_.emplace_back();
      for (const PlanCandidate& words : list) plain.push_back(is_plain(words));
    }
  }

  void judge();           // until nothing that is open can enter the result
  SearchResult answer();  // once, after that
  bool has_ranked() const { return so_far_.has_ranked(); }
  void require_time() const;
  std::vector<RankedPlan> risky() const;  // that is faster than the best, if any

 private:
  struct Round {
    std::vector<std::int64_t> refined, simulated;
  };
  bool canceled() const { return cancel_ != nullptr && cancel_->load(std::memory_order_relaxed); }
  void tell(std::int64_t done);
  void take_stock();
  void bound_shapes();
  void look_at_known();
  void look_at_all();
  void look(std::initializer_list<Look> looks);
  std::vector<std::int64_t> open_of(std::size_t mesh, std::span<const Look> looks);
  std::int64_t sketch(std::int64_t index, const PlanCandidate& candidate);
  bool is_beaten(sim::SimTime least,
                 std::int64_t index) const {  // by its time alone: where the front is proven, too, what is slow may be lean
    return !so_far_.frontier().can_enter({.time = least, .memory = {}, .index = index});
  }
  bool is_dismissed(std::int64_t index);
  template <class Part>
  void on_every_mesh(const Part& part) {
    tbb::parallel_for(std::size_t{0}, meshes_.size(), [&](std::size_t mesh) { part(mesh); });
  }
  template <class Ends>
  void judge_open(const Ends& ends);
  Round next_round();
  void refine(const std::vector<std::int64_t>& candidates);
  void keep(std::size_t mesh);
  bool is_beaten_by_traffic(std::int64_t index);
  Judgement refined(std::int64_t index);
  void simulate(const std::vector<std::int64_t>& candidates);
  void tell_twins(std::int64_t index);
  void wait(std::int64_t index) { waiting_.push(bound(index)); }
  PlanCandidate candidate(std::int64_t index) const { return sim::at(space_.candidates, index); }
  Judgement& judgement(std::int64_t index) { return sim::at(judgements_, index); }
  Evaluator& evaluator(std::int64_t index) { return meshes_.evaluator(meshes_.of(index)); }
  Outcome bound(std::int64_t index) const;
  const std::vector<Outcome>& ranked() const { return so_far_.frontier().ranked(); }
  Found found() const { return {request_, model_, space_.candidates, so_far_.results(), ranking_}; }
  void count(SearchResult& result) const;

  const SearchRequest& request_;
  const Progress& progress_;
  const std::atomic<bool>* cancel_;
  sim::ModelGraph model_;
  SearchSpace space_;
  Meshes meshes_;
  std::vector<Judgement> judgements_;
  WaitingList waiting_;
  Ranking ranking_;
  FoundSoFar so_far_;
  std::vector<std::size_t> kept_;         // meshes whose evaluators have something, the one asked last at the end
  std::optional<std::int64_t> known_;     // place of the plan that is looked at first
  std::vector<std::vector<bool>> plain_;  // by list of words and place in it
  std::mutex telling_;
  std::int64_t done_ = 0, outlasting_ = 0;
  std::vector<sim::SimTime> shape_least_;  // by shape: what none of its plans takes less than; 0: nothing is known
  bool has_looked_ = false;                // at all: what waits is all that is open
  sim::SimTime best_{}, least_{};          // so far: rank of the best plan, and what no plan is below
};

void Search::tell(std::int64_t done) {
  const std::lock_guard lock(telling_);
  done_ += done;
  if (progress_ && done > 0)
    progress_({done_, static_cast<std::int64_t>(judgements_.size()), ranking_.measure(best_), ranking_.measure(least_)});
}

Outcome Search::bound(std::int64_t index) const {
  const Judgement& judgement = sim::at(judgements_, index);
  return {.time = judgement.time, .memory = judgement.memory, .index = index};
}

// Whether its bounds keep it out.
bool Search::is_dismissed(std::int64_t index) {
  if (so_far_.can_matter(bound(index))) return false;
  judgement(index).verdict = so_far_.dismissed(bound(index));
  return true;
}

// 1: it is refused, or beaten.
std::int64_t Search::sketch(std::int64_t index, const PlanCandidate& candidate) {
  const StepTime first = evaluator(index).first_time(candidate);
  const sim::SimTime time = first.step < kLongestStep ? ranking_.of(first, candidate) : kLongestStep;
  if (time == kLongestStep || is_beaten(time, index)) {
    judgement(index) = {.verdict = Verdict::Beaten, .is_sketch = true, .time = time};
    return 1;
  }
  judgement(index) = evaluator(index).sketch(candidate);
  judgement(index).time = time;
  return judgement(index).verdict == Verdict::Open && !is_dismissed(index) ? 0 : 1;
}

template <class Ends>
void Search::judge_open(const Ends& ends) {
  while (!waiting_.empty() && !canceled() && !ends()) {
    const Round round = next_round();
    refine(round.refined);
    simulate(round.simulated);
  }
}

// Of what is known of the fastest: the best so far, and what surely none is faster than.
void Search::take_stock() {
  if (!shape_least_.empty()) least_ = std::max(least_, *std::ranges::min_element(shape_least_));
  if (ranked().empty()) return;
  best_ = ranked().front().time;
  if (!has_looked_) return;
  const sim::SimTime next = waiting_.empty() ? best_ : std::min(best_, bound(waiting_.next()).time);
  const double within = static_cast<double>(next.count()) / (1 + request_.gap);  // what is left out, or waits beside it, may be as fast
  least_ = std::max(least_, sim::SimTime(static_cast<std::int64_t>(within)));
}

// By a whole shape; a percentile is not below it.
void Search::bound_shapes() {
  shape_least_.resize(space_.candidates.num_shapes());
  std::vector<std::vector<PlanCandidate>> words;  // few of each list: most shapes have the words of another
  for (const auto& list : space_.candidates.words()) words.push_back(Evaluator::least_words(request_, list));
  on_every_mesh([&](std::size_t mesh) {
    std::vector<PlanCandidate> shape;
    for (auto at = space_.candidates.from(meshes_.begin(mesh)); at.index() < meshes_.end(mesh) && !canceled();) {
      shape = words[at.words()];
      for (PlanCandidate& one : shape) take_shape(one, *at);
      shape_least_[at.shape()] = ranking_.of_step(meshes_.evaluator(mesh).least_time(shape));
      at = space_.candidates.from(at.shape_end());
    }
    meshes_.evaluator(mesh).forget();  // of all meshes together it is hundreds of megabytes
  });
}

// What waits of a mesh when its candidates of these looks have their first bounds.
std::vector<std::int64_t> Search::open_of(std::size_t mesh, std::span<const Look> looks) {
  std::vector<std::int64_t> open;
  std::int64_t done = 0;
  const std::int32_t smallest = space_.candidates[meshes_.begin(mesh)].microbatch;
  for (auto at = space_.candidates.from(meshes_.begin(mesh)); at.index() < meshes_.end(mesh) && !canceled();) {
    const std::size_t next = at.shape_end();
    const sim::SimTime least = shape_least_.empty() ? sim::SimTime{} : shape_least_[at.shape()];
    const bool is_slow = least == kLongestStep || is_beaten(least, static_cast<std::int64_t>(next)), first = is_first(*at, smallest);
    for (; at.index() < next; ++at) {
      if (std::ranges::find(looks, look_of(plain_[at.words()][at.place()], first)) == looks.end()) continue;
      const auto index = static_cast<std::int64_t>(at.index());
      if (index == known_) continue;
      if (is_slow) judgement(index) = {.verdict = Verdict::Beaten, .is_sketch = true, .time = least};
      done += is_slow ? 1 : sketch(index, *at);
      if (judgement(index).verdict == Verdict::Open) open.push_back(index);
    }
  }
  meshes_.evaluator(mesh).forget();  // few are asked again
  tell(done);
  return open;
}

void Search::look(std::initializer_list<Look> looks) {
  if (canceled()) return;
  std::vector<std::vector<std::int64_t>> open(meshes_.size());
  on_every_mesh([&](std::size_t mesh) { open[mesh] = open_of(mesh, looks); });
  for (const auto& of_mesh : open)
    for (const std::int64_t index : of_mesh) wait(index);
}

void Search::look_at_known() {
  known_ = request_.known ? place_of(space_.candidates, *request_.known) : std::nullopt;
  if (!known_) return;
  if (sketch(*known_, candidate(*known_)) == 0) wait(*known_);
  judge_open([] { return false; });
}

// A few shapes first, until as many plans are ranked as are asked for and the next simulations change none of them.
void Search::look_at_all() {
  bound_shapes();
  look({Look::First});
  const std::int64_t of_known = so_far_.simulated();
  judge_open([&] { return so_far_.has_ranks() && so_far_.simulated() > of_known; });
  look({Look::Words});
  std::vector<Outcome> before;
  std::int64_t asked = -1;
  judge_open([&] {
    const bool is_new = so_far_.has_ranks() && std::exchange(asked, so_far_.simulated()) != so_far_.simulated();
    return is_new && std::exchange(before, ranked()) == ranked();
  });
  if (!so_far_.has_ranks()) {
    look({Look::Plain});
    judge_open([&] { return so_far_.has_ranks(); });
    look({Look::Others});
  } else {
    look({Look::Plain, Look::Others});
  }
  has_looked_ = true;
}

// The first that can still matter. What another of the round may beat waits for it, and too risky ones come one at a time, which may spare the others.
// Threads play no part in the choice, so they do not change what is simulated.
Search::Round Search::next_round() {
  Round round;
  std::vector<std::int64_t> later;
  std::int64_t dismissed = 0;
  bool has_risky = false;
  const std::size_t most = has_ranked() ? kSimulated : kSimulatedAtFirst;
  const auto beaten_by_round = [&](std::int64_t index) {
    return std::any_of(round.simulated.begin(), round.simulated.end(), [&](std::int64_t other) {
      return !so_far_.is_surely_risky(bound(other)) && dominates(bound(other), relaxed(bound(index), request_.gap));
    });
  };
  while (!waiting_.empty() && round.refined.size() < kRefined && round.simulated.size() < most && later.size() < kRefined) {
    const std::int64_t index = waiting_.pop();
    if (is_dismissed(index)) {
      ++dismissed;
    } else if (so_far_.is_surely_risky(bound(index)) ? std::exchange(has_risky, true) : beaten_by_round(index)) {
      later.push_back(index);
    } else {
      (judgement(index).is_sketch ? round.refined : round.simulated).push_back(index);
    }
  }
  for (const std::int64_t index : later) wait(index);
  tell(dismissed);
  return round;
}

// By what its links need, as others of its mesh told: then no order is walked.
bool Search::is_beaten_by_traffic(std::int64_t index) {
  const PlanCandidate one = candidate(index);
  const sim::SimTime time = ranking_.of(evaluator(index).traffic_time(one), one);
  if (time <= judgement(index).time) return false;
  if (so_far_.can_matter({.time = time, .memory = judgement(index).memory, .index = index})) return false;
  judgement(index).verdict = so_far_.dismissed(bound(index));
  judgement(index).time = time;
  return true;
}

// Of what its first bounds left open. An order is walked for its memory first: what that keeps out needs no time.
Judgement Search::refined(std::int64_t index) {
  const PlanCandidate one = candidate(index);
  const Judgement before = judgement(index);
  const auto ranked = [&](Judgement judged) {
    judged.time = std::max(before.time, ranking_.of(evaluator(index).judged_time(judged, one), one));
    judged.memory = std::max(before.memory, judged.memory);
    return judged;
  };
  const auto outcome = [&](const Judgement& judged) { return Outcome{.time = judged.time, .memory = judged.memory, .index = index}; };
  const auto matters = [&](const Judgement& judged) { return so_far_.can_matter(outcome(ranked(judged))); };
  const Judgement found = evaluator(index).judge(one, matters);
  if (found.verdict == Verdict::Illegal || found.verdict == Verdict::NotRunnable) return {.verdict = found.verdict, .time = before.time};
  Judgement judged = ranked(found);
  if (judged.verdict == Verdict::Beaten) judged.verdict = so_far_.dismissed(outcome(judged));
  return judged;
}

void Search::keep(std::size_t mesh) {
  std::erase(kept_, mesh);
  kept_.push_back(mesh);
  if (kept_.size() <= kKeptMeshes) return;
  meshes_.evaluator(kept_.front()).forget();
  kept_.erase(kept_.begin());
}

// Those of a mesh one after the other, with what it keeps.
void Search::refine(const std::vector<std::int64_t>& candidates) {
  std::map<std::size_t, std::vector<std::int64_t>> of_mesh;
  for (const std::int64_t index : candidates) of_mesh[meshes_.of(index)].push_back(index);
  std::vector<const std::vector<std::int64_t>*> lists;
  for (const auto& [mesh, list] : of_mesh) lists.push_back(&list);
  std::atomic<std::int64_t> refused{0};
  tbb::parallel_for(std::size_t{0}, lists.size(), [&](std::size_t at) {
    for (const std::int64_t index : *lists[at]) {
      if (canceled()) return;
      if (is_beaten_by_traffic(index)) {
        ++refused;
        continue;
      }
      judgement(index) = refined(index);
      if (judgement(index).verdict != Verdict::Open) ++refused;
    }
    evaluator(lists[at]->front()).forget_orders();
  });
  if (canceled()) return;
  for (const auto& [mesh, list] : of_mesh) keep(mesh);
  for (const std::int64_t index : candidates)
    if (judgement(index).verdict == Verdict::Open) wait(index);
  tell(refused);
}

void Search::tell_twins(std::int64_t index) {
  if (request_.workload.optimizer == sim::OptimizerKind::Muon)
    return;  // tensors are dealt: who has most is another rank where it keeps gradients, too
  const std::optional<std::int64_t> twin = twin_of(space_.candidates, index);
  if (twin && judgement(*twin).verdict == Verdict::Open) judgement(*twin).time = judgement(index).time;
}

void Search::simulate(const std::vector<std::int64_t>& candidates) {
  std::vector<sim::ParallelPlan> plans;
  for (const std::int64_t index : candidates) {
    plans.push_back(evaluator(index).plan(candidate(index)));
    keep(meshes_.of(index));
  }
  std::vector<Simulated> results = simulate_all(model_, plans, cancel_);
  std::int64_t done = 0;
  for (std::size_t at = 0; at < candidates.size(); ++at) {
    if (results[at].refused) {
      if (!has_ranked() && ++outlasting_ >= kOutlasting) throw *results[at].refused;
      judgement(candidates[at]) = {.verdict = Verdict::Beaten, .memory = judgement(candidates[at]).memory, .time = kLongestStep};
      ++done;
    }
    if (!results[at].result) continue;  // or canceled before
    judgement(candidates[at]) = {.verdict = Verdict::Simulated,
                                 .memory = results[at].result->peak_memory,
                                 .time = ranking_.of(step_time_of(*results[at].result), candidate(candidates[at]))};
    ++done;
    tell_twins(candidates[at]);
    judgement(candidates[at]).verdict = so_far_.take(bound(candidates[at]), plans[at], *std::move(results[at].result));
  }
  so_far_.forget_others();
  take_stock();
  tell(done);
}

void Search::count(SearchResult& result) const {
  const auto of = [&](Verdict verdict) {
    return std::count_if(judgements_.begin(), judgements_.end(), [&](const Judgement& judgement) { return judgement.verdict == verdict; });
  };
  result.candidates = static_cast<std::int64_t>(judgements_.size());
  result.infeasible = of(Verdict::Illegal) + of(Verdict::NotRunnable);
  result.pruned_memory = of(Verdict::TooLarge) - so_far_.too_large();
  result.pruned_risk = of(Verdict::TooRisky) - so_far_.risky();
  result.pruned_bound = of(Verdict::Beaten);
  result.simulated = so_far_.simulated();
  result.open = of(Verdict::Open);
  if (has_ranked()) result.gap = proven_gap({space_.candidates, judgements_, shape_least_, so_far_.safe()}, ranked().front().time);
}

void Search::judge() {
  look_at_known();
  look_at_all();
  judge_open([] { return false; });
  meshes_.forget();  // hundreds of megabytes
}

// Where nothing competes, and some would if their steps were not longer than the clock.
void Search::require_time() const {
  if (has_ranked() || canceled() || so_far_.fastest_risky() || request_.ceiling) return;
  const auto is_beaten_by_clock = [](const Judgement& one) { return one.verdict == Verdict::Beaten && one.time == kLongestStep; };
  if (std::ranges::none_of(judgements_, is_beaten_by_clock)) return;
  throw sim::InputError("the step of every plan",
                        {{"", "takes more than 46 days, and the clock holds 106",
                          "check the rates and latencies of the hardware profile, or give fewer samples a step"}});
}

std::vector<RankedPlan> Search::risky() const {
  const std::optional<Outcome> best = has_ranked() ? std::optional(ranked().front()) : std::nullopt, &risky = so_far_.fastest_risky();
  if (!risky || (best && relaxed(*risky, request_.gap).time >= best->time)) return {};  // a gain within the gap is none
  return {risky_plan(found(), *risky, best)};
}

SearchResult Search::answer() {
  SearchResult result;
  for (const Outcome& outcome : ranked()) result.ranked.push_back(ranked_plan(found(), outcome, ranked().front()));
  for (const Outcome& outcome : so_far_.frontier().pareto()) result.pareto.push_back(ranked_plan(found(), outcome, ranked().front()));
  result.risky = risky();
  count(result);
  const sim::SimTime worst = has_ranked() ? ranked().back().time : sim::SimTime{};
  result.proof = proof_of({request_, result, canceled(), ranking_.text(worst)});
  result.excluded = std::move(space_.excluded);
  if (!canceled()) {
    std::vector<Exclusion> families = excluded_families({request_, model_, space_.candidates, judgements_, cancel_}, worst);
    result.excluded.insert(result.excluded.end(), std::make_move_iterator(families.begin()), std::make_move_iterator(families.end()));
  }
  result.judgements = std::move(judgements_);
  return result;
}

// Whether plans that use the host's memory are left to ask about where no other is feasible.
bool may_ask_host(const SearchRequest& request) {
  const auto is_of_host = [](const auto& fixed) { return fixed.first.starts_with("offload_"); };
  const bool has_asked = request.offload || std::ranges::any_of(request.fixed, is_of_host);
  const bool has_host = request.cluster.hardware.kind == sim::DeviceKind::Gpu;  // a CPU rank's host is itself
  return has_host && !has_asked && !request.ceiling;
}

}  // namespace

// Why each family is left out is asked of the search alone that answers: where the host's memory helps, nobody reads it of the one before.
SearchResult search(const SearchRequest& request, const Progress& progress, const std::atomic<bool>* cancel) {
  Search search(request, progress, cancel);
  search.judge();
  search.require_time();
  const bool is_canceled = cancel != nullptr && cancel->load(std::memory_order_relaxed);
  if (search.has_ranked() || is_canceled || !may_ask_host(request)) return search.answer();
  SearchRequest with_host = request;
  with_host.offload = true;
  Search on_host(with_host, progress, cancel);
  on_host.judge();
  if (!on_host.has_ranked()) return search.answer();
  SearchResult offloaded = on_host.answer();
  if (offloaded.risky.empty()) offloaded.risky = search.risky();
  return offloaded;
}

}  // namespace planner
