#include "planner/search_space.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "planner/expert_space.h"
#include "planner/fixed_axes.h"
#include "planner/host_space.h"
#include "planner/mesh_space.h"
#include "planner/recomputation.h"
#include "planner/sayable.h"
#include "planner/shape_space.h"
#include "planner/sharding_space.h"
#include "planner/vary.h"

namespace planner {
namespace {

class Enumerator {
 public:
  explicit Enumerator(const SearchRequest& request)
      : request_(request),
        fixed_(read_fixed_axes(request.fixed)),
        own_(read_fixed_axes(request.own)),
        model_(sim::make_model_graph(request.model, {request.vocabulary_multiple}, request.workload.precision)) {}
  SearchSpace run(const std::atomic<bool>* cancel) &&;

 private:
  void add_mesh(const sim::DeviceMesh& mesh);
  void add_words(const PlanCandidate& shape);
  void keep_allowed(std::vector<PlanCandidate>& all);
  // schedule, pairs, sums several, sizes of units; of slices: microbatch; of a kernel of attention: how context ranks meet
  using WordsKey = std::tuple<std::int32_t, bool, bool, std::vector<std::int32_t>, std::int32_t, std::optional<sim::ContextAlgorithm>>;
  WordsKey words_key(const PlanCandidate& shape) const;
  sim::AttentionWord attention() const { return attention_of(fixed_, own_); }
  std::vector<bool> sequence_parallel_options(const sim::DeviceMesh& mesh) const;
  bool is_cut_so(const PlanCandidate& at);
  void exclude_sequence_parallel();

  const SearchRequest& request_;
  FixedAxes fixed_, own_;
  sim::ModelGraph model_;
  SearchSpace space_;
  UnsayableFamilies unsayable_{space_.excluded};
  ShapeSpace shapes_{request_, fixed_, space_.excluded, unsayable_};
  ShardingSpace sharding_{request_, fixed_, model_, unsayable_};
  ExpertSpace experts_{request_, fixed_};
  RecomputationSpace recomputation_{request_, fixed_, own_, model_};
  HostSpace host_{request_, fixed_, sharding_};
  std::map<bool, std::optional<sim::Violation>> cut_so_;          // by sequence parallel: why not
  std::map<WordsKey, std::optional<std::size_t>> words_of_mesh_;  // numbers of lists: most shapes of a mesh have the words of another
  std::vector<Reason> refusals_;                                  // of the mesh at hand: schedules and chunks that its shape cannot have
};

void Enumerator::add_mesh(const sim::DeviceMesh& mesh) {
  refusals_.clear();
  words_of_mesh_.clear();
  const std::size_t before = space_.candidates.size();
  shapes_.visit(mesh, refusals_, [&](PlanCandidate shape) {
    for (const bool overlaps : experts_.overlaps(shape)) {
      shape.expert_overlap = overlaps;
      add_words(shape);
    }
  });
  if (space_.candidates.size() == before && !refusals_.empty()) shapes_.exclude_mesh(mesh, refusals_.front());
}

std::vector<bool> Enumerator::sequence_parallel_options(const sim::DeviceMesh& mesh) const {
  const bool possible = mesh.tensor > 1 && request_.workload.sequence / mesh.context % mesh.tensor == 0;
  if (mesh.cuts_experts_apart() && mesh.tensor > 1)  // tokens go to experts as it cuts them
    return possible && (!fixed_.has("sequence_parallel") || fixed_.at.sequence_parallel) ? std::vector{true} : std::vector<bool>{};
  if (fixed_.has("sequence_parallel"))
    return fixed_.at.sequence_parallel && !possible ? std::vector<bool>{} : std::vector{fixed_.at.sequence_parallel};
  return possible ? std::vector{false, true} : std::vector{false};
}

// What the words of a shape depend on, beside its mesh.
Enumerator::WordsKey Enumerator::words_key(const PlanCandidate& shape) const {
  PlanCandidate sharded = shape;
  sharded.zero_stage = 3;
  return {shape.schedule,
          shape.expert_overlap,
          request_.workload.global_batch / shape.mesh.data > shape.microbatch,
          sharding_.unit_sizes(sharded),
          fixed_.at.slices > 1 ? shape.microbatch : 0,
          attention() == sim::AttentionWord::AsTheProgram ? std::nullopt : std::optional(shape.context_algorithm)};
}

// Asked once for each value.
bool Enumerator::is_cut_so(const PlanCandidate& at) {
  if (at.mesh.tensor == 1 || fixed_.has("sequence_parallel")) return true;
  const auto [known, is_new] = cut_so_.try_emplace(at.sequence_parallel);
  if (is_new) known->second = why_not_cut_so(request_, at.sequence_parallel);
  if (known->second) unsayable_.tell(fmt::format("sequence_parallel={}", at.sequence_parallel), *known->second);
  return !known->second;
}

// All of them, an axis after the other: the last turns fastest.
void Enumerator::add_words(const PlanCandidate& shape) {
  const auto [words, is_new] = words_of_mesh_.try_emplace(words_key(shape));
  if (!is_new) {
    if (words->second) space_.candidates.add(shape, *words->second);
    return;
  }
  std::vector<PlanCandidate> all{shape};
  sharding_.vary_all(all);
  vary(all, &PlanCandidate::sequence_parallel, [&](const PlanCandidate&) { return sequence_parallel_options(shape.mesh); });
  std::erase_if(all, [&](const PlanCandidate& at) { return !is_cut_so(at); });
  vary(all, &PlanCandidate::token_dispatcher, [&](const PlanCandidate& at) { return experts_.dispatchers(at); });
  std::erase_if(all, [&](const PlanCandidate& at) { return at.expert_overlap && !ExpertSpace::may_overlap(at); });
  recomputation_.vary_all(all);
  host_.vary_all(all);
  for (PlanCandidate& one : all) {
    one.cuda_graphs = fixed_.has("cuda_graphs") ? fixed_.at.cuda_graphs : own_.at.cuda_graphs;
    one.attention = attention();
  }
  keep_allowed(all);
  words->second = space_.candidates.add(std::move(all));
}

// Of slices, and of a kernel of attention, that are asked for, what they may stand beside; where that is nothing, one rule that they break.
void Enumerator::keep_allowed(std::vector<PlanCandidate>& all) {
  if (all.empty() || (fixed_.at.slices == 1 && attention() == sim::AttentionWord::AsTheProgram)) return;
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

SearchSpace Enumerator::run(const std::atomic<bool>* cancel) && {
  MeshSpace meshes = enumerate_meshes(request_, fixed_);
  space_.excluded = std::move(meshes.excluded);
  for (const sim::DeviceMesh& mesh : meshes.meshes) {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) return std::move(space_);
    add_mesh(mesh);
  }
  if (!meshes.possible) space_.candidates.clear();
  exclude_sequence_parallel();
  return std::move(space_);
}

}  // namespace

SearchSpace enumerate(const SearchRequest& request, const std::atomic<bool>* cancel) { return Enumerator(request).run(cancel); }

}  // namespace planner
