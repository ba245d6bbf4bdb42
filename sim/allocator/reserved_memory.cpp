#include "sim/allocator/reserved_memory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/allocator/caching_allocator.h"
#include "sim/allocator/tensor_sizes.h"
#include "sim/cost/memory_beside.h"
#include "sim/cost/memory_model.h"
#include "sim/cost/planned_blocks.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr std::int64_t kSteps = 3;  // the first without states, the second with them, the third as all others

// Of the stage's states those of a bucket, which come when it is stepped for the first time.
Bytes states_of(const ParallelPlan& plan, const std::vector<Bucket>& buckets, const Bucket& of, Bytes states) {
  std::int64_t all = 0;
  for (const Bucket& bucket : buckets)
    if (!bucket.frozen) all += stepped_elements(bucket, plan);
  return scaled(states, static_cast<double>(stepped_elements(of, plan)) / static_cast<double>(all));
}

// Of a device's steps one after the other, which move the same but for states; a moment of time is a change.
std::vector<TimedChange> changes_of(const MemoryModel& memory, const ParallelPlan& plan, const TaskGraph& graph, DeviceId device,
                                    Bytes states) {
  std::vector<TimedChange> of_step, changes;
  for (const TaskId id : graph.issue_order(device)) {
    const Task& task = graph.task(id);
    const MemorySteps steps = memory.steps(task, graph);
    for (const MemoryChange& change : steps.all()) of_step.push_back({{}, change, task.key});
    changes.insert(changes.end(), of_step.end() - static_cast<std::ptrdiff_t>(steps.all().size()), of_step.end());
    if (!plan.optimizer_in_backward || task.key.operation != Operation::Update) continue;
    const std::vector<Bucket>& buckets = graph.buckets()[task.key.stage.position()];
    changes.push_back({{}, {MemoryCategory::OptimizerState, states_of(plan, buckets, buckets[task.bucket.position()], states)}, task.key});
  }
  if (!plan.optimizer_in_backward && states > Bytes{}) changes.push_back({{}, {MemoryCategory::OptimizerState, states}, {}});
  for (std::int64_t step = 1; step < kSteps; ++step) changes.insert(changes.end(), of_step.begin(), of_step.end());
  for (std::size_t at = 0; at < changes.size(); ++at) changes[at].time = SimTime(static_cast<std::int64_t>(at) + 1);
  return changes;
}

struct Request {
  SimTime time{};
  bool takes = false;
  std::size_t block = 0;
};
// What was there before the first step comes first.
std::vector<Request> requests_of(const std::vector<MemoryBlock>& blocks) {
  std::vector<Request> requests;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    requests.push_back({blocks[at].taken, true, at});
    if (blocks[at].freed != SimTime::max()) requests.push_back({blocks[at].freed, false, at});
  }
  std::ranges::stable_sort(requests, {}, &Request::time);
  return requests;
}

std::int64_t most_in_flight(const ParallelPlan& plan, StageIndex stage) {
  std::int64_t now = 0, most = 0;
  for (const StageAction& action : plan.order(stage)) {
    if (action.kind == plan.completes_gradients()) --now;
    if (action.kind == ActionKind::Forward) most = std::max(most, ++now);
  }
  return (most + plan.chunks - 1) / plan.chunks;
}

// What comes behind those that are in flight at once does to the allocator what they did. Schedules ask for whole rounds of their stages, both ways.
ParallelPlan with_few_microbatches(const ParallelPlan& plan, StageIndex stage) {
  const std::int64_t round = std::int64_t{2} * plan.mesh.pipeline, in_flight = most_in_flight(plan, stage);
  const std::int64_t few = (in_flight + round) / round * round, all = plan.num_microbatches();
  ParallelPlan less = plan;
  if (few < all && plan.schedule != "csv") less.workload.global_batch = plan.workload.global_batch / all * few;
  return less;
}

}  // namespace

ReservedMemory reserved_memory(const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph, DeviceId device) {
  const DeviceAllocator kind = device_allocator(habits_of(plan.cluster));
  if (plan.cluster.hardware.kind == DeviceKind::Cpu || kind == DeviceAllocator::Other) return {};
  const StageIndex stage = graph.devices()[device.position()].stage;
  const MemoryModel memory(model, plan);
  MemoryBreakdown resident = memory.resident(stage);
  const Bytes states = std::exchange(sim::at(resident, MemoryCategory::OptimizerState), Bytes{});
  const std::vector<MemoryBlock> blocks = blocks_of(resident, changes_of(memory, plan, graph, device, states));
  const TensorSizes sizes(model, plan, stage);
  CachingAllocator allocator(kind);
  std::vector<std::vector<CachingAllocator::Place>> places(blocks.size());
  Bytes now{};
  ReservedMemory most;
  for (const Request& request : requests_of(blocks)) {
    const MemoryBlock& block = blocks[request.block];
    if (request.takes)
      for (const Bytes size : sizes.of(block))
        places[request.block].push_back(*allocator.take(size, static_cast<std::int32_t>(block.pool)));
    else
      for (const CachingAllocator::Place place : places[request.block]) allocator.give_back(place);
    now += request.takes ? block.size : -block.size;
    most.allocated = std::max(most.allocated, now);
  }
  most.reserved = allocator.most_reserved();
  return most;
}

AllocatorReplay::Lowered::Lowered(ParallelPlan few) : plan(std::move(few)), model(make_model_graph(plan)), graph(lower(model, plan)) {}

ReservedMemory AllocatorReplay::reserved(StageIndex stage) {
  ParallelPlan few = with_few_microbatches(plan_, stage);
  const std::int64_t samples = few.workload.global_batch;
  const auto& [plan, model, graph] = lowered_.try_emplace(samples, std::move(few)).first->second;
  const auto device = std::ranges::find(graph.devices(), stage, &GraphDevice::stage);
  return reserved_memory(model, plan, graph, DeviceId(static_cast<std::int32_t>(device - graph.devices().begin())));
}

Bytes AllocatorReplay::held(StageIndex stage, const MemoryBreakdown& at_peak) {
  if (device_allocator(habits_of(plan_.cluster)) != DeviceAllocator::Segments) return memory_beside(plan_, at_peak).pool;
  return reserved(stage).cached();
}

ReservedMemory reserved_memory(const ParallelPlan& plan, StageIndex stage) { return AllocatorReplay(plan).reserved(stage); }

Bytes held_by_allocator(const ParallelPlan& plan, StageIndex stage, const MemoryBreakdown& at_peak) {
  return AllocatorReplay(plan).held(stage, at_peak);
}

}  // namespace sim
