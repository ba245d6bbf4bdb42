#include "planner/explanation.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "planner/nearest.h"
#include "planner/search_space.h"
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
  std::vector<std::size_t> members;
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
  FreeSpace(SearchRequest request, const sim::ModelGraph& model)
      : request_(std::move(request)), model_(model), candidates_(enumerate(request_).candidates), evaluator_(request_, model) {}
  std::optional<PlanCandidate> nearest_that_fits(const PlanCandidate& from);

 private:
  bool does_fit(std::size_t candidate);

  const SearchRequest request_;
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
  for (; all.size() > beyond; all.pop_back()) {
    std::ranges::pop_heap(all, std::greater{});
    if (does_fit(all.back().second)) return candidates_[all.back().second];
  }
  return std::nullopt;
}

class Families {
 public:
  Families(const Judged& judged, SimTime worst_ranked)
      : judged_(judged), worst_ranked_(worst_ranked), evaluator_(judged.request, judged.model) {}
  std::vector<Exclusion> excluded();

 private:
  std::vector<std::vector<std::size_t>> by_value(const Axis& axis) const;
  std::vector<Family> by_axis(std::size_t axis) const;
  void add_out(std::vector<Family> families, std::vector<Family>& out) const;
  std::vector<Family> out_by_axis() const;
  std::vector<Family> by_mesh() const;
  bool is_out(const Family& family) const;
  bool is_refused(std::size_t candidate) const {
    const Verdict verdict = judged_.judgements[candidate].verdict;
    return verdict == Verdict::Illegal || verdict == Verdict::NotRunnable;
  }
  bool is_refused(const Family& family) const;
  bool is_covered(const Family& mesh, const std::vector<Exclusion>& excluded) const;
  std::size_t count(const Family& family, Verdict verdict) const;
  std::size_t least(const Family& family, Verdict verdict) const;
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
  Evaluator evaluator_;
  std::optional<FreeSpace> free_;
  std::map<std::size_t, std::string> fixes_;  // by candidate: families share their least member
};

// Candidates with the same value of an axis; of one that has one value nothing.
std::vector<std::vector<std::size_t>> Families::by_value(const Axis& axis) const {
  const auto& candidates = judged_.candidates;
  if (candidates.empty()) return {};
  const double first = axis.number(candidates.front());
  const auto is_first = [&](const PlanCandidate& one) { return axis.number(one) == first; };
  if (std::all_of(candidates.begin(), candidates.end(), is_first)) return {};
  std::map<double, std::vector<std::size_t>> members;
  std::vector<std::size_t>* same = nullptr;  // as the one before has
  double before = 0;
  for (auto at = candidates.begin(); at != candidates.end(); ++at) {
    const double value = axis.number(*at);
    if (same == nullptr || value != before) same = &members[value];
    before = value;
    same->push_back(at.index());
  }
  std::vector<std::vector<std::size_t>> all;
  for (auto& [value, those] : members) all.push_back(std::move(those));
  return all;
}

// Every value of every axis, ascending; an axis with one value is no choice.
std::vector<Family> Families::by_axis(std::size_t axis) const {
  std::map<std::pair<std::size_t, std::string>, Family> families;  // by length of the value (numbers ascend), and value
  for (std::vector<std::size_t>& members : by_value(all_axes()[axis])) {
    Argument value = axes_of(judged_.candidates[members.front()])[axis];
    Family& family = families[{value.value.size(), value.value}];
    family = {.axes = {std::move(value)}, .members = std::move(members)};
  }
  std::vector<Family> chosen;
  for (auto& [value, family] : families) chosen.push_back(std::move(family));
  return chosen;
}

// One axis after the other: all families of large spaces at once are hundreds of megabytes.
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
    const bool joins = may_join && is_range(axis.name) && (count(out.back(), Verdict::Beaten) > 0) == (count(family, Verdict::Beaten) > 0);
    may_join = true;
    if (!joins) {
      out.push_back(std::move(family));
      continue;
    }
    std::string& range = out.back().axes.front().value;
    range = range.substr(0, range.find('.')) + ".." + axis.value;
    out.back().members.insert(out.back().members.end(), family.members.begin(), family.members.end());
  }
}

std::vector<Family> Families::by_mesh() const {
  std::vector<Family> families;
  sim::DeviceMesh before;
  for (auto at = judged_.candidates.begin(); at != judged_.candidates.end(); ++at) {
    const PlanCandidate candidate = *at;
    if (families.empty() || !same_degrees(candidate.mesh, before)) {
      std::vector<Argument> axes = axes_of(candidate);
      axes.resize(3);  // data, tensor, pipeline
      families.push_back({.axes = std::move(axes), .members = {}});
    }
    before = candidate.mesh;
    families.back().members.push_back(at.index());
  }
  return families;
}

std::size_t Families::count(const Family& family, Verdict verdict) const {
  return sim::count_of(std::count_if(family.members.begin(), family.members.end(),
                                     [&](std::size_t at) { return judged_.judgements[at].verdict == verdict; }));
}

bool Families::is_out(const Family& family) const { return count(family, Verdict::Simulated) == 0; }

// A rule was asked of some members, and refused each of them: those that could compete by their first bounds.
bool Families::is_refused(const Family& family) const {
  const auto is_legal = [&](std::size_t at) { return !judged_.judgements[at].is_sketch && !is_refused(at); };
  return std::any_of(family.members.begin(), family.members.end(), [&](std::size_t at) { return is_refused(at); }) &&
         std::none_of(family.members.begin(), family.members.end(), is_legal);
}

bool Families::is_covered(const Family& mesh, const std::vector<Exclusion>& excluded) const {
  return std::any_of(mesh.axes.begin(), mesh.axes.end(), [&](const Argument& axis) {
    return std::any_of(excluded.begin(), excluded.end(), [&](const Exclusion& out) { return out.family == axis.name + "=" + axis.value; });
  });
}

// The member of that verdict which is nearest to being in: shortest bound, or least memory.
std::size_t Families::least(const Family& family, Verdict verdict) const {
  std::optional<std::size_t> least;
  const auto measure = [&](std::size_t at) {
    const Judgement& judgement = judged_.judgements[at];
    return verdict == Verdict::Beaten ? judgement.time.count() : judgement.memory.value();
  };
  for (const std::size_t at : family.members)
    if (judged_.judgements[at].verdict == verdict && (!least || measure(at) < measure(*least))) least = at;
  return *least;
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
  const PlanCandidate from = judged_.candidates[candidate];
  std::optional<std::size_t> proven, likely;
  const auto closer = [&](std::size_t at, const std::optional<std::size_t>& than) {
    return !than || distance(from, judged_.candidates[at]) < distance(from, judged_.candidates[*than]);
  };
  for (std::size_t at = 0; at < judged_.candidates.size(); ++at) {
    if (judged_.judgements[at].verdict == Verdict::Simulated && closer(at, proven)) proven = at;
    if (judged_.judgements[at].verdict == Verdict::Beaten && closer(at, likely)) likely = at;
  }
  if (likely && closer(*likely, proven)) {
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
    free_.emplace(std::move(free), judged_.model);
  }
  const PlanCandidate from = judged_.candidates[candidate];
  const std::optional<PlanCandidate> other = free_->nearest_that_fits(from);
  return other ? changes(from, *other) : "";
}

// Of the member that is nearest to being allowed: of a legal plan what the program it is for cannot, of another the rule that it breaks.
Exclusion Families::explain_refused(const Family& family) {
  std::vector<std::size_t> refused;
  std::copy_if(family.members.begin(), family.members.end(), std::back_inserter(refused), [&](std::size_t at) { return is_refused(at); });
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
  const std::size_t candidate = least(family, Verdict::TooLarge);
  return exclude(to_text(family.axes), memory_reason(candidate), nearest_fix(candidate));
}

Exclusion Families::explain_risky(const Family& family) {
  const std::size_t candidate = least(family, Verdict::TooRisky);
  const Reason reason{"memory_risk",
                      {{"need", to_text(judged_.judgements[candidate].memory)},
                       {"limit", to_text(memory_limit(judged_.request))},
                       {"risk", sim::percent(judged_.request.risk)}}};
  return exclude(to_text(family.axes), reason, nearest_fix(candidate));
}

Exclusion Families::explain_beaten(const Family& family) {
  const SimTime bound = judged_.judgements[least(family, Verdict::Beaten)].time;
  Exclusion beaten = exclude(
      to_text(family.axes), {"bound", {{"bound", to_text(sim::to_seconds(bound))}, {"time", to_text(sim::to_seconds(worst_ranked_))}}}, "");
  beaten.bound = bound;
  return beaten;
}

Exclusion Families::explain(const Family& family) {
  Exclusion out = is_refused(family)                     ? explain_refused(family)
                  : count(family, Verdict::Beaten) > 0   ? explain_beaten(family)
                  : count(family, Verdict::TooRisky) > 0 ? explain_risky(family)
                                                         : explain_too_large(family);
  out.candidates = static_cast<std::int64_t>(family.members.size());
  return out;
}

std::vector<Exclusion> Families::excluded() {
  std::vector<Exclusion> excluded;
  for (const Family& family : out_by_axis()) excluded.push_back(explain(family));
  for (const Family& mesh : by_mesh())
    if (is_out(mesh) && !is_covered(mesh, excluded)) excluded.push_back(explain(mesh));
  return excluded;
}

}  // namespace

std::vector<Exclusion> excluded_families(const Judged& judged, SimTime worst_ranked) { return Families(judged, worst_ranked).excluded(); }

}  // namespace planner
