#include "sim/engine/paging.h"

#include <algorithm>

#include "sim/cost/managed_memory.h"

namespace sim {

Paging::Paging(const TaskGraph& graph, const RankModels& models, const std::vector<DeviceResult>& devices)
    : graph_(&graph), models_(&models) {
  for (DeviceId device(0); device.position() < devices.size(); ++device) {
    const DeviceResult& found = devices[device.position()];
    const ParallelPlan& plan = models.of(device).plan;
    Bytes managed{};
    for (const Bucket& bucket : graph.buckets()[found.stage.position()]) managed += managed_bytes(plan, bucket);
    out_.push_back(std::clamp(found.peak_memory + managed - usable_memory(plan.cluster), Bytes{}, managed));
  }
}

bool Paging::none() const {
  return std::ranges::all_of(out_, [](Bytes out) { return out == Bytes{}; });
}

const TaskCost& Paging::cost(const Task& task, const TaskCost& cost) {
  if (task.key.operation != Operation::Update || out(task.device) == Bytes{}) return cost;
  const auto [entry, is_new] = paged_.try_emplace(&cost, cost);
  const Bucket& bucket = graph_->buckets()[task.key.stage.position()][task.bucket.position()];
  if (is_new) entry->second.duration += to_sim_time(paging_time(models_->of(task.device).plan, bucket));
  return entry->second;
}

}  // namespace sim
