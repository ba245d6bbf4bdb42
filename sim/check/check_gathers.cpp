#include <fmt/format.h>

#include <algorithm>

#include "sim/check/expected_work.h"
#include "sim/check/graph_rules.h"

namespace sim {
namespace {

// Follows one device through its step: which buckets are gathered, by which task.
class GatherWatch {
 public:
  GatherWatch(const CheckedGraph& checked, const TaskOrder& order, DeviceId device, Findings& findings)
      : checked_(checked),
        order_(order),
        device_(device),
        findings_(findings),
        buckets_(checked.graph.buckets()[checked.graph.devices()[device.position()].stage.position()]),
        gathered_by_(buckets_.size()),
        brought_by_(buckets_.size()),
        times_(buckets_.size(), 0),
        near_(buckets_.size()),
        encoded_(buckets_.size()) {}

  void watch() {
    for (const TaskId id : checked_.graph.issue_order(device_)) {
      const Task& task = checked_.graph.task(id);
      if (is_gathering(task))
        see_gathering(id, task);
      else if (uses_weights(task.key))
        see_use(id, task);
    }
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      if (gathered_by_[bucket].exists()) tell(checked_.graph.task(gathered_by_[bucket]), "is never freed");
      if (const std::int32_t wanted = is_shared(bucket) ? passes() : 0; !checked_.plan.reshard_after_forward && times_[bucket] != wanted)
        findings_.add(fmt::format("bucket {} is gathered {} times in a step instead of {}", bucket, times_[bucket], wanted));
    }
  }

 private:
  void tell(const Task& task, std::string_view what) { findings_.add(fmt::format("{} {}", name_of(checked_.graph, task), what)); }

  static bool uses_weights(const TaskKey& key) {
    const bool of_layer = key.phase == Phase::Forward || key.phase == Phase::Backward || key.phase == Phase::Recompute;
    return of_layer && !moves_data(key.operation);
  }

  void see_gathering(TaskId id, const Task& task) {
    if (!task.bucket.exists() || task.bucket.position() >= buckets_.size()) return tell(task, "names no bucket");
    if (buckets_[task.bucket.position()].persistent) return tell(task, "moves weights that stay whole");
    TaskId& gathered = gathered_by_[task.bucket.position()];
    if (task.key.operation == Operation::Reshard) {
      if (!gathered.exists()) tell(task, "frees what is not gathered");
      gathered = TaskId::none();
      return see_kept(task);
    }
    if (task.key.operation == Operation::Decode) return see_decoded(id, task);
    if (gathered.exists()) tell(task, "gathers what is there already");
    if (task.key.operation == Operation::Encode) return see_encoded(task);
    const bool is_near = near_[task.bucket.position()];
    const Bytes whole = is_near || !is_encoded() ? gathered_bytes(checked_.plan, buckets_[task.bucket.position()]) : encoded(task.bucket);
    if (is_encoded() && !is_near && encoded_[task.bucket.position()] != Coded::Sent) tell(task, "gathers what is not encoded");
    if (task.key.operation == Operation::CopyToDevice) return see_brought(id, task, whole);
    if (checked_.plan.offload_parameters && !is_brought(id, task)) tell(task, "gathers shards that are on the host");
    if (task.payload != whole) tell(task, fmt::format("carries {} B instead of {} B", task.payload.value(), whole.value()));
    if ((task.key.group == MeshAxis::Reshard) != near_[task.bucket.position()])
      tell(task,
           near_[task.bucket.position()] ? "gathers from everybody what its neighbours have" : "gathers what its neighbours do not have");
    if (is_encoded() && !is_near) encoded_[task.bucket.position()] = Coded::Gathered;
    if (!has_second_copy()) near_[task.bucket.position()] = false;
    gathered = id;
    ++times_[task.bucket.position()];
  }

  // Neighbours begin to keep it with a forward: with each; a copy that lasts is made when it is freed for the first time in a step.
  bool has_second_copy() const { return checked_.plan.kept_until == KeptUntil::Step; }
  void see_kept(const Task& task) {
    const Bucket& bucket = buckets_[task.bucket.position()];
    const std::int32_t ranks = checked_.plan.mesh.reshard;
    const bool begins =
        (task.key.phase == Phase::Forward || has_second_copy()) && ranks > 1 && !bucket.expert && !near_[task.bucket.position()];
    const Bytes kept = begins ? gathered_bytes(checked_.plan, bucket) / std::int64_t{ranks} : Bytes{};
    if (task.payload != kept) tell(task, fmt::format("keeps {} B instead of {} B", task.payload.value(), kept.value()));
    if (begins) near_[task.bucket.position()] = true;
  }

  // Weights cross links in 8 bit with a number of 4 bytes for 64 of them: the shard is encoded before, all of them are decoded behind it.
  bool is_encoded() const { return bool(checked_.plan.workload.precision.weight_codec()); }
  Bytes encoded(BucketIndex bucket) const {
    const std::int64_t all = moved_elements(buckets_[bucket.position()], checked_.plan);
    return Bytes(all + (all + 63) / 64 * 4);
  }
  void see_encoded(const Task& task) {
    if (!is_encoded()) tell(task, "encodes what travels as it is");
    if (task.payload != encoded(task.bucket) / std::int64_t{buckets_[task.bucket.position()].shards})
      tell(task, "encodes something else than the rank's shard");
    encoded_[task.bucket.position()] = Coded::Sent;
  }
  void see_decoded(TaskId id, const Task& task) {
    Coded& coded = encoded_[task.bucket.position()];
    if (coded != Coded::Gathered || !gathered_by_[task.bucket.position()].exists()) tell(task, "decodes what has not come");
    if (task.payload != gathered_bytes(checked_.plan, buckets_[task.bucket.position()]))
      tell(task, "decodes something else than the bucket");
    coded = Coded::No;
    gathered_by_[task.bucket.position()] = id;
  }

  // A rank's shard from the host; the last of a unit that nobody shares.
  void see_brought(TaskId id, const Task& task, Bytes whole) {
    const std::size_t bucket = task.bucket.position();
    if (task.payload != whole / std::int64_t{buckets_[bucket].shards}) tell(task, "brings something else than the rank's shard");
    brought_by_[bucket] = id;
    if (buckets_[bucket].shards > 1) return;
    gathered_by_[bucket] = id;
    ++times_[bucket];
  }
  bool is_brought(TaskId id, const Task& task) {
    TaskId& brought = brought_by_[task.bucket.position()];
    const bool is_there = brought.exists() && order_.is_before(brought, id);
    brought = TaskId::none();
    return is_there;
  }

  // Where weights stay from forward to backward.
  std::int32_t passes() const {
    return reshards_after_backward(checked_.plan) ? static_cast<std::int32_t>(checked_.plan.num_microbatches()) : 1;
  }

  // Experts that no other rank holds are there in any case, and so is what stays whole.
  bool is_shared(std::size_t bucket) const {
    const bool has_sharers = buckets_[bucket].expert ? buckets_[bucket].shards > 1 : checked_.plan.mesh.copies() > 1;
    return !buckets_[bucket].persistent && (checked_.plan.offload_parameters || has_sharers);
  }

  void see_use(TaskId id, const Task& task) {
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      if (!is_shared(bucket) || !holds(buckets_[bucket], task.key.layer)) continue;
      if (!gathered_by_[bucket].exists())
        tell(task, fmt::format("needs the weights of bucket {}, which are not gathered", bucket));
      else if (encoded_[bucket] == Coded::Gathered)
        tell(task, fmt::format("needs the weights of bucket {}, which are not decoded", bucket));
      else if (!order_.is_before(gathered_by_[bucket], id))
        tell(task, "does not wait for " + to_text(checked_.graph.task(gathered_by_[bucket]).key));
    }
  }

  bool holds(const Bucket& bucket, LayerIndex layer) const {
    const bool reads_embedding = checked_.plan.reads_embedding(layer);
    return std::any_of(bucket.slots.begin(), bucket.slots.end(), [&](const BucketSlot& slot) {
      return slot.layer == layer || (reads_embedding && slot.layer == LayerIndex(0) && slot.parameter == 0);
    });
  }

  const CheckedGraph& checked_;
  const TaskOrder& order_;
  DeviceId device_;
  Findings& findings_;
  const std::vector<Bucket>& buckets_;
  std::vector<TaskId> gathered_by_, brought_by_;
  std::vector<std::int32_t> times_;
  std::vector<bool> near_;  // neighbours have it among them
  enum class Coded : std::uint8_t { No, Sent, Gathered };
  std::vector<Coded> encoded_;  // how far it has come
};

}  // namespace

bool gathers_weights(const ParallelPlan& plan) { return plan.zero_stage == 3 && (plan.mesh.has_copies() || plan.offload_parameters); }

void check_gathers(const CheckedGraph& checked, const TaskOrder& order, Findings& findings) {
  if (!gathers_weights(checked.plan)) return;
  for (DeviceId device(0); device.position() < checked.graph.devices().size(); ++device)
    GatherWatch(checked, order, device, findings).watch();
}

}  // namespace sim
