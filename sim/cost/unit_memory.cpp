#include "sim/cost/unit_memory.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "sim/cost/whole_backwards.h"
#include "sim/sharding/encoded.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr MemoryCategory kOfUnits = MemoryCategory::GatheredUnits, kOfTheirGradients = MemoryCategory::Gradients,
                         kOfReductions = MemoryCategory::CommunicationBuffers;
constexpr MemoryPool kOnGathers = MemoryPool::Gathers, kOnReductions = MemoryPool::Reductions;

struct UnitBytes {
  Bytes gathered{}, cast{};           // all of it, and the shard in the format that travels
  Bytes reduced{};                    // gradients, in the format of the reduction
  std::int64_t of_other_rows = 0;     // elements of gradients that are other tensor ranks'
  Bytes summed{}, shard{}, near{};    // not padded, where microbatches are summed first; what stays until the step; kept by neighbours
  Bytes last{}, last_summed{};        // of gradients and sums, those of the unit's last parameter
  std::map<LayerIndex, Bytes> parts;  // of the gradients, by layer
};

// As autograd makes its gradient: of an embedding that tensor ranks cut, that of all rows. It becomes the rank's own when it is reduced.
std::int64_t made_elements(const BucketSlot& slot, const ParallelPlan& plan) {
  const bool makes_all = slot.layer == LayerIndex(0) && slot.is_matrix && habits_of(plan.cluster).by_operator;
  return slot.elements * (makes_all ? plan.mesh.tensor : 1);
}

UnitBytes bytes_of(const Bucket& bucket, const ParallelPlan& plan) {
  const std::int64_t all = elements_in_rows(bucket);
  const PrecisionPolicy policy = plan.precision_of(bucket.ready_after);
  UnitBytes bytes;
  bytes.gathered = gathered_bytes(plan, bucket);
  std::int64_t elements = 0;
  for (const BucketSlot& slot : bucket.slots) {
    elements += made_elements(slot, plan);
    bytes.of_other_rows += made_elements(slot, plan) - slot.elements;
    if (!bucket.frozen) bytes.parts[slot.layer] += policy.bytes(Numbers::Weights) * made_elements(slot, plan);
  }
  bytes.cast = policy.has_masters() ? bytes.gathered / std::int64_t{bucket.shards} : Bytes{};
  bytes.near = kept_after_forward(plan, bucket);
  if (bucket.frozen) return bytes;
  const WireCodec codec = gradient_codec(bucket, plan);  // what is sent, and what comes
  bytes.reduced = codec ? encoded_bytes(codec.codec, all) * std::int64_t{2} : policy.bytes(Numbers::Wire) * all;
  bytes.summed = policy.bytes(Numbers::Wire) * elements;
  bytes.last = policy.bytes(Numbers::Weights) * bucket.slots.front().elements;
  bytes.last_summed = policy.bytes(Numbers::Wire) * bucket.slots.front().elements;
  bytes.shard = policy.bytes(policy.has_masters() ? Numbers::Masters : Numbers::Weights) * (all / bucket.shards);
  return bytes;
}

struct Place {  // that a device computes at
  bool forward = false;
  ChunkIndex chunk;
  MicrobatchIndex microbatch;
  SliceIndex slice;
  LayerIndex unit;
  bool operator==(const Place&) const = default;
  bool is_same_action(const Place& other) const {
    return forward == other.forward && chunk == other.chunk && microbatch == other.microbatch && slice == other.slice;
  }
};

// Follows one device's step in the order of issue.
class UnitWalk {
 public:
  UnitWalk(const ModelGraph& model, const ParallelPlan& plan, const std::vector<Bucket>& buckets, const ByLayerKind<GradientsCome>& come,
           std::map<TaskKey, UnitMoves>& moves)
      : model_(model),
        plan_(plan),
        buckets_(buckets),
        come_(come),
        moves_(moves),
        splits_(plan.splits_backward()),
        whole_(plan),
        states_(buckets.size()) {
    for (const Bucket& bucket : buckets) bytes_.push_back(bytes_of(bucket, plan));
    if (habits_of(plan.cluster).root_unit && plan.mesh.pipeline == 1) join_ends();
  }

  void see(const Task& task) {
    const Operation operation = task.key.operation;
    if (operation == Operation::AllGather && task.bucket.exists() && task.key.phase != Phase::Step)
      states_[task.bucket.position()].coming = task.key.phase;
    else if (operation == Operation::Reshard)
      reshard(task);
    else if (is_reduction(task))
      reduce(task.bucket.position());
    else if (operation == Operation::Update && task.bucket.exists())
      step(task);
    else if (operation == Operation::NormPart)
      end_backward();
    else if (is_of_unit(task.key))
      compute(task.key);
    else if (task.key.phase == Phase::Weight && task.key.layer.exists() && !whole_.has(task.key))
      weigh(task.key);
    else if (is_sum_of_loss(task.key) && !product_)
      product_ = last_;
  }

 private:
  struct State {
    std::optional<Phase> coming;  // a gather was issued
    bool is_landed = false;       // by a prefetch: its buffer is there
    bool is_near = false;
    Bytes made{}, summed{}, shard{};
  };

  std::size_t bucket_of(LayerIndex layer) const {
    const auto found = std::ranges::find_if(buckets_, [&](const Bucket& one) { return !one.frozen && one.slots.front().layer == layer; });
    return position_in(buckets_, found);
  }
  // The root's unit comes with the embedding, and goes with it: the head's bytes are part of it.
  void join_ends() {
    const std::size_t embedding = bucket_of(LayerIndex(0)), head = bucket_of(model_.head());
    if (embedding == buckets_.size() || head == buckets_.size()) return;
    UnitBytes &all = bytes_[embedding], of_head = std::exchange(bytes_[head], {});
    for (Bytes UnitBytes::*each : {&UnitBytes::gathered, &UnitBytes::cast, &UnitBytes::reduced, &UnitBytes::summed, &UnitBytes::shard})
      all.*each += of_head.*each;
    all.parts.merge(of_head.parts);
    root_ = embedding;
    joined_ = head;
  }

  bool is_reduction(const Task& task) const {
    const Operation operation = task.key.operation;
    if (task.key.phase != Phase::Gradients || !task.bucket.exists()) return false;
    const Bucket& bucket = buckets_[task.bucket.position()];
    const bool is_sum = (operation == Operation::ReduceScatter || operation == Operation::AllReduce) && task.key.group == axis_of(bucket);
    return bucket.shards > 1 && (is_sum || operation == Operation::Decode);
  }
  static bool is_of_unit(const TaskKey& key) {
    const bool of_layer = key.phase == Phase::Forward || key.phase == Phase::Backward || key.phase == Phase::Recompute;
    return of_layer && key.layer.exists() && !moves_data(key.operation);
  }
  // Over tensor ranks: in front of the first of them is the head's product.
  bool is_sum_of_loss(const TaskKey& key) const {
    return key.phase == Phase::Forward && key.operation == Operation::AllReduce && key.layer == model_.head();
  }
  UnitMoves& last() { return moves_[*last_]; }
  bool is_of(std::size_t bucket, LayerIndex unit) const {
    const Bucket& one = buckets_[bucket];
    const bool reads_embedding = plan_.reads_embedding(unit);
    return std::ranges::any_of(one.slots, [&](const BucketSlot& slot) {
      return unit_of(plan_, slot.layer).begin == unit || (reads_embedding && slot.layer == LayerIndex(0));
    });
  }

  void compute(const TaskKey& key) {
    const Place place{.forward = key.phase == Phase::Forward,
                      .chunk = key.chunk,
                      .microbatch = key.microbatch,
                      .slice = key.slice,
                      .unit = unit_of(plan_, key.layer).begin};
    if (!at_ || !(*at_ == place)) {
      leave(place);
      at_ = place;
      UnitMoves& moves = moves_[key];
      MemorySteps& steps = !place.forward && place.unit == model_.head() ? moves.between : moves.before;
      place.forward ? enter_forward(steps) : enter_backward(steps);
    }
    const bool waits = splits_ && !whole_.has(key) && key.layer != LayerIndex(0);  // of an embedding no weights are left for later
    if (key.phase == Phase::Backward && !waits) make_gradients(key);
    last_ = key;
  }

  // The weights' half of a backward: its gradients wait in the weights' format until the unit's next visit.
  void weigh(const TaskKey& key) {
    if (at_) {
      end_visit();
      end_action();
      at_.reset();
    }
    make_gradients(key);
    last_ = key;
  }

  void enter_forward(MemorySteps& steps) {
    Bytes gathered{}, near{};  // near: what neighbours kept of a microbatch before
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      if (!states_[bucket].coming || !is_of(bucket, at_->unit)) continue;
      if (!states_[bucket].is_landed) land(steps, bucket);
      gathered += bytes_[bucket].gathered;
      if (states_[bucket].is_near) near += bytes_[bucket].near;
      states_[bucket] = settled(bucket);
    }
    if (gathered != Bytes{})
      steps.free(kOfUnits, std::exchange(deferred_, gathered), kOnGathers).take(kOfUnits, gathered).free(kOfUnits, near);
    if (plan_.prefetch > 1) land_coming(steps, Phase::Forward);  // one ahead: the host runs ahead, no unit is asked for
  }

  void enter_backward(MemorySteps& steps) {
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      if (bucket == root_) states_[bucket].coming.reset();  // it has stayed
      if (!states_[bucket].coming || !is_of(bucket, at_->unit)) continue;
      if (!states_[bucket].is_landed) land(steps, bucket);
      steps.take(kOfUnits, bytes_[bucket].gathered);
      if (states_[bucket].is_near) steps.free(kOfUnits, bytes_[bucket].near);
      steps.free(kOfUnits, bytes_[bucket].gathered, kOnGathers);
      states_[bucket] = settled(bucket);
    }
    land_coming(steps, Phase::Backward);
  }

  // Of units that were asked for before their visit.
  void land_coming(MemorySteps& steps, Phase phase) {
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      if (states_[bucket].coming != phase || states_[bucket].is_landed) continue;
      land(steps, bucket);
      states_[bucket].is_landed = true;
    }
  }

  // What neighbours kept is in its format already, and stays until the copy out.
  void land(MemorySteps& steps, std::size_t bucket) {
    const Bytes cast = states_[bucket].is_near ? Bytes{} : bytes_[bucket].cast;
    steps.take(kOfUnits, cast, kOnGathers).take(kOfUnits, bytes_[bucket].gathered, kOnGathers).free(kOfUnits, cast, kOnGathers);
  }
  State settled(std::size_t bucket) const {
    State state = states_[bucket];
    state.coming.reset();
    state.is_landed = state.is_near = false;
    return state;
  }

  // What ends with a unit's visit, and with the action.
  void leave(const Place& next) {
    if (!at_) return;
    end_visit();
    if (!at_->is_same_action(next)) end_action();
  }
  void end_visit() {
    for (std::size_t bucket = 0; !at_->forward && bucket < buckets_.size(); ++bucket) sum(bucket);
  }
  void end_action() {
    if (at_->forward) {
      (at_->unit == model_.head() ? moves_[product_.value_or(*last_)].between : last().after).free(kOfUnits, deferred_, kOnGathers);
      deferred_ = {};
      product_.reset();
    } else {
      end_reductions();
    }
  }
  void end_reductions() {
    last()
        .after.free(kOfReductions, std::exchange(reducing_, Bytes{}))
        .free(kOfTheirGradients, std::exchange(summing_, Bytes{}), kOnReductions);
  }

  void make_gradients(const TaskKey& key) {
    if (made_ == std::tuple(key.layer, key.microbatch, key.slice)) return;
    made_ = {key.layer, key.microbatch, key.slice};
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      if (buckets_[bucket].frozen) continue;
      Bytes made{};
      const auto part = bytes_[bucket].parts.find(key.layer);
      if (part != bytes_[bucket].parts.end()) made = part->second;
      const bool adds = plan_.reads_embedding(key.layer);
      if (const auto embedding = bytes_[bucket].parts.find(LayerIndex(0)); adds && embedding != bytes_[bucket].parts.end())
        made += embedding->second;
      if (buckets_[bucket].shards == 1) continue;                                 // resident
      if (splits_) made = std::min(made, all_of(bucket) - states_[bucket].made);  // added to those of a microbatch before
      states_[bucket].made += made;
      if (come_[model_.kind(key.layer)] == GradientsCome::AtOnce) moves_[key].before.take(kOfTheirGradients, made);
    }
  }

  Bytes all_of(std::size_t bucket) const {
    Bytes all{};
    for (const auto& [layer, made] : bytes_[bucket].parts) all += made;
    return all;
  }

  // Gradients that nobody has reduced: they wait in the format of the reduction for those of other microbatches.
  void sum(std::size_t bucket) {
    State& state = states_[bucket];
    const bool ends = buckets_[bucket].tied || unit_of(plan_, buckets_[bucket].ready_after).begin == at_->unit;
    if (state.made == Bytes{} || !ends) return;
    if (state.summed == Bytes{}) {
      add_up(bucket);
      return;
    }
    last().after.free(kOfTheirGradients, std::exchange(state.made, Bytes{}));
  }

  // Parameter by parameter, in the order of the forward.
  void add_up(std::size_t bucket) {
    State& state = states_[bucket];
    if (bucket == root_) add_up(state, buckets_[joined_].slots);  // backwards: the head's come first
    add_up(state, buckets_[bucket].slots);
    last().after.free(kOfTheirGradients, std::exchange(state.made, Bytes{}));
    state.summed = bytes_[bucket].summed;
  }
  void add_up(State& state, const std::vector<BucketSlot>& slots) {
    for (auto slot = slots.rbegin(); slot != slots.rend(); ++slot) {
      last().after.take(kOfTheirGradients, plan_.bytes(Numbers::Wire, slot->layer) * made_elements(*slot, plan_));
      const Bytes made = std::min(state.made, plan_.bytes(Numbers::Weights, slot->layer) * made_elements(*slot, plan_));
      last().after.free(kOfTheirGradients, made);
      state.made -= made;
    }
  }

  void reshard(const Task& task) {
    const std::size_t bucket = task.bucket.position();
    if (bucket == root_ && task.key.phase == Phase::Forward) return;
    const Bytes near = task.key.phase == Phase::Forward ? bytes_[bucket].near : Bytes{};
    last().after.take(kOfUnits, near).free(kOfUnits, bytes_[bucket].gathered);
    states_[bucket].is_near = near != Bytes{};
  }

  // Its own rows are copied out of all, before its unit is a shard again.
  void cut_to_own(MemorySteps& steps, std::size_t bucket, Bytes& made, Bytes of_others) const {
    if (of_others == Bytes{}) return;
    const Bytes unit = reshards_after_backward(plan_) ? bytes_[bucket].gathered : Bytes{};
    steps.take(kOfUnits, unit).take(kOfTheirGradients, made - of_others);
    steps.free(kOfTheirGradients, made).free(kOfUnits, unit);
    made -= of_others;
  }

  void reduce(std::size_t bucket) {
    State& state = states_[bucket];
    const UnitBytes& bytes = bytes_[bucket];
    MemorySteps& steps = last().after;
    if (state.summed != Bytes{}) steps.free(kOfTheirGradients, std::exchange(state.made, Bytes{}));
    cut_to_own(steps, bucket, state.summed == Bytes{} ? state.made : state.summed,
               plan_.bytes(state.summed == Bytes{} ? Numbers::Weights : Numbers::Wire, buckets_[bucket].ready_after) * bytes.of_other_rows);
    steps.free(kOfReductions, reducing_).take(kOfReductions, bytes.reduced);
    reducing_ = bytes.reduced;
    const Bytes last = state.summed == Bytes{} ? bytes.last : bytes.last_summed;  // a loop's variable holds it until the function returns
    steps.free(kOfTheirGradients, std::exchange(state.made, Bytes{}) + std::exchange(state.summed, Bytes{}) - last);
    steps.take(kOfTheirGradients, bytes.shard, kOnReductions).free(kOfTheirGradients, last);
    if (state.shard != Bytes{}) {  // it was added to the one of microbatches before; what copies sum is held until the backward ends
      if (plan_.mesh.replicas > 1)
        summing_ += bytes.shard;
      else
        steps.free(kOfTheirGradients, bytes.shard, kOnReductions);
    }
    state.shard = bytes.shard;
  }

  // The last reductions may stand behind halves that are no visits.
  void end_backward() {
    if (at_) end_action();
    if (last_) end_reductions();
    at_.reset();
  }

  void step(const Task& task) {
    moves_[task.key].after.free(kOfTheirGradients, std::exchange(states_[task.bucket.position()].shard, Bytes{}), kOnReductions);
  }

  const ModelGraph& model_;
  const ParallelPlan& plan_;
  const std::vector<Bucket>& buckets_;
  const ByLayerKind<GradientsCome>& come_;
  std::map<TaskKey, UnitMoves>& moves_;
  bool splits_;
  WholeBackwards whole_;
  std::vector<UnitBytes> bytes_;
  std::vector<State> states_;
  std::optional<std::size_t> root_;
  std::size_t joined_ = 0;  // the head's, which is part of it
  std::optional<Place> at_;
  std::optional<TaskKey> last_, product_;                       // product: of the head, where sums follow
  std::tuple<LayerIndex, MicrobatchIndex, SliceIndex> made_{};  // last
  Bytes deferred_{}, reducing_{}, summing_{};                   // buffers that outlive their unit
};

}  // namespace

bool follows_units(const ParallelPlan& plan) {
  return habits_of(plan.cluster).unit_buffers && sharding_strategy(plan).shards_parameters && plan.mesh.shards() > 1 &&
         !plan.offload_parameters && !plan.offload_optimizer;
}

UnitMemory::UnitMemory(const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph, const ByLayerKind<GradientsCome>& come) {
  std::set<StageIndex> seen;
  for (DeviceId device{0}; device.position() < graph.devices().size(); ++device) {
    const StageIndex stage = graph.devices()[device.position()].stage;
    if (stage.position() >= graph.buckets().size() || !seen.insert(stage).second) continue;  // ranks of a stage do the same
    UnitWalk walk(model, plan, graph.buckets()[stage.position()], come, moves_);
    for (const TaskId id : graph.issue_order(device)) walk.see(graph.task(id));
  }
}

const UnitMoves* UnitMemory::of(const TaskKey& key) const {
  const auto found = moves_.find(key);
  return found == moves_.end() ? nullptr : &found->second;
}

}  // namespace sim
