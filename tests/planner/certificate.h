// Holds what a search claims of each candidate, of its ranks, its front and its gap against simulations of everything. Knows nothing of how the search came to
// it, and shares none of its bounds.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/out_of_memory.h"
#include "tests/planner/brute_force.h"

namespace planner {

class Certificate {
 public:
  // All must outlive it.
  Certificate(const SearchRequest& request, const SearchResult& result, BruteForce& everything)
      : request_(request), result_(result), everything_(everything), candidates_(enumerate(request).candidates.all()) {}

  // What does not hold, a sentence each; empty: all of it holds.
  std::vector<std::string> faults() && {
    require(result_.judgements.size() == candidates_.size(), "a judgement of each candidate");
    require(result_.gap || result_.ranked.empty(), "a gap of the best plan");
    if (!faults_.empty()) return std::move(faults_);
    for (std::size_t at = 0; at < candidates_.size(); ++at) check(at);
    return std::move(faults_);
  }

 private:
  void require(bool holds, std::string_view what) {
    if (!holds) faults_.push_back(fmt::format("{}{}", where_, what));
  }
  bool within(double found, double least) const { return found <= (1 + request_.gap) * least * (1 + 1e-12); }

  void check(std::size_t at) {
    where_ = to_text(candidates_[at]) + ": ";
    const Judgement& claim = result_.judgements[at];
    const sim::ParallelPlan plan = evaluator_.plan(candidates_[at]);
    if (!sim::violations(plan).empty()) return require(claim.verdict != Verdict::Simulated, "breaks a rule, and is simulated");
    require(claim.verdict != Verdict::Illegal, "breaks no rule");
    require(claim.verdict != Verdict::Open, "is judged");
    const sim::SimulationResult& truth = everything_.simulated(model_, plan, {request_.offload, at});
    const sim::Bytes limit = memory_limit(request_);
    const bool fits = truth.peak_memory <= limit && truth.host_fits;
    const bool is_safe = fits && sim::out_of_memory_chance(plan, truth, limit) <= request_.risk;
    require(claim.time <= rank_of(request_, truth), "its bound of time is not above the simulation");
    require(claim.memory <= truth.peak_memory, "its bound of memory is not above the simulation");
    require(claim.verdict != Verdict::TooLarge || !fits, "does not fit");
    require(claim.verdict != Verdict::TooRisky || !is_safe, "is too risky");
    if (is_safe) check_safe(claim, truth);
  }

  void check_safe(const Judgement& claim, const sim::SimulationResult& truth) {
    const auto rank = [&](const sim::SimulationResult& of) { return static_cast<double>(rank_of(request_, of).count()); };
    if (result_.ranked.empty()) return require(false, "is feasible, and nothing is ranked");
    require(rank(result_.ranked.front().result) <= (1 + *result_.gap) * (1 + 1e-12) * rank(truth), "is not better than the gap says");
    require(std::ranges::any_of(result_.pareto,
                                [&](const RankedPlan& found) {
                                  const auto bytes = [](sim::Bytes of) { return static_cast<double>(of.value()); };
                                  return within(rank(found.result), rank(truth)) &&
                                         within(bytes(found.result.peak_memory), bytes(truth.peak_memory));
                                }),
            "a plan of the front is as good");
    if (claim.verdict != Verdict::Beaten) return;
    require(result_.ranked.size() == static_cast<std::size_t>(request_.top), "is beaten, and ranks are free");
    require(within(rank(result_.ranked.back().result), static_cast<double>(claim.time.count())), "its bound is behind the last rank");
  }

  const SearchRequest& request_;
  const SearchResult& result_;
  BruteForce& everything_;
  std::vector<PlanCandidate> candidates_;
  sim::ModelGraph model_ = sim::make_model_graph(request_.model, {request_.vocabulary_multiple});
  Evaluator evaluator_{request_, model_};
  std::string where_;
  std::vector<std::string> faults_;
};

// A certificate with one claim that does not hold, for each kind of claim that the question has an occasion for.
inline std::vector<std::pair<std::string, SearchResult>> planted(const SearchRequest& request, const SearchResult& result,
                                                                 BruteForce& everything) {
  std::vector<std::pair<std::string, SearchResult>> all;
  const auto plant = [&](const char* what, auto change) {
    all.emplace_back(what, result);
    change(all.back().second);
  };
  const std::vector<PlanCandidate> candidates = enumerate(request).candidates.all();
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  Evaluator evaluator(request, model);
  for (std::size_t at = 0; at < candidates.size(); ++at) {
    const sim::ParallelPlan plan = evaluator.plan(candidates[at]);
    if (!sim::violations(plan).empty()) continue;
    const sim::SimulationResult& truth = everything.simulated(model, plan, {request.offload, at});
    if (truth.peak_memory > memory_limit(request) || !truth.host_fits) continue;
    plant("a bound of time that is above the simulation",
          [&](SearchResult& wrong) { wrong.judgements[at].time = rank_of(request, truth) + sim::SimTime(1); });
    plant("a bound of memory that is above the simulation",
          [&](SearchResult& wrong) { wrong.judgements[at].memory = truth.peak_memory + sim::Bytes(1); });
    plant("too large, and it fits", [&](SearchResult& wrong) { wrong.judgements[at].verdict = Verdict::TooLarge; });
    plant("against a rule, and it breaks none", [&](SearchResult& wrong) { wrong.judgements[at].verdict = Verdict::Illegal; });
    plant("left open", [&](SearchResult& wrong) { wrong.judgements[at].verdict = Verdict::Open; });
    break;
  }
  if (result.ranked.size() > 1) {
    const auto rank = [&](const RankedPlan& of) { return static_cast<double>(rank_of(request, of.result).count()); };
    if (rank(result.ranked[1]) > (1 + result.gap.value_or(0)) * (1 + 1e-9) * rank(result.ranked[0]))
      plant("the best plan left out", [](SearchResult& wrong) { wrong.ranked.erase(wrong.ranked.begin()); });
  }
  if (result.pareto.size() > 1 && request.gap == 0)
    plant("a plan of the front left out", [](SearchResult& wrong) { wrong.pareto.pop_back(); });
  return all;
}

}  // namespace planner
