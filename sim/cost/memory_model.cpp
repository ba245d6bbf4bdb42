#include "sim/cost/memory_model.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "sim/cost/activation_memory.h"
#include "sim/cost/placement.h"
#include "sim/cost/resident_memory.h"

namespace sim {
namespace {

// Tasks with equal fields move the same memory. Looked up, never walked through.
struct EffectKey {
  StageIndex stage;
  LayerIndex layer;                // where full gradients begin; else none
  bool first_backward = false;     // there: of the first microbatch
  BucketIndex bucket;
  Phase phase{};
  Operation operation{};
  MeshAxis group{};
  Bytes payload{};
  bool operator==(const EffectKey&) const = default;
};
struct EffectKeyHash {
  std::size_t operator()(const EffectKey& key) const {
    std::uint64_t hash = static_cast<std::uint64_t>(key.payload.value());
    const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15u; hash ^= hash >> 29; };
    mix(static_cast<std::uint64_t>(key.stage.value()) << 32 | static_cast<std::uint32_t>(key.layer.value()));
    mix(static_cast<std::uint64_t>(key.bucket.value()) << 32 | static_cast<std::uint64_t>(key.phase) << 24 |
        static_cast<std::uint64_t>(key.operation) << 16 | static_cast<std::uint64_t>(key.group) << 8 | (key.first_backward ? 1u : 0u));
    return static_cast<std::size_t>(hash);
  }
};

class EffectWriter {
 public:
  void take(MemoryCategory category, Bytes amount) { add(effect_.at_start, category, amount); }
  void hold(MemoryCategory category, Bytes amount) { add(effect_.temporary, category, amount); }
  void take_at_end(MemoryCategory category, Bytes amount) { add(effect_.at_end, category, amount); }
  void free_at_end(MemoryCategory category, Bytes amount) { add(effect_.at_end, category, -amount); }
  MemoryEffect finish() && { return std::move(effect_); }

 private:
  static void add(std::vector<MemoryChange>& changes, MemoryCategory category, Bytes amount) {
    if (amount.value() != 0) changes.push_back({category, amount});
  }
  MemoryEffect effect_;
};

constexpr MemoryCategory kActivations = MemoryCategory::Activations;
constexpr MemoryCategory kTemporaries = MemoryCategory::Temporaries;

std::optional<Segment> core_of(Operation operation) {
  switch (operation) {
    case Operation::Embedding: return Segment::Embedding;
    case Operation::Attention: return Segment::Attention;
    case Operation::Mlp: return Segment::Mlp;
    case Operation::Head: return Segment::Head;
    default: return std::nullopt;
  }
}
std::optional<Segment> norm_of(Operation operation) {
  switch (operation) {
    case Operation::AttentionNorm: return Segment::Attention;
    case Operation::MlpNorm: return Segment::Mlp;
    case Operation::HeadNorm: return Segment::Head;
    default: return std::nullopt;
  }
}

// The layers whose backward comes first among a bucket's: full gradients are taken there.
LayerIndex first_backward(const Bucket& bucket, const ModelGraph& model, const ParallelPlan& plan) {
  LayerIndex last(0);
  for (const BucketSlot& slot : bucket.slots) {
    const bool head_reads_it = slot.layer == LayerIndex(0) && slot.parameter == 0 && model.config.tied_embeddings && plan.mesh.pipeline == 1;
    last = std::max(last, head_reads_it ? model.head() : slot.layer);
  }
  return last;
}

}  // namespace

struct MemoryModel::State {
  State(const ModelGraph& model_graph, const ParallelPlan& parallel_plan);

  EffectKey key(const Task& task) const;
  MemoryEffect write(const Task& task, const TaskGraph& graph) const;
  void forward(EffectWriter& effect, const Task& task) const;
  void backward(EffectWriter& effect, const Task& task, const TaskGraph& graph) const;
  void communicate(EffectWriter& effect, const Task& task, const TaskGraph& graph) const;
  void reduce(EffectWriter& effect, const Task& task, const TaskGraph& graph) const;
  Bytes exchange_buffer(const Task& task, const TaskGraph& graph) const;

  bool may_begin_gradients(const Task& task) const;
  bool is_first_backward(const Task& task) const;
  bool begins_gradients(const Task& task, const Bucket& bucket) const;
  bool recomputes_blocks() const { return plan.recompute == Recompute::Full; }
  bool cuts_segments() const { return plan.mesh.tensor > 1; }
  const SegmentMemory& memory_of(Segment segment) const { return segments[static_cast<std::size_t>(segment)]; }
  Bytes weights(std::int64_t elements) const { return bytes_per_element(plan.workload.precision) * elements; }

  const ModelGraph& model;
  const ParallelPlan& plan;
  Placement placement;
  std::array<SegmentMemory, 4> segments;
  std::vector<std::vector<MicrobatchIndex>> first_microbatch;   // of the backward, by stage and chunk
  std::unordered_map<EffectKey, MemoryEffect, EffectKeyHash> known;
};

MemoryModel::State::State(const ModelGraph& model_graph, const ParallelPlan& parallel_plan)
    : model(model_graph), plan(parallel_plan), placement(parallel_plan) {
  for (const Segment segment : {Segment::Embedding, Segment::Attention, Segment::Mlp, Segment::Head})
    segments[static_cast<std::size_t>(segment)] = segment_memory(model, plan, segment);
  if (!frees_full_gradients(plan)) return;
  for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) {
    auto& first = first_microbatch.emplace_back(static_cast<std::size_t>(plan.chunks));
    for (const StageAction& action : find_schedule(plan.schedule)->order(plan.pipeline_shape(), stage))
      if (action.kind == ActionKind::Backward && !first[action.chunk.position()].exists()) first[action.chunk.position()] = action.microbatch;
  }
}

// Whether full gradients of some bucket may begin with this task: it is the first of its layer's backward.
bool MemoryModel::State::may_begin_gradients(const Task& task) const {
  if (task.key.phase != Phase::Backward || !frees_full_gradients(plan)) return false;
  switch (task.key.operation) {
    case Operation::Head: return true;
    case Operation::Mlp:
    case Operation::Embedding: return !plan.sequence_parallel;
    case Operation::MlpResidual:
    case Operation::EmbeddingPositions: return plan.sequence_parallel;
    default: return false;
  }
}

bool MemoryModel::State::is_first_backward(const Task& task) const {
  return task.key.microbatch == first_microbatch[task.key.stage.position()][task.key.chunk.position()];
}

// In every microbatch where each is reduced by itself, else in the first. A tied weight is reduced once, at the end.
bool MemoryModel::State::begins_gradients(const Task& task, const Bucket& bucket) const {
  const bool each = plan.accumulation == Accumulation::ReduceEach && !bucket.tied;
  return (each || is_first_backward(task)) && first_backward(bucket, model, plan) == task.key.layer;
}

EffectKey MemoryModel::State::key(const Task& task) const {
  const bool begins = may_begin_gradients(task);
  return {.stage = task.key.stage, .layer = begins ? task.key.layer : LayerIndex::none(), .first_backward = begins && is_first_backward(task),
          .bucket = task.bucket, .phase = task.key.phase, .operation = task.key.operation, .group = task.key.group, .payload = task.payload};
}

MemoryEffect MemoryModel::State::write(const Task& task, const TaskGraph& graph) const {
  EffectWriter effect;
  if (is_communication(task.key.operation)) communicate(effect, task, graph);
  else if (task.key.phase == Phase::Backward) backward(effect, task, graph);
  else if (task.key.phase == Phase::Forward || task.key.phase == Phase::Recompute) forward(effect, task);
  if (task.key.operation == Operation::Accumulate && frees_full_gradients(plan))
    effect.free_at_end(MemoryCategory::Gradients, weights(graph.buckets()[task.key.stage.position()][task.bucket.position()].shard_elements));
  if (task.key.operation == Operation::Reshard)
    effect.free_at_end(MemoryCategory::GatheredUnits, weights(graph.buckets()[task.key.stage.position()][task.bucket.position()].elements));
  return std::move(effect).finish();
}

// A block that is recomputed keeps its input alone: what the forward makes besides is gone when it ends.
void MemoryModel::State::forward(EffectWriter& effect, const Task& task) const {
  const bool again = task.key.phase == Phase::Recompute;
  const auto segment = core_of(task.key.operation);
  const bool in_block = task.key.layer != LayerIndex(0) && task.key.layer != model.head();
  const bool forgets = recomputes_blocks() && !again && in_block;
  if (segment) {
    const SegmentMemory& memory = memory_of(*segment);
    const Bytes kept = memory.kept + memory.statistics;
    if (forgets) effect.hold(kActivations, kept);
    else effect.take(kActivations, kept);
    const bool output_is_read = !(again && segment == Segment::Mlp);
    if (*segment != Segment::Head && output_is_read) effect.take(kActivations, memory.stream);
    if (!output_is_read) effect.hold(kTemporaries, memory.stream);
  }
  const Operation last_reader = cuts_segments() ? Operation::MlpResidual : Operation::Mlp;
  if (forgets && task.key.operation == last_reader) effect.free_at_end(kActivations, memory_of(Segment::Mlp).stream);
}

// The gradient of the stream is one tensor that changes hands: made by the loss or received, freed by the embedding or sent.
void MemoryModel::State::backward(EffectWriter& effect, const Task& task, const TaskGraph& graph) const {
  if (const auto segment = core_of(task.key.operation)) {
    const SegmentMemory& memory = memory_of(*segment);
    const bool norm_apart = cuts_segments() && *segment != Segment::Embedding;
    effect.hold(kTemporaries, memory.backward_temporary);
    if (norm_apart) effect.take_at_end(kTemporaries, memory.normalized);
    effect.free_at_end(kActivations, memory.kept);
    if (!norm_apart) effect.free_at_end(kActivations, memory.statistics + memory.stream);   // its input; of the embedding: the gradient
    if (*segment == Segment::Head && !norm_apart) effect.take_at_end(kActivations, memory.stream);
  }
  if (const auto segment = norm_of(task.key.operation)) {
    const SegmentMemory& memory = memory_of(*segment);
    effect.free_at_end(kTemporaries, memory.normalized);
    effect.free_at_end(kActivations, memory.statistics + memory.stream);
    if (*segment == Segment::Head) effect.take_at_end(kActivations, memory.stream);
  }
  if (!may_begin_gradients(task)) return;
  for (const Bucket& bucket : graph.buckets()[task.key.stage.position()])
    if (begins_gradients(task, bucket)) effect.take(MemoryCategory::Gradients, weights(bucket.elements));
}

// A direct exchange receives the other ranks' parts beside its own. Other devices reduce in the place of the buffer.
Bytes MemoryModel::State::exchange_buffer(const Task& task, const TaskGraph& graph) const {
  if (plan.cluster.hardware.kind != DeviceKind::Cpu) return {};
  const std::int64_t ranks = placement.group(graph.devices()[task.device.position()].representative, task.key.group).ranks;
  return Bytes((task.payload.value() + ranks - 1) / ranks) * (ranks - 1);
}

void MemoryModel::State::reduce(EffectWriter& effect, const Task& task, const TaskGraph& graph) const {
  effect.hold(MemoryCategory::CommunicationBuffers, exchange_buffer(task, graph));
  if (task.key.phase != Phase::Gradients || task.key.group != MeshAxis::Data || !frees_full_gradients(plan)) return;
  const Bucket& bucket = graph.buckets()[task.key.stage.position()][task.bucket.position()];
  if (accumulates_apart(plan) && !bucket.tied) effect.take(MemoryCategory::Gradients, weights(bucket.shard_elements));
  effect.free_at_end(MemoryCategory::Gradients, weights(bucket.elements));
}

void MemoryModel::State::communicate(EffectWriter& effect, const Task& task, const TaskGraph& graph) const {
  switch (task.key.operation) {
    case Operation::Receive: return effect.take(kActivations, task.payload);
    case Operation::Send: return effect.free_at_end(kActivations, task.payload);
    case Operation::AllReduce:
    case Operation::ReduceScatter: return reduce(effect, task, graph);
    case Operation::AllGather:
      if (task.key.group == MeshAxis::Data && task.key.phase != Phase::Step) effect.take(MemoryCategory::GatheredUnits, task.payload);
      return;
    default: return;
  }
}

MemoryModel::MemoryModel(const ModelGraph& model, const ParallelPlan& plan) : state_(std::make_unique<State>(model, plan)) {}
MemoryModel::~MemoryModel() = default;

MemoryBreakdown MemoryModel::resident(StageIndex stage) const {
  return resident_memory(state_->plan, stage_elements(make_buckets(state_->model, state_->plan, stage)));
}

const MemoryEffect& MemoryModel::effect(const Task& task, const TaskGraph& graph) const {
  const auto [entry, is_new] = state_->known.try_emplace(state_->key(task));
  if (is_new) entry->second = state_->write(task, graph);
  return entry->second;
}

// What is resident, plus the most that the stage's order of forwards and backwards keeps at once.
Bytes MemoryModel::lower_bound(StageIndex stage) const {
  const ParallelPlan& plan = state_->plan;
  const auto segment = [&](Segment which) { return state_->memory_of(which).kept + state_->memory_of(which).statistics; };
  const Bytes stream = state_->memory_of(Segment::Mlp).stream;
  const Bytes block = state_->recomputes_blocks() ? stream : segment(Segment::Attention) + segment(Segment::Mlp) + stream * 2;
  std::vector<Bytes> chunk_keeps;
  for (ChunkIndex chunk{0}; chunk.value() < plan.chunks; ++chunk) {
    const LayerRange range = plan.layers(stage, chunk);
    const bool has_embedding = range.begin == LayerIndex(0), has_head = range.end > state_->model.head();
    const std::int64_t blocks = range.end.value() - range.begin.value() - (has_embedding ? 1 : 0) - (has_head ? 1 : 0);
    chunk_keeps.push_back(block * blocks + (has_embedding ? segment(Segment::Embedding) : Bytes{}) + (has_head ? segment(Segment::Head) + stream : Bytes{}));
  }
  Bytes alive{}, most{};
  for (const StageAction& action : find_schedule(plan.schedule)->order(plan.pipeline_shape(), stage)) {
    const Bytes keeps = chunk_keeps[action.chunk.position()];
    alive += action.kind == ActionKind::Forward ? keeps : -keeps;
    most = std::max(most, alive);
  }
  return total(resident_memory(plan, unpadded_stage_elements(state_->model, plan, stage))) + most;
}

}  // namespace sim
