#include "planner/improvements.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "planner/evaluator.h"
#include "planner/least_recomputation.h"
#include "planner/ranked_plan.h"
#include "planner/ranking.h"
#include "planner/search_space.h"
#include "sim/cost/memory_interval.h"
#include "sim/engine/out_of_memory.h"
#include "sim/plan/drives.h"
#include "sim/plan/field_uses.h"

namespace planner {
namespace {

constexpr std::size_t kNeighborsSimulated = 24;  // of one setting, and of two
constexpr std::size_t kShownOfOne = 3, kShownOfTwo = 2;
constexpr double kWorthOne = 0.995;  // of the plan's own time: less is no change worth a line
constexpr double kWorthTwo = 0.99;   // of the best with one setting: what a second one must gain

// Fields of the layout that no search chooses.
struct OwnWord {
  std::string_view field, axis;                // axis: whose value the plan's own value belongs to; empty: it stays whatever is searched
  std::array<std::string_view, 2> may_gain{};  // values that may be faster than a plan's
  bool is_asked_by_search = false;             // what the plan says is asked for as an axis
};
constexpr std::array kOwnWords = std::to_array<OwnWord>({{"bucket_size", "", {"40 MiB", "160 MiB"}},
                                                         {"prefetch", "", {"1"}},
                                                         {"cuda_graphs", "", {"per_layer", "full_iteration"}, true},
                                                         {"graph_scope", "cuda_graphs", {""}},
                                                         {"attention", "", {"as_the_program"}, true},
                                                         {"recompute_scope", "", {}, true},
                                                         {"optimizer_in_backward", "", {"true", "false"}},
                                                         {"paged_optimizer", "", {"true", "false"}},
                                                         {"first_bucket_size", ""},
                                                         {"gradient_sync", "zero", {"reduce_scatter"}},
                                                         {"overlap_weight_gather", "zero", {"true"}},
                                                         {"post_validation", "pipeline", {"in_place"}},
                                                         {"partition_size", "zero"},
                                                         {"credit_size", "zero"},
                                                         {"persistence_threshold", "zero"},
                                                         {"kept_until", "reshard_ranks"},
                                                         {"reshard_after_backward", "zero", {"last"}},
                                                         {"state_shards", "zero"},
                                                         {"weight_sync", "zero"},
                                                         {"delay_wgrad", "expert_overlap", {"true"}},
                                                         {"delay_head_wgrad", "schedule", {"1"}},
                                                         {"offload_modules", "recompute"},
                                                         {"offload_least", "recompute"},
                                                         {"offload_blocks", "recompute"},
                                                         {"offload_share", "offload_optimizer"},
                                                         {"on_drive", "zero", {"none"}},
                                                         {"context_by_document", "context"},
                                                         {"direct_source", "pipeline"},
                                                         {"passes", "pipeline", {"1"}},
                                                         {"tensor_overlap", "tensor", {"along_products", "beside_weights"}},
                                                         {"sync_batch_norm", ""},
                                                         {"microbatch_group", "schedule"}});

std::function<void(sim::ParallelPlan&)> words_of(const sim::ParallelPlan& given) {
  struct KeptWord {
    const sim::PlanField *field, *axis;
    sim::FieldValue value, at;
  };
  std::vector<KeptWord> words;
  for (const OwnWord& own : kOwnWords) {
    const sim::PlanField& field = sim::plan_field(own.field);
    if (own.is_asked_by_search || sim::is_at_default(field, given)) continue;
    const sim::PlanField* const axis = own.axis.empty() ? nullptr : &sim::plan_field(own.axis);
    words.push_back({&field, axis, field.access.get(given), axis == nullptr ? sim::FieldValue() : axis->access.get(given)});
  }
  const sim::ParallelPlan usual;
  return [words, usual](sim::ParallelPlan& plan) {
    for (const KeptWord& word : words) {
      const bool belongs = word.axis == nullptr || word.axis->access.get(plan) == word.at;
      word.field->access.set(plan, belongs ? word.value : word.field->access.get(usual));
    }
    sim::keep_drives_to_the_host(plan);
  };
}

// Settings that follow from others, where both plans have a use for them.
bool follows(std::string_view name, const PlanCandidate& a, const PlanCandidate& b) {
  const auto either = [&](auto holds) { return holds(a) || holds(b); };
  if (name == "data") return true;
  if (name == "slices") return either([](const PlanCandidate& at) { return at.mesh.pipeline == 1; });
  if (name == "schedule") return a.chunks != b.chunks || either([](const PlanCandidate& at) { return at.mesh.pipeline == 1; });
  if (name == "accumulation") return a.zero_stage != b.zero_stage;
  if (name == "expert_tensor") return either([](const PlanCandidate& at) { return at.mesh.tensor == 1; });
  return name == "recompute_scope" && a.recompute != b.recompute;
}

// As candidates, and as the plans that have uses for their settings.
class Settings {
 public:
  explicit Settings(const sim::ParallelPlan& from) : from_(from), to_(from), at_(candidate_of(from)) {}
  std::vector<std::string> changed(const PlanCandidate& to);

 private:
  const sim::ParallelPlan& from_;
  sim::ParallelPlan to_;
  PlanCandidate at_;
};

std::vector<std::string> Settings::changed(const PlanCandidate& to) {
  put_into(to, to_);
  std::vector<std::string> changed;
  for (const Axis& axis : all_axes())
    if (axis.number(at_) != axis.number(to) && sim::has_use(*axis.field, from_) && sim::has_use(*axis.field, to_) &&
        !follows(axis.field->name, at_, to))
      changed.emplace_back(axis.field->name);
  return changed;
}

struct Neighbor {
  std::vector<std::string> changed;
  sim::ParallelPlan plan;
  sim::SimTime bound{};
};

class Neighborhood {
 public:
  Neighborhood(const SearchRequest& request, const Given& given)
      : request_(request),
        given_(given),
        model_(sim::make_model_graph(given.plan)),
        evaluator_(request, model_),
        ranking_(request),
        given_rank_(ranking_.of_step(step_time_of(given.result))),
        settings_(given.plan) {
    given_is_safe_ = given.result.fits && given.result.peak_memory <= memory_limit(request) &&
                     sim::out_of_memory_chance(given.plan, given.result, memory_limit(request)) <= request.risk;
  }
  Improvements run();

 private:
  std::vector<Neighbor> with(const std::vector<PlanCandidate>& candidates, std::size_t settings);
  std::vector<Neighbor> with_words();
  std::vector<Neighbor> with_least_recomputed();
  std::optional<Neighbor> promising(const PlanCandidate& candidate, std::vector<std::string> changed);
  std::vector<Improvement> simulated(std::vector<Neighbor> neighbors);

  const SearchRequest& request_;
  const Given& given_;
  sim::ModelGraph model_;
  Evaluator evaluator_;
  Ranking ranking_;
  sim::SimTime given_rank_;
  Settings settings_;
  bool given_is_safe_ = false;
  Improvements found_;
};

// A plan of the same stages keeps its cut.
std::optional<Neighbor> Neighborhood::promising(const PlanCandidate& candidate, std::vector<std::string> changed) {
  const auto is_behind = [&](sim::SimTime rank) { return given_is_safe_ && rank >= given_rank_; };
  if (is_behind(ranking_.of_step(evaluator_.first_time(candidate)))) return std::nullopt;
  if (evaluator_.sketch(candidate).verdict != Verdict::Open) return std::nullopt;
  const Judgement judged = evaluator_.judge(candidate);
  if (judged.verdict != Verdict::Open) return std::nullopt;
  const sim::SimTime bound = ranking_.of_step(evaluator_.judged_time(judged, candidate));
  if (is_behind(bound)) return std::nullopt;
  if (judged.memory > sim::most_occupied(request_.cluster, {.limit = memory_limit(request_), .chance = request_.risk})) return std::nullopt;
  Neighbor neighbor{.changed = std::move(changed), .plan = evaluator_.plan(candidate), .bound = bound};
  const bool same_stages = neighbor.plan.mesh.pipeline == given_.plan.mesh.pipeline && neighbor.plan.chunks == given_.plan.chunks;
  if (same_stages && neighbor.plan.placement() == given_.plan.placement()) neighbor.plan.cut = given_.plan.cut;
  return neighbor;
}

std::vector<Neighbor> Neighborhood::with(const std::vector<PlanCandidate>& candidates, std::size_t settings) {
  std::vector<Neighbor> neighbors;
  for (const PlanCandidate& candidate : candidates) {
    std::vector<std::string> changed = settings_.changed(candidate);
    if (changed.size() != settings) continue;
    ++found_.neighbors;
    if (std::optional<Neighbor> neighbor = promising(candidate, std::move(changed))) neighbors.push_back(*std::move(neighbor));
  }
  std::stable_sort(neighbors.begin(), neighbors.end(), [](const Neighbor& a, const Neighbor& b) { return a.bound < b.bound; });
  if (neighbors.size() > kNeighborsSimulated) neighbors.resize(kNeighborsSimulated);
  return neighbors;
}

// The plan itself, but for one word that no search chooses.
std::vector<Neighbor> Neighborhood::with_words() {
  std::vector<Neighbor> neighbors;
  for (const OwnWord& word : kOwnWords)
    for (const std::string_view text : word.may_gain) {
      const sim::PlanField& field = sim::plan_field(word.field);
      Neighbor neighbor{.changed = {std::string(word.field)}, .plan = given_.plan};
      const std::optional<sim::FieldValue> value = sim::parse_value(field, text);
      if (!value || sim::text_of(field, given_.plan) == text) continue;
      field.access.set(neighbor.plan, *value);
      if (!sim::violations(neighbor.plan).empty() || (request_.why_not && !request_.why_not(neighbor.plan).empty())) continue;
      ++found_.neighbors;
      neighbors.push_back(std::move(neighbor));
    }
  return neighbors;
}

// Where all blocks are computed again, or nothing else is known to fit: as few as fit, stage by stage.
std::vector<Neighbor> Neighborhood::with_least_recomputed() {
  sim::ParallelPlan base = given_.plan;
  const bool is_full = base.recompute == sim::Recompute::Full;
  if (!is_full && given_is_safe_) return {};
  base.recompute = sim::Recompute::Full;
  base.recompute_scope = {};
  if (!sim::violations(base).empty()) return {};
  std::vector<Neighbor> neighbors;
  for (const sim::ParallelPlan& plan :
       planner::with_least_recomputed(model_, base, {.limit = memory_limit(request_), .chance = request_.risk})) {
    if (plan.recompute != sim::Recompute::Full || plan.recompute_scope == given_.plan.recompute_scope) continue;
    if (!sim::violations(plan).empty() || (request_.why_not && !request_.why_not(plan).empty())) continue;
    ++found_.neighbors;
    neighbors.push_back({.changed = {is_full ? "recompute_scope" : "recompute"}, .plan = plan});
  }
  return neighbors;
}

// The best first; only those that are better than the plan.
std::vector<Improvement> Neighborhood::simulated(std::vector<Neighbor> neighbors) {
  std::vector<sim::SimulationResult> results(neighbors.size());
  tbb::parallel_for(std::size_t{0}, neighbors.size(), [&](std::size_t at) { results[at] = sim::simulate(model_, neighbors[at].plan); });
  found_.simulated += std::ssize(neighbors);
  std::vector<Improvement> better;
  for (std::size_t at = 0; at < neighbors.size(); ++at) {
    sim::ParallelPlan& plan = neighbors[at].plan;
    const sim::SimulationResult& result = results[at];
    const double chance = sim::out_of_memory_chance(plan, result, memory_limit(request_));
    if (!result.host_fits || result.peak_memory > memory_limit(request_) || chance > request_.risk) continue;
    const double measure = ranking_.measure(ranking_.of_step(step_time_of(result)));
    if (given_is_safe_ && measure > kWorthOne * ranking_.measure(given_rank_)) continue;
    put_predictions(plan, result);
    better.push_back({std::move(plan), result, std::move(neighbors[at].changed), chance, measure});
  }
  std::stable_sort(better.begin(), better.end(), [](const Improvement& a, const Improvement& b) { return a.measure < b.measure; });
  return better;
}

// Of each set of settings the best values.
std::vector<Improvement> best_of_each(std::vector<Improvement> sorted, std::size_t most) {
  std::vector<Improvement> best;
  for (Improvement& one : sorted) {
    const auto same = [&](const Improvement& other) { return other.changed == one.changed; };
    if (best.size() < most && std::none_of(best.begin(), best.end(), same)) best.push_back(std::move(one));
  }
  return best;
}

Improvements Neighborhood::run() {
  const std::vector<PlanCandidate> candidates = enumerate(request_).candidates.all();
  std::vector<Neighbor> neighbors = with(candidates, 1);
  std::ranges::move(with_words(), std::back_inserter(neighbors));
  std::ranges::move(with_least_recomputed(), std::back_inserter(neighbors));
  found_.one = best_of_each(simulated(std::move(neighbors)), kShownOfOne);
  std::vector<Improvement> two = simulated(with(candidates, 2));
  if (!found_.one.empty()) std::erase_if(two, [&](const Improvement& one) { return one.measure > kWorthTwo * found_.one.front().measure; });
  found_.two = best_of_each(std::move(two), kShownOfTwo);
  return std::move(found_);
}

}  // namespace

SearchRequest request_like(const sim::ParallelPlan& plan) {
  SearchRequest request;
  request.model = plan.model;
  request.cluster = plan.cluster;
  request.workload = plan.workload;
  request.vocabulary_multiple = plan.vocabulary_multiple;
  request.training = plan.training;
  request.offload = plan.offload_optimizer || plan.offload_activations;
  request.habits = words_of(plan);
  for (const OwnWord& own : kOwnWords)
    if (const sim::PlanField& field = sim::plan_field(own.field); own.is_asked_by_search && !sim::is_at_default(field, plan))
      request.own[std::string(own.field)] = sim::text_of(field, plan);
  return request;
}

Improvements improvements(const SearchRequest& request, const Given& given) { return Neighborhood(request, given).run(); }

}  // namespace planner
