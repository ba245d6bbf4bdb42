#include "planner/search_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "planner/constraints.h"
#include "planner/expert_space.h"
#include "planner/fixed_axes.h"
#include "planner/mesh_space.h"
#include "planner/recomputation.h"
#include "planner/sayable.h"
#include "sim/schedule/schedule.h"
#include "sim/sharding/sharding.h"
#include "sim/units/at.h"

namespace planner {
namespace {

constexpr std::string_view kPlainSchedule = "1f1b";  // where there is no order to choose

std::int32_t nearest_divisor(std::int64_t number, std::int32_t refused) {
  const std::vector<std::int32_t> all = divisors(number);
  const auto above = std::lower_bound(all.begin(), all.end(), refused);  // all.front() == 1 <= refused
  if (above == all.end()) return all.back();
  return std::int64_t{*above} * *std::prev(above) < std::int64_t{refused} * refused ? *above : *std::prev(above);
}

// A row of the table that runs the shape with its own number of chunks; with one chunk where it can.
std::string nearest_schedule(sim::PipelineShape shape) {
  for (shape.chunks = 1; shape.chunks <= 2; ++shape.chunks)
    for (const sim::Schedule& schedule : sim::all_schedules())
      if (!schedule.why_unsupported(shape)) return fmt::format("schedule={} chunks={}", schedule.name, shape.chunks);
  return "";
}

// Each of them, once for each value that it may have on the axis.
template <class Value, class Values>
void vary(std::vector<PlanCandidate>& all, Value PlanCandidate::*axis, Values values) {
  std::vector<PlanCandidate> varied;
  for (const PlanCandidate& one : all)
    for (const Value value : values(one)) {
      varied.push_back(one);
      varied.back().*axis = value;
    }
  all = std::move(varied);
}

class Enumerator {
 public:
  explicit Enumerator(const SearchRequest& request)
      : request_(request),
        fixed_(read_fixed_axes(request.fixed)),
        own_(read_fixed_axes(request.own)),
        model_(sim::make_model_graph(request.model, {request.vocabulary_multiple})),
        experts_(request, fixed_),
        module_levels_(request, model_) {}
  SearchSpace run() &&;

 private:
  struct Shape {  // of a mesh: what is left to choose are the memory options
    sim::DeviceMesh mesh;
    sim::ContextAlgorithm algorithm = sim::ContextAlgorithm::Ring;
    std::int32_t microbatch = 1, schedule = 0, chunks = 1;
  };
  void add_mesh(const sim::DeviceMesh& mesh);
  std::vector<std::int32_t> microbatches(const sim::DeviceMesh& mesh);
  std::vector<sim::ContextAlgorithm> context_algorithms(const sim::DeviceMesh& mesh);
  void add_schedules(const Shape& shape);
  void add_chunks(const Shape& shape, std::int32_t microbatches);
  std::optional<Reason> why_not_chunks(const Shape& shape, std::int32_t microbatches) const;
  bool is_performed(std::size_t schedule, const sim::DeviceMesh& mesh);
  bool is_choice(std::string_view schedule, const sim::DeviceMesh& mesh, std::int32_t microbatches) const;
  void add_options(const Shape& shape);
  void keep_slices(std::vector<PlanCandidate>& all);
  using WordsKey = std::tuple<std::int32_t, bool, std::vector<std::int32_t>,
                              std::int32_t>;  // schedule, sums several, sizes of units; of slices: microbatch
  WordsKey words_key(const Shape& shape) const;
  bool is_sayable(const PlanCandidate& at);
  void tell_unsayable(const std::string& family, const sim::Violation& refused);
  bool is_cut_so(const PlanCandidate& at);
  std::vector<std::int32_t> zero_stages(const sim::DeviceMesh& mesh) const;
  std::vector<sim::Recompute> recomputes(const PlanCandidate& candidate) const;
  std::vector<sim::RecomputeScope> scopes(const PlanCandidate& candidate);
  std::vector<sim::Accumulation> accumulations(const PlanCandidate& candidate) const;
  std::vector<bool> reshards(std::int32_t zero_stage) const;
  std::vector<bool> host_optimizers() const;
  bool may_hold_weights(const PlanCandidate& candidate) const;
  std::vector<bool> host_weights(const PlanCandidate& candidate);
  std::vector<bool> host_inputs(const PlanCandidate& candidate) const;
  bool asks_for_weights_on_host() const { return fixed_.has("offload_parameters") && fixed_.at.offload_parameters; }
  std::vector<std::int32_t> reshard_sizes(const PlanCandidate& candidate) const;
  std::vector<std::int32_t> unit_sizes(const Shape& shape, std::int32_t zero_stage) const;
  std::vector<bool> sequence_parallel_options(const sim::DeviceMesh& mesh) const;
  void exclude_sequence_parallel();

  const SearchRequest& request_;
  FixedAxes fixed_, own_;
  sim::ModelGraph model_;
  ExpertSpace experts_;
  SayableSharding sharding_{request_};
  std::set<std::string> unsayable_;                       // families that are told
  std::map<bool, std::optional<sim::Violation>> cut_so_;  // by sequence parallel: why not
  std::map<std::size_t, bool> performed_;                 // by row of all_schedules(): those that were asked for
  ModuleLevels module_levels_;
  SearchSpace space_;
  std::map<WordsKey, std::optional<std::size_t>> words_of_mesh_;  // numbers of lists: most shapes of a mesh have the words of another
  std::vector<Reason> refusals_;                                  // of the mesh at hand: schedules and chunks that its shape cannot have
};

// Those whose rules the mesh keeps; what is fixed and breaks one is told.
std::vector<sim::ContextAlgorithm> Enumerator::context_algorithms(const sim::DeviceMesh& mesh) {
  using sim::ContextAlgorithm;
  if (mesh.context == 1) return {ContextAlgorithm::Ring};
  std::vector<ContextAlgorithm> allowed;
  std::vector<sim::Violation> broken;
  std::vector<ContextAlgorithm> wanted = {ContextAlgorithm::Ring, ContextAlgorithm::AllGather, ContextAlgorithm::AllToAll};
  if (mesh.context_inner > 1) wanted = {ContextAlgorithm::Hierarchical};
  if (fixed_.has("context_algorithm")) wanted = {fixed_.at.context_algorithm};
  for (const ContextAlgorithm algorithm : wanted) {
    sim::ParallelPlan plan = make_plan(request_, {.mesh = mesh, .context_algorithm = algorithm});
    broken = sim::violations(plan);
    std::erase_if(broken, [](const sim::Violation& violation) { return violation.where.find("context") == std::string::npos; });
    if (broken.empty()) allowed.push_back(algorithm);
  }
  if (allowed.empty() && !broken.empty())
    space_.excluded.push_back(exclude(fmt::format("context={} tensor={}", mesh.context, mesh.tensor),
                                      {"shape.rule", {{"where", broken.front().where}, {"problem", broken.front().problem}}}, "context=1"));
  return allowed;
}

void Enumerator::add_mesh(const sim::DeviceMesh& mesh) {
  refusals_.clear();
  words_of_mesh_.clear();
  const std::size_t before = space_.candidates.size();
  const std::vector<std::int32_t> sizes = microbatches(mesh);
  const std::vector<sim::ContextAlgorithm> algorithms = context_algorithms(mesh);
  for (const std::int32_t microbatch : sizes)
    for (const sim::ContextAlgorithm algorithm : algorithms)
      add_schedules({.mesh = mesh, .algorithm = algorithm, .microbatch = microbatch});
  if (space_.candidates.size() != before || refusals_.empty()) return;
  const auto first = static_cast<std::int32_t>(request_.workload.global_batch / mesh.data / sizes.front());
  space_.excluded.push_back(
      exclude(fmt::format("data={} tensor={} pipeline={}", mesh.data, mesh.tensor, mesh.pipeline), refusals_.front(),
              fixed_.at.slices > 1 ? "slices=1" : nearest_schedule({.stages = mesh.pipeline, .microbatches = first, .chunks = 1})));
}

std::vector<std::int32_t> Enumerator::microbatches(const sim::DeviceMesh& mesh) {
  const std::int64_t samples = request_.workload.global_batch / mesh.data;
  if (!fixed_.has("microbatch")) return divisors(samples);
  const std::int32_t asked = fixed_.at.microbatch;
  if (samples % asked == 0) return {asked};
  space_.excluded.push_back(
      exclude(fmt::format("data={} microbatch={}", mesh.data, asked),
              {"divisibility.microbatch", {{"samples", std::to_string(samples)}, {"microbatch", std::to_string(asked)}}},
              fmt::format("microbatch={}", nearest_divisor(samples, asked))));
  return {};
}

void Enumerator::add_schedules(const Shape& shape) {
  const auto microbatches = static_cast<std::int32_t>(request_.workload.global_batch / shape.mesh.data / shape.microbatch);
  const auto rows = sim::all_schedules();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!is_choice(rows[row].name, shape.mesh, microbatches) || !is_performed(row, shape.mesh)) continue;
    Shape scheduled = shape;
    scheduled.schedule = static_cast<std::int32_t>(row);
    add_chunks(scheduled, microbatches);
  }
}

// An order that the program does not have is told once.
bool Enumerator::is_performed(std::size_t schedule, const sim::DeviceMesh& mesh) {
  if (mesh.pipeline == 1 || fixed_.has("schedule")) return true;
  const auto [known, is_new] = performed_.try_emplace(schedule, true);
  if (!is_new) return known->second;
  const std::optional<sim::Violation> refused = why_not_performed(request_, static_cast<std::int32_t>(schedule));
  if (!refused) return true;
  tell_unsayable(fmt::format("schedule={}", sim::all_schedules()[schedule].name), *refused);
  return known->second = false;
}

void Enumerator::add_chunks(const Shape& shape, std::int32_t microbatches) {
  const auto most = static_cast<std::int32_t>(request_.model.layers / shape.mesh.pipeline);
  const std::int32_t last = fixed_.has("chunks") ? fixed_.at.chunks : most;
  Shape complete = shape;
  for (complete.chunks = fixed_.at.chunks; complete.chunks <= last; ++complete.chunks) {
    std::optional<Reason> why = why_not_chunks(complete, microbatches);
    if (why)
      refusals_.push_back(*std::move(why));
    else
      add_options(complete);
  }
}

std::optional<Reason> Enumerator::why_not_chunks(const Shape& shape, std::int32_t microbatches) const {
  const Argument stages{"stages", std::to_string(shape.mesh.pipeline)}, chunks{"chunks", std::to_string(shape.chunks)};
  const std::int64_t parts = std::int64_t{shape.mesh.pipeline} * shape.chunks;
  if (parts > request_.model.layers)
    return Reason{"shape.blocks", {stages, chunks, {"parts", std::to_string(parts)}, {"blocks", std::to_string(request_.model.layers)}}};
  const sim::Schedule& schedule = sim::at(sim::all_schedules(), shape.schedule);
  const auto why = schedule.why_unsupported(
      {.stages = shape.mesh.pipeline, .microbatches = microbatches, .chunks = shape.chunks, .slices = fixed_.at.slices});
  if (!why) return std::nullopt;
  return Reason{"shape.schedule",
                {{"schedule", std::string(schedule.name)}, stages, {"microbatches", std::to_string(microbatches)}, chunks, {"why", *why}}};
}

// Whether the row is another order than the plain one (see the header); a fixed schedule is taken at its word.
bool Enumerator::is_choice(std::string_view schedule, const sim::DeviceMesh& mesh, std::int32_t microbatches) const {
  if (fixed_.has("schedule")) return schedule == sim::at(sim::all_schedules(), fixed_.at.schedule).name;
  const bool has_order = mesh.pipeline > 1 && microbatches * fixed_.at.slices > 1;
  const bool takes_chunks = !sim::find_schedule(schedule)->why_unsupported({.stages = 2, .microbatches = 2, .chunks = 2});
  return has_order || schedule == kPlainSchedule || (takes_chunks && mesh.pipeline > 1);
}

std::vector<bool> Enumerator::sequence_parallel_options(const sim::DeviceMesh& mesh) const {
  const bool possible = mesh.tensor > 1 && request_.workload.sequence / mesh.context % mesh.tensor == 0;
  if (mesh.cuts_experts_apart() && mesh.tensor > 1)  // tokens go to experts as it cuts them
    return possible && (!fixed_.has("sequence_parallel") || fixed_.at.sequence_parallel) ? std::vector{true} : std::vector<bool>{};
  if (fixed_.has("sequence_parallel"))
    return fixed_.at.sequence_parallel && !possible ? std::vector<bool>{} : std::vector{fixed_.at.sequence_parallel};
  return possible ? std::vector{false, true} : std::vector{false};
}

std::vector<std::int32_t> Enumerator::zero_stages(const sim::DeviceMesh& mesh) const {
  if (fixed_.has("zero")) return {fixed_.at.zero_stage};
  if (mesh.replicas > 1) return {1, 2, 3};
  const bool may_need_host = mesh.tensor == 1 && (request_.offload || asks_for_weights_on_host());
  return mesh.copies() > 1 ? std::vector{0, 1, 2, 3} : may_need_host ? std::vector{0, 3} : std::vector{0};
}

std::vector<sim::Accumulation> Enumerator::accumulations(const PlanCandidate& candidate) const {
  using enum sim::Accumulation;
  if (fixed_.has("accumulation")) return {fixed_.at.accumulation};
  const bool sums_several = request_.workload.global_batch / candidate.mesh.data > candidate.microbatch;
  const bool splits = sim::at(sim::all_schedules(), candidate.schedule).splits_backward;
  const bool sums_copies = candidate.mesh.copies() > 1 || candidate.zero_stage == 3;  // 3 of one: onto the host
  return sums_several && sums_copies && !splits ? std::vector{ReduceLast, ReduceEach} : std::vector{ReduceLast};
}

std::vector<sim::Recompute> Enumerator::recomputes(const PlanCandidate& at) const {
  using enum sim::Recompute;
  std::vector<sim::Recompute> all = fixed_.has("recompute") ? std::vector{fixed_.at.recompute} : std::vector{None, Selective, Full};
  if (at.expert_overlap) std::erase(all, Full);  // which exchanges tokens again
  return all;
}

// Selective without parts computes scores again, which a fused attention does not keep.
std::vector<sim::RecomputeScope> Enumerator::scopes(const PlanCandidate& at) {
  const bool selective = at.recompute == sim::Recompute::Selective;
  const auto goes = [&](const sim::RecomputeScope& scope) {
    if (scope == sim::RecomputeScope{}) return !selective || request_.model.attention_dropout > 0 || fixed_.has("recompute");
    if (at.expert_overlap && scope.modules.has(sim::Module::Moe)) return false;
    return scope.modules.none() ? at.recompute == sim::Recompute::Full : selective;
  };
  std::vector<sim::RecomputeScope> all{{}};
  if (selective)
    for (const sim::Modules modules : module_levels_.of(at)) all.push_back({.modules = modules});
  if (own_.has("recompute_scope") && std::ranges::find(all, own_.at.scope) == all.end()) all.push_back(own_.at.scope);
  if (fixed_.has("recompute_scope")) all = {fixed_.at.scope};
  std::erase_if(all, [&](const sim::RecomputeScope& scope) { return !goes(scope); });
  return all;
}

std::vector<bool> Enumerator::host_optimizers() const {
  if (fixed_.has("offload_optimizer")) return {fixed_.at.offload_optimizer};
  if (asks_for_weights_on_host()) return {true};
  return request_.offload ? std::vector{false, true} : std::vector{false};
}

// As check_weights_on_host has it.
bool Enumerator::may_hold_weights(const PlanCandidate& at) const {
  const bool sums_several = request_.workload.global_batch / at.mesh.data > at.microbatch;
  return at.zero_stage == 3 && at.offload_optimizer && at.mesh.tensor == 1 && at.reshard_ranks == 1 &&
         (!sums_several || at.accumulation == sim::Accumulation::ReduceEach);
}

std::vector<bool> Enumerator::host_weights(const PlanCandidate& at) {
  PlanCandidate with_word = at;
  with_word.offload_parameters = true;
  const bool possible = may_hold_weights(at);
  if (fixed_.has("offload_parameters"))
    return fixed_.at.offload_parameters && !possible ? std::vector<bool>{} : std::vector{fixed_.at.offload_parameters};
  std::vector<bool> all;
  const bool equals_other = at.mesh.copies() == 1 && at.zero_stage == 3 && !fixed_.has("zero");
  if (!equals_other) all.push_back(false);
  if (possible && request_.offload && !sharding_.why_not(with_word)) all.push_back(true);
  return all;
}

// Inputs that wait for their backward are those of recomputed blocks; where they go the optimizer goes first, which moves less for more.
std::vector<bool> Enumerator::host_inputs(const PlanCandidate& candidate) const {
  const bool possible = candidate.recompute == sim::Recompute::Full && candidate.scope == sim::RecomputeScope{};
  if (fixed_.has("offload_activations"))
    return fixed_.at.offload_activations && !possible ? std::vector<bool>{} : std::vector{fixed_.at.offload_activations};
  return request_.offload && possible && candidate.offload_optimizer ? std::vector{false, true} : std::vector{false};
}

std::vector<bool> Enumerator::reshards(std::int32_t zero_stage) const {
  if (zero_stage < 3) return {true};
  return fixed_.has("reshard") ? std::vector{fixed_.at.reshard} : std::vector{true, false};
}

// All shards, or those of a node.
std::vector<std::int32_t> Enumerator::reshard_sizes(const PlanCandidate& candidate) const {
  const sim::DeviceMesh& mesh = candidate.mesh;
  if (candidate.zero_stage < 3 || !candidate.reshard) return {1};
  if (fixed_.has("reshard_ranks")) return {fixed_.at.reshard_ranks};
  const std::int32_t near = request_.cluster.devices_per_node() / mesh.tensor;
  const bool fills_node =
      near > 1 && near * mesh.tensor == request_.cluster.devices_per_node() && near < mesh.shards() && mesh.shards() % near == 0;
  return fills_node ? std::vector{1, near} : std::vector{1};
}

std::vector<std::int32_t> Enumerator::unit_sizes(const Shape& shape, std::int32_t zero_stage) const {
  if (zero_stage < 3) return {1};
  if (fixed_.has("layers_per_unit")) return {fixed_.at.layers_per_unit};
  const std::int64_t parts = std::int64_t{shape.mesh.pipeline} * shape.chunks, most = (request_.model.layers + parts - 1) / parts;
  std::int64_t block = 0;  // a rank's parameters of the last one: with experts where some blocks have them
  for (const sim::Parameter& parameter : model_.layers[model_.layers.size() - 2].parameters)
    block += sim::local_elements(parameter, shape.mesh);
  std::vector<std::int32_t> sizes{1};
  while (std::int64_t{sizes.back()} * 2 <= most && sizes.back() * block < kLeastUnit) sizes.push_back(sizes.back() * 2);
  return sizes;
}

// What the words of a shape depend on, beside its mesh.
Enumerator::WordsKey Enumerator::words_key(const Shape& shape) const {
  return {shape.schedule, request_.workload.global_batch / shape.mesh.data > shape.microbatch, unit_sizes(shape, 3),
          fixed_.at.slices > 1 ? shape.microbatch : 0};
}

// What the program that is asked for has no words for is told once.
bool Enumerator::is_sayable(const PlanCandidate& at) {
  for (const char* axis : {"zero", "accumulation", "reshard", "reshard_ranks"})
    if (fixed_.has(axis)) return true;
  const std::optional<sim::Violation>& refused = sharding_.why_not(at);
  if (!refused) return true;
  std::string family = fmt::format("zero={} accumulation={}", at.zero_stage, sim::at(sim::kAccumulationNames, at.accumulation));
  if (at.zero_stage == 3) family += fmt::format(" reshard={}", at.reshard);
  PlanCandidate other = at, of_all_shards = at;
  other.mesh.pipeline = at.mesh.pipeline > 1 ? 1 : 2;
  of_all_shards.reshard_ranks = 1;
  if (!sharding_.why_not(other)) family = (at.mesh.pipeline > 1 ? "pipeline=2.. " : "pipeline=1 ") + family;
  if (at.reshard_ranks > 1 && !sharding_.why_not(of_all_shards)) family = fmt::format("reshard_ranks={}", at.reshard_ranks);
  tell_unsayable(family, *refused);
  return false;
}

void Enumerator::tell_unsayable(const std::string& family, const sim::Violation& refused) {
  if (!unsayable_.insert(family).second) return;
  space_.excluded.push_back(exclude(family, {"not_runnable", {{"where", refused.where}, {"problem", refused.problem}}}, refused.remedy));
}

// Asked once for each value.
bool Enumerator::is_cut_so(const PlanCandidate& at) {
  if (at.mesh.tensor == 1 || fixed_.has("sequence_parallel")) return true;
  const auto [known, is_new] = cut_so_.try_emplace(at.sequence_parallel);
  if (is_new) known->second = why_not_cut_so(request_, at.sequence_parallel);
  if (known->second) tell_unsayable(fmt::format("sequence_parallel={}", at.sequence_parallel), *known->second);
  return !known->second;
}

// All of them, an axis after the other: the last turns fastest.
void Enumerator::add_options(const Shape& shape) {
  const PlanCandidate of_shape{.mesh = shape.mesh,
                               .context_algorithm = shape.algorithm,
                               .schedule = shape.schedule,
                               .chunks = shape.chunks,
                               .microbatch = shape.microbatch,
                               .slices = fixed_.at.slices};
  const auto [words, is_new] = words_of_mesh_.try_emplace(words_key(shape));
  if (!is_new) {
    if (words->second) space_.candidates.add(of_shape, *words->second);
    return;
  }
  std::vector<PlanCandidate> all{of_shape};
  vary(all, &PlanCandidate::zero_stage, [&](const PlanCandidate&) { return zero_stages(shape.mesh); });
  vary(all, &PlanCandidate::accumulation, [&](const PlanCandidate& at) { return accumulations(at); });
  vary(all, &PlanCandidate::reshard, [&](const PlanCandidate& at) { return reshards(at.zero_stage); });
  vary(all, &PlanCandidate::reshard_ranks, [&](const PlanCandidate& at) { return reshard_sizes(at); });
  std::erase_if(all, [&](const PlanCandidate& at) { return !is_sayable(at); });
  vary(all, &PlanCandidate::layers_per_unit, [&](const PlanCandidate& at) { return unit_sizes(shape, at.zero_stage); });
  vary(all, &PlanCandidate::sequence_parallel, [&](const PlanCandidate&) { return sequence_parallel_options(shape.mesh); });
  std::erase_if(all, [&](const PlanCandidate& at) { return !is_cut_so(at); });
  vary(all, &PlanCandidate::token_dispatcher, [&](const PlanCandidate& at) { return experts_.dispatchers(at); });
  vary(all, &PlanCandidate::expert_overlap, [&](const PlanCandidate& at) { return experts_.overlaps(at); });
  vary(all, &PlanCandidate::recompute, [&](const PlanCandidate& at) { return recomputes(at); });
  vary(all, &PlanCandidate::scope, [&](const PlanCandidate& at) { return scopes(at); });
  vary(all, &PlanCandidate::offload_optimizer, [&](const PlanCandidate&) { return host_optimizers(); });
  vary(all, &PlanCandidate::offload_parameters, [&](const PlanCandidate& at) { return host_weights(at); });
  vary(all, &PlanCandidate::offload_activations, [&](const PlanCandidate& at) { return host_inputs(at); });
  keep_slices(all);
  words->second = space_.candidates.add(std::move(all));
}

// Of slices that are asked for, what they may stand beside; where that is nothing, one rule that they break.
void Enumerator::keep_slices(std::vector<PlanCandidate>& all) {
  if (fixed_.at.slices == 1 || all.empty()) return;
  const std::vector<sim::Violation> broken = sim::violations(make_plan(request_, all.front()));
  std::erase_if(all, [&](const PlanCandidate& one) { return !sim::violations(make_plan(request_, one)).empty(); });
  if (all.empty() && !broken.empty())
    refusals_.push_back({"shape.rule", {{"where", broken.front().where}, {"problem", broken.front().problem}}});
}

// Asked for, but possible on no mesh.
void Enumerator::exclude_sequence_parallel() {
  if (!fixed_.at.sequence_parallel || !space_.candidates.empty()) return;
  const std::int32_t tensor = fixed_.at.mesh.tensor;
  if (tensor > 1 && request_.workload.sequence % tensor == 0) return;
  const Reason reason =
      tensor == 1
          ? Reason{"shape.sequence_parallel", {}}
          : Reason{"divisibility.sequence", {{"sequence", std::to_string(request_.workload.sequence)}, {"tensor", std::to_string(tensor)}}};
  space_.excluded.push_back(exclude("sequence_parallel=true", reason, "sequence_parallel=false"));
}

SearchSpace Enumerator::run() && {
  MeshSpace meshes = enumerate_meshes(request_, fixed_);
  space_.excluded = std::move(meshes.excluded);
  for (const sim::DeviceMesh& mesh : meshes.meshes) add_mesh(mesh);
  if (!meshes.possible) space_.candidates.clear();
  exclude_sequence_parallel();
  return std::move(space_);
}

}  // namespace

SearchSpace enumerate(const SearchRequest& request) { return Enumerator(request).run(); }

}  // namespace planner
