#include "planner/explanation.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "planner/nearest.h"
#include "planner/ranking.h"
#include "planner/search_space.h"
#include "planner/tally.h"
#include "sim/engine/out_of_memory.h"
#include "sim/units/at.h"
#include "sim/units/unit_text.h"

namespace planner {
namespace {

using sim::Bytes;
using sim::SimTime;
using sim::to_text;

constexpr std::size_t kAsked = 64;     // members of a family that are refused, for their reasons
constexpr std::size_t kNearby = 1024;  // plans that are judged for a fix, nearest first: one that lies further is another plan
constexpr int kTried = 16;             // of these, that are simulated

struct Family {
  std::vector<Argument> axes;  // {"tensor", "1"}, {"chunks", "26..46"}
  Tally members{};
};

// Axes with many values: neighbors that are out for the same kind of reason are told as one.
bool is_range(const std::string& axis) { return axis == "chunks" || axis == "microbatch"; }

bool same_degrees(const sim::DeviceMesh& a, const sim::DeviceMesh& b) {
  return a.data == b.data && a.context == b.context && a.expert == b.expert && a.tensor == b.tensor && a.pipeline == b.pipeline;
}

// By a simulation of it.
bool fits(const SearchRequest& request, const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
  const sim::SimulationResult result = simulate(model, plan);
  const Bytes limit = memory_limit(request);
  return result.peak_memory <= limit && sim::out_of_memory_chance(plan, result, limit) <= request.risk;
}

// The space of a request that lets go of every axis that is fixed. Made once, and each of its plans is simulated once: many families ask for their neighbors.
class FreeSpace {
 public:
  FreeSpace(SearchRequest request, const Judged& judged)
      : request_(std::move(request)),
        judged_(judged),
        model_(judged.model),
        candidates_(enumerate(request_, judged.cancel).candidates),
        evaluator_(request_, model_) {}
  std::optional<PlanCandidate> nearest_that_fits(const PlanCandidate& from);

 private:
  bool does_fit(std::size_t candidate);

  const SearchRequest request_;
  const Judged& judged_;
  const sim::ModelGraph& model_;
  const Candidates candidates_;
  Evaluator evaluator_;
  std::map<std::size_t, bool> fits_;
  int tried_ = 0;
};

bool FreeSpace::does_fit(std::size_t candidate) {
  const auto [entry, is_new] = fits_.try_emplace(candidate, false);
  if (!is_new) return entry->second;
  const PlanCandidate one = candidates_[candidate];
  if (evaluator_.judge(one).verdict != Verdict::Open || tried_ == kTried) return false;
  ++tried_;
  return entry->second = fits(request_, model_, evaluator_.plan(one));
}

std::optional<PlanCandidate> FreeSpace::nearest_that_fits(const PlanCandidate& from) {
  std::vector<std::pair<Distance, std::size_t>> all;
  all.reserve(candidates_.size());
  for (auto at = candidates_.begin(); at != candidates_.end(); ++at) all.emplace_back(distance(from, *at), at.index());
  std::ranges::make_heap(all, std::greater{});
  const std::size_t beyond = all.size() - std::min(all.size(), kNearby);
  for (; all.size() > beyond && !judged_.is_canceled(); all.pop_back()) {
    std::ranges::pop_heap(all, std::greater{});
    if (does_fit(all.back().second)) return candidates_[all.back().second];
  }
  return std::nullopt;
}

class Families {
 public:
  Families(const Judged& judged, SimTime worst_ranked)
      : judged_(judged),
        worst_ranked_(worst_ranked),
        ranking_(judged.request),
        evaluator_(judged.request, judged.model),
        of_shapes_(judged.candidates.num_shapes()) {
    for (const auto& list : judged.candidates.words()) of_words_.emplace_back(list.size());
    for (auto at = judged.candidates.begin(); at != judged.candidates.end(); ++at) {
      of_shapes_[at.shape()].add(at.index(), judged.judgements[at.index()]);
      of_words_[at.words()][at.place()].add(at.index(), judged.judgements[at.index()]);
    }
  }
  std::vector<Exclusion> excluded();

 private:
  std::map<double, Tally> by_value(const Axis& axis) const;
  std::vector<Family> by_axis(std::size_t axis) const;
  void add_out(std::vector<Family> families, std::vector<Family>& out) const;
  std::vector<Family> out_by_axis() const;
  std::vector<Family> by_mesh() const;
  bool is_covered(const Family& mesh, const std::vector<Exclusion>& excluded) const;
  Exclusion explain(const Family& family);
  Exclusion explain_beaten(const Family& family);
  Exclusion explain_too_large(const Family& family);
  Exclusion explain_risky(const Family& family);
  Exclusion explain_refused(const Family& family);
  Reason memory_reason(std::size_t candidate);
  const std::string& nearest_fix(std::size_t candidate);
  std::string find_nearest_fix(std::size_t candidate);
  std::string fix_outside(std::size_t candidate);

  const Judged& judged_;
  SimTime worst_ranked_;
  Ranking ranking_;
  Evaluator evaluator_;
  std::vector<Tally> of_shapes_;              // by shape
  std::vector<std::vector<Tally>> of_words_;  // of all shapes that have a list of words, by its place in the list
  std::optional<FreeSpace> free_;
  std::map<std::size_t, std::string> fixes_;  // by candidate: families share their least member
};

bool is_out(const Family& family) { return family.members.count(Verdict::Simulated) == 0; }

// Candidates with the same value of an axis; of one that has one value nothing.
std::map<double, Tally> Families::by_value(const Axis& axis) const {
  const Candidates& candidates = judged_.candidates;
  std::map<double, Tally> members;
  if (axis.of_shape)
    for (std::size_t shape = 0; shape < of_shapes_.size(); ++shape)
      members[axis.number(candidates[of_shapes_[shape].first()])].add(of_shapes_[shape]);
  else
    for (std::size_t list = 0; list < of_words_.size(); ++list)
      for (std::size_t place = 0; place < of_words_[list].size(); ++place)
        members[axis.number(candidates.words()[list][place])].add(of_words_[list][place]);
  if (members.size() == 1) members.clear();
  return members;
}

// Every value of every axis, ascending; an axis with one value is no choice.
std::vector<Family> Families::by_axis(std::size_t axis) const {
  std::map<std::pair<std::size_t, std::string>, Family> families;  // by length of the value (numbers ascend), and value
  for (auto& [number, members] : by_value(all_axes()[axis])) {
    Argument value = axes_of(judged_.candidates[members.first()])[axis];
    Family& family = families[{value.value.size(), value.value}];
    family = {.axes = {std::move(value)}, .members = std::move(members)};
  }
  std::vector<Family> chosen;
  for (auto& [value, family] : families) chosen.push_back(std::move(family));
  return chosen;
}

std::vector<Family> Families::out_by_axis() const {
  std::vector<Family> out;
  for (std::size_t axis = 0; axis < all_axes().size(); ++axis) add_out(by_axis(axis), out);
  return out;
}

void Families::add_out(std::vector<Family> families, std::vector<Family>& out) const {
  bool may_join = false;  // the value before is out
  for (Family& family : families) {
    if (!is_out(family)) {
      may_join = false;
      continue;
    }
    const Argument& axis = family.axes.front();
    const bool is_slow = family.members.count(Verdict::Beaten) > 0;
    const bool joins = may_join && is_range(axis.name) && (out.back().members.count(Verdict::Beaten) > 0) == is_slow;
    may_join = true;
    if (!joins) {
      out.push_back(std::move(family));
      continue;
    }
    std::string& range = out.back().axes.front().value;
    range = range.substr(0, range.find('.')) + ".." + axis.value;
    out.back().members.add(family.members);
  }
}

std::vector<Family> Families::by_mesh() const {
  std::vector<Family> families;
  sim::DeviceMesh before;
  for (const Tally& shape : of_shapes_) {
    const PlanCandidate candidate = judged_.candidates[shape.first()];
    if (families.empty() || !same_degrees(candidate.mesh, before)) {
      std::vector<Argument> axes = axes_of(candidate);
      axes.resize(3);  // data, tensor, pipeline
      families.push_back({.axes = std::move(axes)});
    }
    before = candidate.mesh;
    families.back().members.add(shape);
  }
  return families;
}

bool Families::is_covered(const Family& mesh, const std::vector<Exclusion>& excluded) const {
  return std::any_of(mesh.axes.begin(), mesh.axes.end(), [&](const Argument& axis) {
    return std::any_of(excluded.begin(), excluded.end(), [&](const Exclusion& out) { return out.family == axis.name + "=" + axis.value; });
  });
}

Reason Families::memory_reason(std::size_t candidate) {
  const MemoryBound bound = evaluator_.memory(judged_.candidates[candidate]);
  const Bytes need = std::max(bound.peak, judged_.judgements[candidate].memory);  // the latter may be a simulated peak
  const auto part = [&](sim::MemoryCategory category) { return to_text(sim::at(bound.resident, category)); };
  return {"memory",
          {{"need", to_text(need)},
           {"parameters", part(sim::MemoryCategory::Parameters)},
           {"gradients", part(sim::MemoryCategory::Gradients)},
           {"optimizer", part(sim::MemoryCategory::OptimizerState)},
           {"working", to_text(need - total(bound.resident))},
           {"limit", to_text(memory_limit(judged_.request))}}};
}

const std::string& Families::nearest_fix(std::size_t candidate) {
  const auto [entry, is_new] = fixes_.try_emplace(candidate);
  if (is_new) entry->second = find_nearest_fix(candidate);
  return entry->second;
}

// The nearest candidate that fits: proven by a simulation, an earlier one or its own.
std::string Families::find_nearest_fix(std::size_t candidate) {
  if (judged_.is_canceled()) return "";
  const PlanCandidate from = judged_.candidates[candidate];
  std::optional<std::size_t> proven, likely;
  std::optional<Distance> to_proven, to_likely;
  const auto look = [&](std::size_t at, const PlanCandidate& one, std::optional<std::size_t>& nearest, std::optional<Distance>& least) {
    const Distance to = distance(from, one);
    if (least && !(to < *least)) return;
    nearest = at, least = to;
  };
  for (auto at = judged_.candidates.begin(); at != judged_.candidates.end(); ++at) {
    const Verdict verdict = judged_.judgements[at.index()].verdict;
    if (verdict == Verdict::Simulated) look(at.index(), *at, proven, to_proven);
    if (verdict == Verdict::Beaten) look(at.index(), *at, likely, to_likely);
  }
  if (likely && (!to_proven || *to_likely < *to_proven)) {
    const PlanCandidate near = judged_.candidates[*likely];
    if (fits(judged_.request, judged_.model, evaluator_.plan(near))) return changes(from, near);
  }
  return proven ? changes(from, judged_.candidates[*proven]) : fix_outside(candidate);
}

// Nothing fits with the axes that are fixed: lets go of all of them and takes the nearest plan that fits.
std::string Families::fix_outside(std::size_t candidate) {
  if (judged_.request.fixed.empty()) return "";
  if (!free_) {
    SearchRequest free = judged_.request;
    free.fixed.clear();
    free_.emplace(std::move(free), judged_);
  }
  const PlanCandidate from = judged_.candidates[candidate];
  const std::optional<PlanCandidate> other = free_->nearest_that_fits(from);
  return other ? changes(from, *other) : "";
}

// Of the member that is nearest to being allowed: of a legal plan what the program it is for cannot, of another the rule that it breaks.
Exclusion Families::explain_refused(const Family& family) {
  std::vector<std::size_t> refused = family.members.refused();
  std::sort(refused.begin(), refused.end());
  std::vector<sim::Violation> fewest;
  bool is_illegal = false;
  const std::size_t step = 1 + refused.size() / kAsked;
  for (std::size_t at = 0; at < refused.size() && fewest.size() != 1; at += step) {
    const sim::ParallelPlan plan = evaluator_.plan(judged_.candidates[refused[at]]);
    const bool illegal = judged_.judgements[refused[at]].verdict == Verdict::Illegal;
    std::vector<sim::Violation> found = illegal ? sim::violations(plan) : judged_.request.why_not(plan);
    if (fewest.empty() || found.size() < fewest.size()) fewest = std::move(found), is_illegal = illegal;
  }
  const sim::Violation& violation = fewest.front();
  return exclude(to_text(family.axes),
                 {is_illegal ? "shape.rule" : "not_runnable", {{"where", violation.where}, {"problem", violation.problem}}},
                 violation.remedy);
}

Exclusion Families::explain_too_large(const Family& family) {
  const std::size_t candidate = family.members.least(Verdict::TooLarge);
  return exclude(to_text(family.axes), memory_reason(candidate), nearest_fix(candidate));
}

Exclusion Families::explain_risky(const Family& family) {
  const std::size_t candidate = family.members.least(Verdict::TooRisky);
  const Reason reason{"memory_risk",
                      {{"need", to_text(judged_.judgements[candidate].memory)},
                       {"limit", to_text(memory_limit(judged_.request))},
                       {"risk", sim::percent(judged_.request.risk)}}};
  return exclude(to_text(family.axes), reason, nearest_fix(candidate));
}

Exclusion Families::explain_beaten(const Family& family) {
  const SimTime bound = judged_.judgements[family.members.least(Verdict::Beaten)].time;
  const std::string code(words_of(judged_.request.objective).bound);
  Exclusion beaten = exclude(to_text(family.axes), {code, {{"bound", ranking_.text(bound)}, {"time", ranking_.text(worst_ranked_)}}}, "");
  beaten.bound = ranking_.measure(bound);
  return beaten;
}

Exclusion Families::explain(const Family& family) {
  Exclusion out = family.members.is_refused()                   ? explain_refused(family)
                  : family.members.count(Verdict::Beaten) > 0   ? explain_beaten(family)
                  : family.members.count(Verdict::TooRisky) > 0 ? explain_risky(family)
                                                                : explain_too_large(family);
  out.candidates = family.members.size();
  return out;
}

std::vector<Exclusion> Families::excluded() {
  std::vector<Exclusion> excluded;
  const auto goes_on = [&] { return !judged_.is_canceled(); };
  for (const Family& family : out_by_axis())
    if (goes_on()) excluded.push_back(explain(family));
  for (const Family& mesh : by_mesh())
    if (goes_on() && is_out(mesh) && !is_covered(mesh, excluded)) excluded.push_back(explain(mesh));
  return excluded;
}

}  // namespace

std::vector<Exclusion> excluded_families(const Judged& judged, SimTime worst_ranked) { return Families(judged, worst_ranked).excluded(); }

}  // namespace planner
