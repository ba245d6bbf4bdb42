#include "sim/engine/simulate.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "sim/cost/document_rows.h"
#include "sim/engine/engine.h"
#include "sim/engine/paging.h"
#include "sim/engine/rank_models.h"
#include "sim/engine/steady.h"
#include "sim/units/at.h"

namespace sim {
namespace {

// `slowed` and `paging` own the costs that differ from what the cost model says.
std::vector<PricedTask> price(const TaskGraph& graph, const RankModels& models, Slowdown& slowed, Paging& paging) {
  std::vector<PricedTask> priced;
  priced.reserve(graph.tasks().size());
  for (std::size_t at = 0; at < graph.tasks().size(); ++at) {
    const RankModel& own = models.of(graph.tasks()[at].device);
    const Task& task = own.graph.tasks()[at];
    priced.push_back({&paging.cost(task, slowed.cost(task, own.costs.cost(task, own.graph))), &own.memory.effect(task, own.graph)});
  }
  return priced;
}

std::vector<MemoryBreakdown> resident(const TaskGraph& graph, const RankModels& models) {
  std::map<std::pair<const RankModel*, StageIndex>, MemoryBreakdown> known;  // looked up, never walked through
  std::vector<MemoryBreakdown> by_device;
  for (DeviceId device(0); device.position() < graph.devices().size(); ++device) {
    const RankModel& own = models.of(device);
    const StageIndex stage = graph.devices()[device.position()].stage;
    const auto [entry, is_new] = known.try_emplace({&own, stage});
    if (is_new) entry->second = own.memory.resident(stage);
    by_device.push_back(entry->second);
  }
  return by_device;
}

std::vector<Bytes> on_hosts(const ParallelPlan& plan, const RankModel& first, const TaskGraph& graph, const Paging& paging) {
  std::vector<Bytes> on_host, paged(count_of(plan.mesh.pipeline));
  for (DeviceId device(0); device.position() < graph.devices().size(); ++device) {
    Bytes& most = paged[graph.devices()[device.position()].stage.position()];
    most = std::max(most, paging.out(device));
  }
  for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage)
    on_host.push_back(first.memory.on_host(stage) + paged[stage.position()]);
  return on_host;
}

// A blocking communication of an in-order device begins when it is issued (engine.h).
Timeline make_timeline(const TaskGraph& graph, const PlayedStep& played, MemoryTracker& memory, StreamOrder order) {
  const EngineRun& run = played.run;
  Timeline timeline;
  timeline.devices.assign(graph.devices().begin(), graph.devices().end());
  timeline.spans.reserve(graph.tasks().size());
  for (std::size_t at = 0; at < graph.tasks().size(); ++at) {
    const Task& task = graph.tasks()[at];
    const TaskTimes& times = run.tasks[at];
    const bool from_issue = order == StreamOrder::InOrder && is_communication(task.key.operation);
    timeline.spans.push_back({task.device, task.stream, task.key, from_issue ? times.headed : times.started, times.ended});
  }
  std::sort(timeline.spans.begin(), timeline.spans.end(),
            [](const Span& a, const Span& b) { return std::tie(a.device, a.start, a.key) < std::tie(b.device, b.start, b.key); });
  timeline.memory = memory.take_samples();
  if (graph.crosses_steps()) timeline.memory = samples_within(timeline.memory, played.from, played.until);
  return timeline;
}

std::vector<DeviceResult> device_results(const TaskGraph& graph, const EngineRun& run, const MemoryTracker& memory,
                                         const std::vector<Bytes>& on_host) {
  std::vector<DeviceResult> results;
  for (std::size_t at = 0; at < graph.devices().size(); ++at) {
    const GraphDevice& device = graph.devices()[at];
    const DeviceTimes& times = run.devices[at];
    const MemoryTracker::Peak& peak = memory.peak(DeviceId(static_cast<std::int32_t>(at)));
    results.push_back({.representative = device.representative,
                       .stage = device.stage,
                       .multiplicity = device.multiplicity,
                       .at_peak = peak.composition,
                       .peak_memory = peak.memory,
                       .host_memory = on_host[device.stage.position()],
                       .busy = times.busy,
                       .idle = run.step_time - times.busy,
                       .communication = times.communication,
                       .exposed_communication = times.exposed});
  }
  return results;
}

void summarize_devices(SimulationResult& result) {
  double ranks = 0, idle = 0, exposed = 0;
  for (const DeviceResult& device : result.devices) {
    ranks += device.multiplicity;
    idle += device.multiplicity * to_seconds(device.idle - device.exposed_communication).count();
    exposed += device.multiplicity * to_seconds(device.exposed_communication).count();
    result.peak_memory = std::max(result.peak_memory, device.peak_memory);
  }
  const double all = ranks * to_seconds(result.step_time).count();
  if (all <= 0) return;
  result.bubble = idle / all;
  result.exposed_communication = exposed / all;
}

// Ranks lie on nodes stage by stage.
Bytes fullest_host(const std::vector<Bytes>& on_host, const ParallelPlan& plan) {
  const std::int32_t per_node = std::max(1, plan.cluster.devices_per_node());
  Bytes most{}, node{};
  for (Rank rank{0}; rank.value() < plan.mesh.ranks(); ++rank) {
    if (rank.value() % per_node == 0) node = Bytes{};
    node += on_host[plan.mesh.coordinate(rank).stage.position()];
    most = std::max(most, node);
  }
  return most;
}

// A CPU's ranks are their own host: what lies there is taken from the same memory.
bool host_fits(const SimulationResult& result, const Cluster& cluster) {
  const HardwareProfile& hardware = cluster.hardware;
  if (hardware.kind == DeviceKind::Gpu) return hardware.node_memory == Bytes(0) || result.host_memory <= hardware.node_memory;
  const auto fits = [limit = usable_memory(cluster)](const DeviceResult& rank) {
    return rank.host_memory == Bytes(0) || rank.peak_memory + rank.host_memory <= limit;
  };
  return std::all_of(result.devices.begin(), result.devices.end(), fits);
}

// Each device fits by itself.
bool devices_fit(const SimulationResult& result, const RankModels& models) {
  for (DeviceId device(0); device.position() < result.devices.size(); ++device)
    if (result.devices[device.position()].peak_memory > usable_memory(models.of(device).plan.cluster)) return false;
  return true;
}

double peak_of_all(const ParallelPlan& plan) {
  const auto of = [&](const HardwareProfile& hardware, std::int32_t ranks) {
    return sim::at(hardware.peak, plan.workload.precision.compute()).value() * ranks;
  };
  if (plan.cluster.groups.empty()) return of(plan.cluster.hardware, plan.mesh.ranks());
  double all = 0;
  for (const DeviceGroup& group : plan.cluster.groups) all += of(group.hardware, group.devices);
  return all;
}

void summarize_work(SimulationResult& result, const ModelGraph& model, const ParallelPlan& plan) {
  const double seconds = to_seconds(result.step_time).count();
  if (seconds <= 0) return;
  const Workload& work = plan.workload;
  result.tokens_per_second = real_tokens(work) / seconds;
  const double peak = peak_of_all(plan);
  const StepSize size{work.global_batch, work.sequence, real_share(work), attended_tokens(work)};
  if (peak > 0) result.mfu = model_flops(model, size).value() / (seconds * peak);
}

}  // namespace

const DeviceResult* fullest_device(const SimulationResult& result) {
  const auto fullest = std::max_element(result.devices.begin(), result.devices.end(),
                                        [](const auto& a, const auto& b) { return a.peak_memory < b.peak_memory; });
  return fullest == result.devices.end() ? nullptr : &*fullest;
}

SimulationResult simulate(const ModelGraph& model, const ParallelPlan& plan, Detail detail, const Fold& fold) {
  return simulate(model, plan, lower(model, plan, fold == Fold::Symmetric ? fold_of({}, plan) : fold), detail);
}

namespace {

SimulationResult simulate(const RankModels& models, const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph,
                          Detail detail, const Disturbances& disturbances, Paging paging) {
  MemoryTracker memory(resident(graph, models), detail == Detail::Timeline ? MemoryTracker::Keep::Samples : MemoryTracker::Keep::Peak);
  const RankModel& first = models.of(DeviceId(0));
  LinkSharing links({first.costs.num_links()});
  for (const SlowLink& slow : disturbances.links) links.limit(slow.link, slow.capacity);
  Slowdown slowed(graph, disturbances);
  const PlayedStep played = play(graph, price(graph, models, slowed, paging), links, stream_order(plan), memory);
  const EngineRun& run = played.run;

  SimulationResult result;
  result.step_time = run.step_time;
  const std::vector<Bytes> on_host = on_hosts(plan, first, graph, paging);
  result.devices = device_results(graph, run, memory, on_host);
  if (plan.offload_optimizer || plan.keeps_on_host() || plan.paged_optimizer) result.host_memory = fullest_host(on_host, plan);
  summarize_devices(result);
  summarize_work(result, model, plan);
  result.host_fits = host_fits(result, plan.cluster);
  result.fits = result.host_fits && devices_fit(result, models);
  result.num_tasks = static_cast<std::int64_t>(graph.tasks().size());
  result.cycle = played.cycle;
  result.disturbed_by = to_text(disturbances, plan);
  if (disturbances.none()) result.undisturbed_step_time = result.step_time;
  if (detail == Detail::Timeline) result.timeline = make_timeline(graph, played, memory, stream_order(plan));
  return result;
}

}  // namespace

SimulationResult simulate(const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph, Detail detail,
                          const Disturbances& disturbances) {
  const RankModels models(model, plan, graph);
  SimulationResult result = simulate(models, model, plan, graph, detail, disturbances, {});
  if (!plan.paged_optimizer) return result;
  Paging paging(graph, models, result.devices);
  return paging.none() ? result : simulate(models, model, plan, graph, detail, disturbances, std::move(paging));
}

}  // namespace sim
