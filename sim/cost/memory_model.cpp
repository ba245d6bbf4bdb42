#include "sim/cost/memory_model.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "sim/cost/resident_memory.h"
#include "sim/cost/unit_memory.h"
#include "sim/task_graph/host_inputs.h"
#include "sim/task_graph/source_edges.h"
#include "sim/units/at.h"

namespace sim {

// Tasks with equal fields move the same memory. Looked up, never walked through.
struct EffectKey {
  StageIndex stage;
  LayerIndex layer;  // where it matters; else the first of its kind
  bool first_backward = false,
       last_slice = false,  // whose backward is its sample's first
      forgets = false,      // forgets: a forward that keeps nothing; a sum, made again, that nobody reads; what comes early
      splits = false,       // its weights' gradients are a task behind it
      sends = false,        // its modules send what they have saved to the host
      comes = false;        // what it reads has come into a place of the step
  BucketIndex bucket;
  Phase phase{};
  std::uint8_t in_group = 0;  // of blocks that are made again together
  Operation operation{};
  MeshAxis group{};
  Bytes payload{};
  std::int32_t number = 0;  // of a computation, among equal ones of its layer; of a source that is sent straight, its stage
  bool operator==(const EffectKey&) const = default;
};

struct EffectKeyHash {
  std::size_t operator()(const EffectKey& key) const {
    std::uint64_t hash = static_cast<std::uint64_t>(key.payload.value());
    const auto mix = [&](std::uint64_t value) {
      hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    };
    mix(static_cast<std::uint64_t>(key.number));
    mix(static_cast<std::uint64_t>(key.stage.value()) << 32 | static_cast<std::uint32_t>(key.layer.value()));
    mix(static_cast<std::uint64_t>(key.bucket.value()) << 32 | static_cast<std::uint64_t>(key.phase) << 24 |
        static_cast<std::uint64_t>(key.operation) << 16 | static_cast<std::uint64_t>(key.group) << 8 | (key.first_backward ? 1u : 0u) |
        (key.forgets ? 2u : 0u) | (key.last_slice ? 4u : 0u) | (key.splits ? 8u : 0u) | (key.sends ? 64u : 0u) | (key.comes ? 128u : 0u) |
        static_cast<std::uint64_t>(key.in_group) << 4);
    return static_cast<std::size_t>(hash);
  }
};

struct MemoryModel::State {
  State(const ModelGraph& model_graph, const ParallelPlan& parallel_plan, WholeBackwards whole)
      : model(model_graph), plan(parallel_plan), effects(model_graph, parallel_plan, std::move(whole)) {}

  EffectKey key(const Task& task) const {
    const bool begins = effects.gradients().may_begin(task.key);
    const bool is_embedding = task.key.layer == LayerIndex(0);  // whose gathered gradient is the stream's
    const bool computes = task.stream == Stream::Compute && task.key.layer.exists(),
               goes_straight = plan.direct_source && task.key.group == MeshAxis::Pipeline && is_of_source(task.key);
    return {.stage = task.key.stage,
            .layer = begins || is_embedding || model.config.convolution || !task.key.layer.exists()
                         ? task.key.layer
                         : model.firsts[model.kind(task.key.layer).position()],
            .first_backward = begins && effects.gradients().is_first_piece(task.key),
            .last_slice = plan.slices > 1 && task.key.slice.value() + 1 == plan.slices,
            .forgets = effects.forgets(task.key) || effects.is_for_nobody(task) || validates_step(task.key) || effects.comes_early(task),
            .splits = effects.splits(task.key),
            .sends = effects.sends_inputs(task.key),
            .comes = effects.reads_message_that_stays(task.key),
            .bucket = task.bucket,
            .phase = task.key.phase,
            .in_group = effects.place_in_group(task.key),
            .operation = task.key.operation,
            .group = task.key.group,
            .payload = task.payload,
            .number = computes || goes_straight || is_host_copy(task.key.operation) ? task.key.sequence : 0};
  }

  Bytes input_on_host(LayerIndex layer) const {
    if (plan.offload_modules.none()) return effects.stream_to(layer);
    Bytes all{};
    if (!plan.sends_modules(layer)) return all;
    for (const SegmentGraph& segment : model.layer(layer).segments) all += inputs_on_host(model, plan, segment);
    return all;
  }

  // Of blocks whose forward is done and whose backward is not.
  Bytes most_inputs_on_host(StageIndex stage) const {
    Bytes alive{}, most{};
    for (const StageAction& action : plan.keeps_on_host() ? plan.order(stage) : std::vector<StageAction>{}) {
      if (action.kind == ActionKind::Weight) continue;
      const LayerRange range = plan.layers(stage, action.chunk);
      Bytes inputs{};
      for (LayerIndex layer = range.begin; layer < range.end; ++layer)
        if (layer != LayerIndex(0) && layer != model.head() && model.goes_back(layer)) inputs += input_on_host(layer);
      alive += action.kind == ActionKind::Forward ? inputs : -inputs;
      most = std::max(most, alive);
    }
    return most;
  }

  // What a task does by itself, with what its unit does around it. None: its unit does nothing, and what it does is known as an effect.
  std::optional<MemorySteps> steps_with_units(const Task& task, const TaskGraph& graph) {
    if (!effects.follows_units()) return std::nullopt;
    if (!units) units = std::make_unique<UnitMemory>(model, plan, graph, effects.come());
    const UnitMoves* moves = units->of(task.key);
    const std::optional<OperatorSteps> steps = effects.steps_of(task.key);
    if (moves == nullptr && !steps) return std::nullopt;
    static const UnitMoves kNone;
    return joined(task, graph, moves == nullptr ? kNone : *moves, steps);
  }
  const MemoryEffect* with_units(const Task& task, const TaskGraph& graph) {
    if (!effects.follows_units()) return nullptr;
    if (const auto known_one = of_units.find(task.key); known_one != of_units.end()) return &known_one->second;
    const std::optional<MemorySteps> steps = steps_with_units(task, graph);
    return steps ? &of_units.emplace(task.key, effect_of(*steps)).first->second : nullptr;
  }
  MemorySteps joined(const Task& task, const TaskGraph& graph, const UnitMoves& moves, const std::optional<OperatorSteps>& steps) const {
    const bool forward = task.key.phase == Phase::Forward;
    MemorySteps all = moves.before;
    if (!steps) return all.add(steps_of(effects.of(task, graph))).add(moves.between).add(moves.after);
    return all.add(forward ? steps->inside : steps->loss).add(moves.between).add(forward ? steps->loss : steps->inside).add(moves.after);
  }

  const ModelGraph& model;
  const ParallelPlan& plan;
  MemoryEffects effects;
  std::unique_ptr<UnitMemory> units;  // of the graph
  std::map<TaskKey, MemoryEffect> of_units;
  std::unordered_map<EffectKey, MemoryEffect, EffectKeyHash> known;
};

MemoryModel::MemoryModel(const ModelGraph& model, const ParallelPlan& plan, WholeBackwards whole)
    : state_(std::make_unique<State>(model, plan, std::move(whole))) {}
MemoryModel::~MemoryModel() = default;

MemoryBreakdown MemoryModel::resident(StageIndex stage) const {
  const std::vector<Bucket> buckets = make_buckets(state_->model, state_->plan, stage);
  MemoryBreakdown memory = resident_memory(state_->plan, buckets);
  add_step_data(memory, state_->plan, stage);
  if (state_->plan.post_validation == PostValidation::Copies)  // of the step before, which is not validated yet
    for (const Bucket& bucket : buckets)
      if (!bucket.frozen) sim::at(memory, MemoryCategory::OptimizerState) += undo_bytes(state_->plan, bucket);
  return memory;
}

Bytes MemoryModel::on_host(StageIndex stage) const {
  const ParallelPlan& plan = state_->plan;
  Bytes optimizer{};
  if (plan.offload_optimizer) optimizer = host_memory(plan, make_buckets(state_->model, plan, stage));
  return optimizer + state_->most_inputs_on_host(stage);
}

const MemoryEffect& MemoryModel::effect(const Task& task, const TaskGraph& graph) const {
  if (const MemoryEffect* effect = state_->with_units(task, graph)) return *effect;
  const auto [entry, is_new] = state_->known.try_emplace(state_->key(task));
  if (is_new) entry->second = state_->effects.of(task, graph);
  return entry->second;
}

MemorySteps MemoryModel::steps(const Task& task, const TaskGraph& graph) const {
  std::optional<MemorySteps> with_units = state_->steps_with_units(task, graph);
  MemorySteps steps = with_units ? std::move(*with_units) : steps_of(effect(task, graph));
  const bool makes_logits =
      task.key.layer == state_->model.head() && task.key.phase == Phase::Forward && task.key.operation == Operation::Head;
  if (!makes_logits || state_->effects.steps_of(task.key)) return steps;
  const Bytes narrow = logits_before_loss(state_->model, state_->plan);
  MemorySteps all;
  return all.take(MemoryCategory::Temporaries, narrow).add(steps).free(MemoryCategory::Temporaries, narrow);
}

}  // namespace sim
