#include "cli/simulation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "cli/plan_text.h"
#include "cli/samples_text.h"
#include "cli/table.h"
#include "sim/allocator/reserved_memory.h"
#include "sim/cluster/whose_speed.h"
#include "sim/cost/memory_beside.h"
#include "sim/cost/memory_interval.h"
#include "sim/cost/prediction_interval.h"
#include "sim/engine/out_of_memory.h"
#include "sim/units/unit_text.h"

namespace cli {
namespace {

std::string text(sim::SimTime time) { return sim::to_text(sim::to_seconds(time)); }

constexpr std::size_t kMostDevices = 64;

// Where a stage is unfolded its devices are told apart by their first rank.
std::string devices_table(const sim::SimulationResult& result) {
  std::vector<std::vector<std::string>> rows{
      {"stage", "first rank", "ranks", "busy", "idle", "communication", "exposed", "peak memory", "made of"}};
  const std::size_t shown = std::min(result.devices.size(), kMostDevices);
  for (std::size_t at = 0; at < shown; ++at) {
    const sim::DeviceResult& device = result.devices[at];
    rows.push_back({std::to_string(device.stage.value()), std::to_string(device.representative.value()),
                    std::to_string(device.multiplicity), text(device.busy), text(device.idle), text(device.communication),
                    text(device.exposed_communication), sim::to_text(device.peak_memory), composition_text(device.at_peak)});
  }
  const std::size_t left = result.devices.size() - shown;
  return table_text(rows) + (left > 0 ? fmt::format("and {} more, all with --json\n", left) : "");
}

std::string disturbances_text(const sim::SimulationResult& result) {
  std::string out;
  for (const std::string& one : result.disturbed_by) out += "disturbed: " + one + "\n";
  if (out.empty() || result.undisturbed_step_time.count() <= 0) return out;
  const double ratio = sim::to_seconds(result.step_time) / sim::to_seconds(result.undisturbed_step_time);
  return out + fmt::format("undisturbed the step takes {}: {:+.1f} %\n", text(result.undisturbed_step_time), 100 * (ratio - 1));
}

// The chance is said where it is one at all.
std::string memory_interval_text(const sim::ParallelPlan& plan, const sim::SimulationResult& result) {
  const sim::DeviceResult* const fullest = sim::fullest_device(result);
  const sim::MemoryInterval interval = sim::memory_interval(plan, fullest == nullptr ? sim::MemoryBreakdown() : fullest->at_peak);
  const double chance = sim::out_of_memory_chance(plan, result);
  return fmt::format("{} to {}   {}{}", sim::to_text(interval.low(result.peak_memory)), sim::to_text(interval.high(result.peak_memory)),
                     interval.basis, chance >= 0.001 ? fmt::format("; out of memory with a chance of {}", sim::percent(chance)) : "");
}

// Of the fullest device.
std::string beside_text(const sim::ParallelPlan& plan, const sim::SimulationResult& result) {
  const sim::DeviceResult* const fullest = sim::fullest_device(result);
  if (fullest == nullptr || plan.cluster.hardware.kind == sim::DeviceKind::Cpu) return {};
  const sim::MemoryBeside beside = sim::memory_beside(plan, fullest->at_peak);
  return fmt::format(
      "beside the peak        the allocator holds {} more, NCCL's buffers {} ({} communicators, {} flows, {} channels): "
      "estimated, not measured yet\n",
      sim::to_text(sim::held_by_allocator(plan, fullest->stage, fullest->at_peak)), sim::to_text(beside.nccl), beside.communicators,
      beside.flows, beside.channels);
}

// What lies beside the devices, in the memory of their host.
std::string cycle_text(const sim::SimulationResult& result) {
  if (result.cycle == 0) return "a step is the mean of many that do not repeat";
  return result.cycle == 1 ? "each is like the one before" : fmt::format("they repeat after {}, of which a step is the mean", result.cycle);
}

std::string host_text(const sim::ParallelPlan& plan, const sim::SimulationResult& result) {
  const sim::Bytes limit = plan.cluster.hardware.node_memory;
  const std::string of = limit == sim::Bytes(0) ? std::string() : fmt::format(" of {}", sim::to_text(limit));
  return fmt::format("{}{} a node: {}", sim::to_text(result.host_memory), of, result.host_fits ? "fits" : "DOES NOT FIT");
}

// What is called so is a pipeline's in most plans, and is looked for there.
std::string bubble_text(const sim::ParallelPlan& plan, double bubble) {
  const std::string text = sim::percent(bubble) + "   idle compute without exposed communication, share of all device time";
  constexpr double kShown = 0.0005;
  return plan.mesh.pipeline > 1 || bubble < kShown
             ? text
             : text + "; of no pipeline here: the host is late, or ranks are uneven (check says which)";
}

}  // namespace

std::string composition_text(const sim::MemoryBreakdown& memory) {
  std::vector<std::pair<sim::Bytes, std::string_view>> parts;
  for (std::size_t category = 0; category < memory.size(); ++category)
    if (memory[category] != sim::Bytes(0)) parts.emplace_back(memory[category], sim::kMemoryCategoryNames[category]);
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string joined;
  for (const auto& [bytes, name] : parts) joined += fmt::format("{}{} {}", joined.empty() ? "" : ", ", name, sim::to_text(bytes));
  return joined;
}

std::string simulation_text(const sim::ParallelPlan& plan, const sim::SimulationResult& result, const Console& console) {
  const sim::Bytes memory = sim::usable_memory(plan.cluster);
  std::string out = console.heading(plan_summary(plan)) + "\n";
  const sim::PredictionInterval interval = sim::prediction_interval(plan);
  const sim::Seconds step = sim::to_seconds(result.step_time);
  std::vector<std::vector<std::string>> rows{
      {"speed of", sim::to_text(sim::whose_speed(plan.cluster))},
      {"step time", text(result.step_time)},
      {"80 % interval", fmt::format("{} to {}   {}", sim::to_text(interval.low(step)), sim::to_text(interval.high(step)), interval.basis)},
      {"tokens/s", fmt::format("{:.0f}", result.tokens_per_second)},
      {"MFU", sim::percent(result.mfu) + "   model FLOPs / (step time x ranks x peak of the precision); recomputation does not count"},
      {"bubble", bubble_text(plan, result.bubble)},
      {"exposed communication", sim::percent(result.exposed_communication) + "   communication while compute waits for it"},
      {"peak memory", fmt::format("{} of {}: {}", sim::to_text(result.peak_memory), sim::to_text(memory),
                                  (result.host_fits ? result.fits : result.peak_memory <= memory) ? "fits" : "DOES NOT FIT")},
      {"80 % interval", memory_interval_text(plan, result)},
      {"tasks", fmt::format("{}", result.num_tasks)}};
  if (plan.crosses_steps()) rows.push_back({"steps cross", cycle_text(result)});
  std::ranges::move(samples_rows(plan), std::back_inserter(rows));
  if (result.host_memory > sim::Bytes(0)) rows.insert(rows.end() - 1, {"on the host", host_text(plan, result)});
  out += table_text(rows);
  out += beside_text(plan, result);
  out += disturbances_text(result);
  return out + "\n" + devices_table(result);
}

}  // namespace cli
