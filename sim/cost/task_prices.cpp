#include "sim/cost/task_prices.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/clock/behavior.h"
#include "sim/clock/expert_load.h"
#include "sim/clock/link_clock.h"
#include "sim/cost/coding_work.h"
#include "sim/cost/plan_likeness.h"
#include "sim/cost/resident_memory.h"
#include "sim/plan/drives.h"
#include "sim/plan/token_route.h"
#include "sim/sharding/sharding.h"
#include "sim/task_graph/layer_tasks.h"
#include "sim/units/at.h"

namespace sim {
namespace {

// What the program hides by means that the graph has no tasks for: along a product.
double exposed_share(const TaskKey& key, const ParallelPlan& plan) {
  if (key.group != MeshAxis::Tensor || !plan.sends_along_products()) return 1;
  return exposed_along_product(real(plan.mesh.tensor));
}

Drives drives_of_first_stage(const ModelGraph& model, const ParallelPlan& plan) {
  return {stage_elements(plan, make_buckets(model, plan, StageIndex(0))).owned};
}

// What is longer than the clock holds stays so, and is no undefined number: the engine refuses its sum.
SimTime on_the_clock(Seconds time) {
  constexpr Seconds kHalfTheClock = to_seconds(SimTime::max() / 2);
  return to_sim_time(std::min(time, kHalfTheClock));
}

// Where each node gets a token once; else none.
double dispatch_share(const ParallelPlan& plan) {
  const double of_program = plan.cluster.software.dispatch_share;
  if (!reaches_nodes_once(plan)) return 0;
  return of_program > 0 ? of_program : common_behavior().dispatch_share;
}

}  // namespace

struct TaskPrices::Apart {
  Apart(const ModelGraph& model, ParallelPlan as_they_see_it) : plan(std::move(as_they_see_it)), prices(model, plan) {}
  ParallelPlan plan;
  TaskPrices prices;
};

TaskPrices::TaskPrices(const ModelGraph& model, const ParallelPlan& plan)
    : model_(model),
      plan_(plan),
      placement_(plan),
      kernels_(plan.cluster.hardware, plan.workload.precision.compute(), {placement_.busy_ranks()}),
      collectives_(plan.cluster, kernels_, plan.workload.precision.compute(), {placement_.busy_ranks()}),
      pace_(plan.cluster.software.pace * learned_factor(plan.cluster.software.learned_runs, likeness_of(plan))),
      host_(host_clock(plan.cluster.hardware.kernels.value_or(KernelTraits{}),
                       {plan.cluster.hardware.devices_per_node, placement_.busy_ranks()})),
      weights_on_drives_(plan.has_on_drive(OnDrive::Weights) && drives_of_first_stage(model, plan).hold_weights()) {
  if (is_modelled(plan.cluster.hardware)) modelled_.emplace(plan);
  std::optional<ParallelPlan> apart = plan_of_units_apart(plan);
  if (!apart) return;
  apart_ = std::make_unique<Apart>(model, std::move(*apart));
  apart_->prices.pace_ = pace_;  // runs that were learned from are of the whole plan
}

TaskPrices::~TaskPrices() = default;

SimTime TaskPrices::corrected(const TaskKey& key, Seconds time) const {
  time *= pace_;
  const auto& corrections = plan_.cluster.hardware.corrections;
  if (corrections.empty()) return on_the_clock(time);
  const std::string kind = kind_text(key);
  for (const Correction& correction : corrections)
    if (correction.kind == kind) time *= correction.factor;
  return on_the_clock(time);
}

const std::vector<Piece>& TaskPrices::pieces(LayerIndex layer, Phase phase) const {
  const auto [known, is_new] = pieces_.try_emplace({model_.kind(layer), phase});
  if (is_new) known->second = pieces_of(model_, plan_, layer, phase);
  return known->second;
}

Work TaskPrices::work_of(const TaskKernels& kernels) const {
  Work work;
  for (const KernelCall& call : kernels.calls) work += modelled_->work(call);
  return work;
}

Seconds TaskPrices::sum_of(const TaskKernels& kernels) const {
  if (modelled_) return modelled_->time(work_of(kernels));
  Seconds time{};
  for (const KernelCall& call : kernels.calls) time += kernels_.time(call, kernels.kind);
  return time;
}

// Where the loss sees the whole vocabulary on each tensor rank.
Seconds TaskPrices::gathered_logits(const TaskKernels& kernels) {
  const std::int32_t ranks = plan_.mesh.tensor;
  if (!modelled_ || ranks == 1 || plan_.cluster.software.vocabulary_parallel) return Seconds(0);
  Seconds time{};
  for (const KernelCall& call : kernels.calls)
    if (call.kernel == Kernel::CrossEntropyForward) {
      const Bytes logits = plan_.bytes(Numbers::Activations) * (call.shape[0] * call.shape[1] * ranks);
      time += call.share * collectives_.price({CollectiveKind::AllGather, ranks, logits}, placement_.group(Rank(0), MeshAxis::Tensor)).time;
    }
  return time;
}

// Of a unit in full precision, where it reads or hands on what others have in theirs. A copy reads and writes its bytes.
Seconds TaskPrices::cast_of(const LayerTask& task) const {
  if (task.phase == Phase::Weight) return Seconds(0);
  const Ends ends = ends_of(model_, task.layer, sim::parts_of(pieces(task.layer, task.phase), task.operation));
  const bool again =
      task.phase == Phase::Recompute;  // from an input of a block, up to what nobody reads; of modules from what is cast already
  const bool reads = ends.reads && !plan_.reads_full(task.layer) && (!again || plan_.recompute == Recompute::Full),
             hands_on = ends.hands_on && !plan_.reads_full(LayerIndex(task.layer.value() + 1)) && !again;
  const int casts = (reads ? 1 : 0) + (hands_on ? 1 : 0);
  const std::int64_t numbers = plan_.shard_shape().tokens() * model_.config.hidden / (plan_.sequence_parallel ? plan_.mesh.tensor : 1);
  const Bytes each = plan_.bytes(Numbers::Activations, task.layer) + plan_.bytes(Numbers::Activations);
  return casts * sum_of({.calls = {{.kernel = Kernel::Copy, .shape = {each.value() * numbers / 2}}}, .kind = CallKind::Plain});
}

TaskPrices::Computation TaskPrices::layer_task(const LayerTask& task) {
  if (apart_ && plan_.is_apart(task.layer)) {
    Computation price = apart_->prices.layer_task(task);
    if (plan_.is_full(task.layer)) price.duration += corrected({.phase = task.phase, .operation = task.operation}, cast_of(task));
    return price;
  }
  const TaskKernels kernels = kernels_of(model_, plan_, task, pieces(task.layer, task.phase));
  const TaskKey key{.phase = task.phase, .operation = task.operation};
  if (!modelled_)
    return {.duration = corrected(key, sum_of(kernels)),
            .issue = corrected(key, kernels_.issue(kernels.kind) * real(std::ssize(kernels.calls)))};
  const Work work = work_of(kernels);
  return {corrected(key, modelled_->time(work) + modelled_->waits(kernels) + gathered_logits(kernels)),
          corrected(key, modelled_->issue(kernels, work)), modelled_->drains(kernels)};
}

// Through the host's memory; a CPU rank steps as it would without.
Seconds TaskPrices::host_update(Elements elements) const {
  const TaskKernels kernels = flat_kernels(plan_, Operation::HostUpdate, elements);
  if (plan_.cluster.hardware.kind == DeviceKind::Cpu) return sum_of(kernels);
  const KernelCall& call = kernels.calls.front();
  const double bytes = modelled_ ? modelled_->optimizer_bytes() * real(elements.value)
                                 : real(kernel_work(call.kernel, call.shape, plan_.workload.precision.compute()).bytes.value());
  return host_.step(bytes) + host_.swap(swapped_bytes() * real(elements.value));
}

// Of an element, one group behind the other: states come and go, the gradient was written in the backward, the new weight is.
double TaskPrices::swapped_bytes() const {
  const double states = real(optimizer_bytes_per_element(plan_.workload, habits_of(plan_.cluster)).value());
  const double gradient = real(bytes_per_element(Precision::Fp32).value());
  return (plan_.has_on_drive(OnDrive::Optimizer) ? 2 * (states + gradient) : 0) +
         (weights_on_drives_ ? real(plan_.bytes(Numbers::Weights).value()) : 0);
}

SimTime TaskPrices::host_copy(const TaskKey& key, Bytes payload) const {
  if (plan_.cluster.hardware.kind == DeviceKind::Cpu)
    return corrected(key, kernels_.time({.kernel = Kernel::Copy, .shape = {payload.value()}}, CallKind::Plain));
  const bool is_from_drives =
      weights_on_drives_ && key.operation == Operation::CopyToDevice && key.phase != Phase::Gradients && key.sequence > 0;
  const double bytes = real(payload.value());
  return corrected(key, is_from_drives ? std::max(host_.copy(bytes), host_.swap(bytes)) : host_.copy(bytes));  // read ahead of the copy
}

// A copy reads and writes its bytes.
SimTime TaskPrices::coding(const TaskKey& key, const Bucket& bucket) const {
  const std::int64_t moved = coding_bytes(key, bucket, plan_).value();
  return corrected(key, sum_of({.calls = {{.kernel = Kernel::Copy, .shape = {moved / 2}}}, .kind = CallKind::Plain}));
}

SimTime TaskPrices::flat_task(const TaskKey& key, Elements elements) {
  if (apart_ && plan_.is_full(key.layer)) return apart_->prices.flat_task(key, elements);
  if (key.operation == Operation::HostUpdate) return corrected(key, host_update(elements));
  return corrected(key, modelled_ ? modelled_->flat(key.operation, elements) : sum_of(flat_kernels(plan_, key.operation, elements)));
}

// Each of a rank's experts has its own. A tensor that two shards cut is one of each.
double TaskPrices::stepped_tensors(const Bucket& bucket) const {
  double tensors = 0;
  for (const BucketSlot& slot : bucket.slots)
    tensors += slot.frozen ? 0 : bucket.expert ? real(plan_.model.experts->experts) / plan_.mesh.expert : 1;
  return std::ceil(tensors / (sharding_strategy(plan_).shards_optimizer ? bucket.shards : 1));
}

SimTime TaskPrices::stepping(const TaskKey& key, std::span<const Bucket> buckets) const {
  double tensors = 0;
  for (const Bucket& bucket : buckets) tensors += stepped_tensors(bucket);
  return reads_norm() ? corrected(key, 0.5 * tensors * plan_.cluster.software.host_per_tensor) : SimTime(0);
}

double TaskPrices::overlap_slowdown() const { return modelled_ && plan_.mesh.copies() > 1 ? plan_.cluster.software.overlap_slowdown : 0; }

double TaskPrices::exchange_slowdown() const {
  if (!modelled_ || !plan_.expert_overlap) return 0;
  const double all = plan_.cluster.hardware.kernels->multiprocessors;
  const double kept = reaches_nodes_once(plan_) ? common_behavior().dispatch_processors : common_behavior().exchange_processors;
  return kept / std::max(1.0, all - kept);
}

// By whoever has most of it, or an even share.
double TaskPrices::orthogonalized(const Bucket& bucket) const {
  const bool is_dealt = !bucket.first_of.empty();
  double flops = 0;
  for (const BucketSlot& slot : bucket.slots)
    if (slot.is_matrix_of_block && (!is_dealt || is_owned_by(bucket, slot, bucket.busiest)))
      flops += orthogonalization_flops(plan_, sim::at(model_.layer(slot.layer).parameters, slot.parameter), slot);
  return flops / (sharding_strategy(plan_).shards_optimizer && !is_dealt ? bucket.shards : 1);
}

Elements TaskPrices::updated(const Bucket& bucket, Operation by) const {
  const std::int64_t host = host_elements(bucket, plan_);
  return {by == Operation::HostUpdate ? host : stepped_elements(bucket, plan_) - host, orthogonalized(bucket)};
}

// The fullest rank's tokens.
TaskPrices::ExpertExchange TaskPrices::expert_exchange() const {
  return {expert_load(*plan_.model.experts, plan_.workload.expert_loads, plan_.mesh.expert, common_behavior()),
          token_copies(*plan_.model.experts, plan_.cluster.software, dispatch_share(plan_))};
}

// Gradients that travel in another type than they are summed in: a pass before, and one after. A copy reads and writes its bytes.
Seconds TaskPrices::casts(const TaskKey& key, Bytes payload) const {
  const std::int64_t kept = plan_.bytes(Numbers::Gradients, key.layer).value(), sent = plan_.bytes(Numbers::Wire, key.layer).value();
  if (key.phase != Phase::Gradients || kept == sent) return Seconds(0);
  return sum_of({.calls = {{.kernel = Kernel::Copy, .shape = {payload.value() / sent * (kept + sent)}}}, .kind = CallKind::Plain});
}

// In the numbers that travel.
CollectiveShape::Parts TaskPrices::parts_of(const TaskKey& key, const Bucket& bucket) const {
  const bool is_dealt = key.operation == Operation::ReduceScatter || key.operation == Operation::AllGather;
  if (bucket.first_of.empty() || !is_dealt) return {};
  const Bytes element = plan_.bytes(key.operation == Operation::ReduceScatter ? Numbers::Wire : Numbers::Weights, bucket.ready_after);
  CollectiveShape::Parts parts{.largest = Bytes(0), .smallest = element * bucket.elements};
  for (std::int32_t shard = 0; shard < bucket.shards; ++shard) {
    const Bytes part = element * range_of(bucket, shard).count;
    parts = {.largest = std::max(parts.largest, part), .smallest = std::min(parts.smallest, part)};
  }
  return parts;
}

// Beside what crosses: a list is made tensor by tensor (2.6 us each, measured with PyTorch 2.11), and each is copied out of one buffer, or into it, by a kernel of its own, while
// the host and the device wait for one another (DeepSpeed of 2021: partition_parameters.py, _allgather_params; PyTorch: ProcessGroupNCCL.cpp, allgather). The
// buffer is cleared, written and read. Vectors stay whole there.
SimTime TaskPrices::of_lists(const TaskKey& key, const Bucket& bucket) const {
  constexpr Seconds kTensorOfAList(2.6e-6);
  const auto matrices = static_cast<double>(std::ranges::count_if(bucket.slots, &BucketSlot::is_matrix));
  const Seconds of_ranks = matrices * real(bucket.shards) * (plan_.cluster.software.host_per_kernel + kTensorOfAList);
  const std::int64_t moved = 3 * plan_.bytes(Numbers::Weights, key.layer).value() * bucket.elements;
  return corrected(key, of_ranks + sum_of({.calls = {{.kernel = Kernel::Copy, .shape = {moved / 2}}}, .kind = CallKind::Plain}));
}

// A block that is made again is gathered for that, given up, and gathered for its backward.
TaskPrices::Collective TaskPrices::unit_exchange(const TaskKey& key, const Bucket& bucket, Bytes payload, const GroupPlacement& group) {
  Collective one = collective(key, payload, group, parts_of(key, bucket));
  const bool is_of_unit = plan_.zero_stage == 3 && key.phase != Phase::Step && bucket.shards > 1;
  if (!modelled_ || !plan_.cluster.software.unit_lists || !is_of_unit) return one;
  const bool is_gather = key.operation == Operation::AllGather,
             twice = is_gather && key.phase == Phase::Backward && plan_.recomputes(key.layer, key.microbatch);
  if (!is_gather && key.operation != Operation::ReduceScatter) return one;
  one.duration = (twice ? 2 : 1) * (one.duration + of_lists(key, bucket));
  return one;
}

// The sum of a product's input gradient goes beside its weight gradient, which has the fewer multiprocessors meanwhile.
double TaskPrices::exposed_beside(const TaskKey& key, Seconds time) const {
  const bool is_issued_first = plan_.exchanges_beside_weights() && !plan_.delays_weights(key.layer, key.microbatch);
  if (!is_issued_first || key.group != MeshAxis::Tensor || key.phase != Phase::Backward) return 1;
  const Seconds hidden = sum_of(weight_gradients_beside(model_, plan_, key, pieces(key.layer, key.phase)));
  const double kept = common_behavior().exchange_processors / plan_.cluster.hardware.kernels->multiprocessors;
  return hidden.count() <= 0 ? 1 : std::clamp(1 - hidden / time, std::min(1.0, kept), 1.0);
}

// Tensor ranks gather in 8 bit what products beside it read so.
bool TaskPrices::gathers_in_eight(const TaskKey& key) const {
  if (key.group != MeshAxis::Tensor || key.operation != Operation::AllGather || !gathers_scaled(plan_) || plan_.is_unscaled(key.layer))
    return false;
  if (plan_.workload.precision.unscaled_parts().none()) return true;
  const std::optional<Piece> piece = piece_among(pieces(key.layer, key.phase), key);
  return piece && std::ranges::any_of(sim::at(model_.layer(key.layer).segments, piece->parts.segment).operators, [](const Operator& op) {
           return op.kind == OperatorKind::Linear && op.experts == 0 && op.adapter == AdapterPart::None && !op.unscaled;
         });
}

TaskPrices::Collective TaskPrices::collective(const TaskKey& key, Bytes payload, const GroupPlacement& group,
                                              CollectiveShape::Parts parts) {
  const bool carries_rows = (key.group == MeshAxis::Expert || key.group == MeshAxis::ExpertTensor) && !plan_.gathers_tokens();
  const ExpertExchange exchange = carries_rows ? expert_exchange() : ExpertExchange{};
  const double sent = exchange.load * (gathers_in_eight(key) ? 0.5 : 1);
  CollectivePrice price = collectives_.price({kind_of(key.operation), group.ranks, scaled(payload, sent), parts}, group, exchange.copies);
  if (price.time.count() <= 0) return {};
  const double exposed = modelled_ ? std::min(exposed_share(key, plan_), exposed_beside(key, price.time)) : 1;
  if (exposed <= 0) return {};
  price = {exposed * price.time + casts(key, payload), exposed * price.port_time, exposed * price.uplink_time};
  // Members of the group on one node load its uplink together: each carries its part.
  const bool drains = modelled_ && modelled_->drains(key);
  return {corrected(key, price.time), price.port_time / price.time, price.uplink_time / price.time / group.on_node, drains};
}

SimTime TaskPrices::post(const TaskKey& key, const GroupPlacement& pair) const { return corrected(key, collectives_.post(pair)); }

// The host of the receiver waits until the message is there, and only then issues what reads it. Schedules that split the backward pass are run by
// programs whose exchanges it does not wait for. Nor does it where exchanges of chunks overlap with computation: Megatron-Core synchronizes behind batches of
// messages alone, and those are none (pipeline_parallel/p2p_communication.py, batch_p2p_comm). A graph of the whole iteration holds its exchanges, too.
Seconds TaskPrices::host_wait() const {
  const SoftwareStack& software = plan_.cluster.software;
  const bool overlaps = software.overlap_pipeline && plan_.chunks > 1, issues = plan_.cuda_graphs != CudaGraphs::FullIteration;
  const bool waits = modelled_ && issues && !overlaps && plan_.completes_gradients() != ActionKind::Weight;
  return waits ? software.pipeline_sync : Seconds(0);
}

// Each tensor rank sends its part of what all of them hold (scatter and gather: Narayanan et al., SC 2021). Parts of a sequence are parts already.
Bytes TaskPrices::message(Bytes payload) const {
  const bool is_cut = modelled_ && plan_.cluster.software.scatter_gather && !plan_.sequence_parallel;
  return is_cut ? Bytes(payload.value() / plan_.mesh.tensor) : payload;
}

TaskPrices::Collective TaskPrices::receive(const TaskKey& key, Bytes payload, const GroupPlacement& pair) {
  const CollectivePrice price = collectives_.price({CollectiveKind::SendReceive, 2, message(payload)}, pair);
  const Seconds left = price.time - collectives_.post(pair) + host_wait();
  if (left.count() <= 0) return {};
  return {corrected(key, left), std::min(1.0, price.port_time / left), std::min(1.0, price.uplink_time / left)};
}

// Points measured with k ranks at work hold the contention of k: only more than that slow each other further.
double TaskPrices::core_share() const {
  const std::int32_t cores = plan_.cluster.hardware.cores_per_node;
  const std::int32_t at_full_speed = std::max(cores, kernels_.measured_concurrency());
  return cores == 0 || placement_.busy_ranks() <= at_full_speed ? 0.0 : 1.0 / at_full_speed;
}

}  // namespace sim
