#include "sim/cost/cost_model.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "sim/cost/document_load.h"
#include "sim/cost/task_prices.h"
#include "sim/units/at.h"

namespace sim {

// Tasks with equal fields cost the same. Looked up, never walked through: its order reaches no result.
struct CostKey {
  DeviceId device, peer;
  Phase phase{};
  Operation operation{};
  MeshAxis group{};
  LayerKind layer_kind;        // of what a layer computes and exchanges
  MicrobatchIndex microbatch;  // where rows hold documents
  SliceIndex slice;            // of attention, which sees those in front of it
  std::int32_t sequence = 0;   // of a layer's exchanges
  BucketIndex bucket;
  Bytes payload{};
  bool operator==(const CostKey&) const = default;
};

struct CostKeyHash {
  std::size_t operator()(const CostKey& key) const {
    std::uint64_t hash = static_cast<std::uint64_t>(key.payload.value());
    const auto mix = [&](std::uint64_t value) {
      hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    };
    mix(static_cast<std::uint64_t>(key.device.value()) << 32 | static_cast<std::uint32_t>(key.peer.value()));
    mix(static_cast<std::uint64_t>(key.layer_kind.value()) << 32 | static_cast<std::uint32_t>(key.bucket.value()));
    mix(static_cast<std::uint64_t>(key.sequence) << 32 | static_cast<std::uint32_t>(key.microbatch.value()));
    mix(static_cast<std::uint64_t>(key.slice.value() + 1) << 24 | static_cast<std::uint64_t>(key.phase) << 16 |
        static_cast<std::uint64_t>(key.operation) << 8 | static_cast<std::uint64_t>(key.group));
    return static_cast<std::size_t>(hash);
  }
};

namespace {

const Operator* attention_of(const Layer& layer) {
  for (const SegmentGraph& segment : layer.segments)
    for (const Operator& op : segment.operators)
      if (op.kind == OperatorKind::Attention) return &op;
  return nullptr;
}

bool is_flat(Operation operation) {
  return operation == Operation::Accumulate || operation == Operation::NormPart || operation == Operation::Update ||
         operation == Operation::HostUpdate;
}

void use(TaskCost& cost, LinkId link, double share, std::int32_t ranks) {
  const double exact = quantized_share(share) * ranks;
  if (exact > 0) cost.uses[cost.num_uses++] = {link, exact};
}

void take(TaskCost& cost, const TaskPrices::Collective& price, const Slowest& slowest, const Placement& placement) {
  cost.duration = price.duration;
  cost.drains = price.drains;
  use(cost, placement.port(slowest.rank), price.port, 1);
  if (slowest.group.spans_nodes()) use(cost, placement.uplink(slowest.rank), price.uplink, slowest.crossing);
}

}  // namespace

struct CostModel::State {
  State(const ModelGraph& model_graph, const ParallelPlan& parallel_plan)
      : model(model_graph),
        plan(parallel_plan),
        buckets_differ(deals_tensors(plan) || plan.workload.precision.has_full_units()),
        prices(model_graph, parallel_plan) {
    if (plan.workload.samples.has_documents() && skips_other_documents(plan)) documents.emplace(plan);
    if (documents) travels = documents->share_that_travels();
  }

  CostKey key(const Task& task) const;
  TaskCost price(const Task& task, const TaskGraph& graph);
  TaskCost compute(const Task& task, const TaskGraph& graph);
  TaskCost communicate(const Task& task, const TaskGraph& graph);
  AttentionWork attention(const Task& task, const TaskGraph& graph);
  void step(TaskCost& cost, const Task& task, const TaskGraph& graph) const;
  void share_device(TaskCost& cost, const Task& task, Rank rank) const;
  Elements elements(const Task& task, const TaskGraph& graph) const;

  const ModelGraph& model;
  const ParallelPlan& plan;
  const bool buckets_differ;  // whatever their payload
  TaskPrices prices;
  std::optional<DocumentLoads> documents;
  double travels = 1;  // of keys and values: where documents have context degrees of their own, short ones stay with a rank
  std::unordered_map<CostKey, TaskCost, CostKeyHash> known;
  std::map<std::pair<DeviceId, MeshAxis>, Slowest> groups;  // that many tasks meet in
  std::map<DeviceId, std::int32_t> alike_on_node;
};

// What a layer's exchange takes follows from the layer, too: its numbers, whether the host waits behind it, the weight gradients that run beside it.
CostKey CostModel::State::key(const Task& task) const {
  const Operation operation = task.key.operation;
  const bool communicates = is_communication(operation);
  const bool of_bucket = task.bucket.exists() || is_host_copy(operation), on_a_layer = task.key.layer.exists() && !of_bucket;
  return {.device = task.device,
          .peer = communicates ? task.peer : DeviceId::none(),
          .phase = task.key.phase,
          .operation = operation,
          .group = task.key.group,
          .layer_kind = on_a_layer ? model.kind(task.key.layer) : LayerKind::none(),
          .microbatch = (on_a_layer && documents) || plan.delays_weights(task.key.layer) ? task.key.microbatch : MicrobatchIndex::none(),
          .slice = on_a_layer && operation == Operation::AttentionScores ? task.key.slice : SliceIndex::none(),
          .sequence = on_a_layer && communicates ? task.key.sequence : 0,
          .bucket = communicates && !buckets_differ ? BucketIndex::none() : task.bucket,
          .payload = task.payload};
}

Elements CostModel::State::elements(const Task& task, const TaskGraph& graph) const {
  const std::vector<Bucket>& buckets = graph.buckets()[task.key.stage.position()];
  if (task.key.operation != Operation::NormPart) return prices.updated(buckets[task.bucket.position()], task.key.operation);
  if (plan.optimizer_in_backward) return {plan.shard_shape().tokens()};  // losses alone are summed
  Bytes owned{};  // that are read: gradients of units in full precision count by their own width
  for (const Bucket& bucket : buckets)
    if (!bucket.frozen) owned += plan.bytes(Numbers::Gradients, bucket.ready_after) * bucket.shard_elements;
  return {owned.value() / plan.bytes(Numbers::Gradients).value()};
}

// A bound asks of no microbatch: it gets the least of any.
AttentionWork CostModel::State::attention(const Task& task, const TaskGraph& graph) {
  const Operator* const op = attention_of(model.layer(task.key.layer));
  if (!documents || op == nullptr) return {};
  if (!task.key.microbatch.exists()) return documents->least(*op);
  const AxisFold& fold = graph.fold().data;  // of data and context ranks
  const MeshCoordinate place = plan.mesh.coordinate(graph.devices()[task.device.position()].representative);
  const std::int32_t together = at(fold.classes(plan.mesh.copies()), fold.class_of(place.data)).size;
  return documents->work(*op, {plan.mesh.data_rank(place), std::max(1, together / plan.mesh.context), fold.all_apart}, task.key.microbatch);
}

// The host reads the norm before it steps anything.
void CostModel::State::step(TaskCost& cost, const Task& task, const TaskGraph& graph) const {
  const std::span<const Bucket> buckets = graph.buckets()[task.key.stage.position()];
  if (task.key.operation == Operation::Update) cost.issue = prices.stepping(task.key, buckets.subspan(task.bucket.position(), 1));
  if (task.key.operation != Operation::NormPart || plan.optimizer_in_backward) return;
  cost.issue = prices.stepping(task.key, buckets);
  cost.drains = prices.reads_norm();
}

TaskCost CostModel::State::compute(const Task& task, const TaskGraph& graph) {
  if (task.key.operation == Operation::Reshard) return {};
  TaskCost cost;
  if (is_host_copy(task.key.operation)) {
    cost.duration = prices.host_copy(task.key, task.payload);
    return cost;
  }
  if (is_coding(task.key.operation)) {
    cost.duration = prices.coding(task.key, graph.buckets()[task.key.stage.position()][task.bucket.position()]);
    return cost;
  }
  if (is_flat(task.key.operation)) {
    cost.duration = prices.flat_task(task.key, elements(task, graph));
    step(cost, task, graph);
    return cost;
  }
  const TaskPrices::Computation price =
      prices.layer_task({task.key.layer, task.key.phase, task.key.operation, attention(task, graph), task.key.slice, task.key.microbatch});
  cost.duration = price.duration;
  cost.issue = price.issue;
  cost.drains = price.drains;
  return cost;
}

TaskCost CostModel::State::communicate(const Task& task, const TaskGraph& graph) {
  const GraphDevice& device = graph.devices()[task.device.position()];
  const Placement& placement = prices.placement();
  TaskCost cost;
  if (task.key.operation == Operation::Send || task.key.operation == Operation::Receive) {
    const Slowest pair = placement.slowest_pair(device, graph.fold(), graph.devices()[task.peer.position()].representative);
    if (task.key.operation == Operation::Send) {
      cost.duration = prices.post(task.key, pair.group);
      return cost;
    }
    take(cost, prices.receive(task.key, task.payload, pair.group), pair, placement);
    return cost;
  }
  const auto [known_group, is_new] = groups.try_emplace({task.device, task.key.group});
  if (is_new) known_group->second = placement.slowest_group(device, graph.fold(), task.key.group);
  const Slowest& group = known_group->second;
  const Bytes payload = task.key.operation == Operation::RingHop ? scaled(task.payload, travels) : task.payload;
  if (task.bucket.exists()) {
    const Bucket& bucket = graph.buckets()[task.key.stage.position()][task.bucket.position()];
    take(cost, prices.unit_exchange(task.key, bucket, payload, group.group), group, placement);
  } else {
    take(cost, prices.collective(task.key, payload, group.group), group, placement);
  }
  return cost;
}

// Each takes of the device what slows the other by as much.
void CostModel::State::share_device(TaskCost& cost, const Task& task, Rank rank) const {
  if (!prices.shares_device()) return;
  const bool is_beside = task.stream == Stream::Gather || task.stream == Stream::Reduce;
  const bool computes = task.stream == Stream::Compute || task.key.operation == Operation::Update;  // with all of the device, in any stream
  const double share = computes                             ? 1
                       : is_beside                          ? prices.overlap_slowdown()
                       : task.key.group == MeshAxis::Expert ? prices.exchange_slowdown()
                                                            : 0;
  if (share > 0) use(cost, prices.placement().device(rank), std::min(1.0, share), 1);
}

TaskCost CostModel::State::price(const Task& task, const TaskGraph& graph) {
  TaskCost cost = is_communication(task.key.operation) ? communicate(task, graph) : compute(task, graph);
  const GraphDevice& device = graph.devices()[task.device.position()];
  if (cost.duration.count() <= 0) return cost;
  const auto [beside, is_new] = alike_on_node.try_emplace(task.device);
  if (is_new) beside->second = prices.placement().alike_on_node(device, graph.fold());
  use(cost, prices.placement().cores(device.representative), prices.core_share(), beside->second);
  share_device(cost, task, device.representative);
  return cost;
}

CostModel::CostModel(const ModelGraph& model, const ParallelPlan& plan) : state_(std::make_unique<State>(model, plan)) {}
CostModel::~CostModel() = default;

const TaskCost& CostModel::cost(const Task& task, const TaskGraph& graph) const {
  const auto [entry, is_new] = state_->known.try_emplace(state_->key(task));
  if (is_new) entry->second = state_->price(task, graph);
  return entry->second;
}

TaskCost CostModel::price(const Task& task, const TaskGraph& graph) const { return state_->price(task, graph); }

std::int32_t CostModel::num_links() const {
  const Placement& placement = state_->prices.placement();
  return placement.num_links() + (state_->prices.shares_device() ? state_->plan.cluster.devices : 0);
}

}  // namespace sim
