// One step of a plan, simulated: event by event, memory beside it. The entry point for planner, cli and gui.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/disturbance.h"
#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task_graph.h"
#include "sim/timeline/timeline.h"

namespace sim {

struct DeviceResult {  // of one graph device (a stage when folded)
  Rank representative;
  StageIndex stage;
  std::int32_t multiplicity = 1;
  MemoryBreakdown at_peak{};  // what the peak is made of
  Bytes peak_memory{};
  Bytes host_memory{};              // beside it, on the host of one rank: what is offloaded
  SimTime busy{};                   // compute stream
  SimTime idle{};                   // compute stream: step - busy
  SimTime communication{};          // all communication streams
  SimTime exposed_communication{};  // of it, while the compute stream was idle (or held by it)
};

struct SimulationResult {
  SimTime step_time{};
  double tokens_per_second = 0;
  double mfu = 0;                    // model_flops / (step * ranks * peak of the plan's precision)
  double bubble = 0;                 // sum of idle / (devices * step), idle without exposed communication
  double exposed_communication = 0;  // sum of exposed / (devices * step)
  std::vector<DeviceResult> devices;
  Bytes peak_memory{};    // of the fullest device
  Bytes host_memory{};    // of the fullest node
  bool host_fits = true;  // where the memory of a node is known; of CPU ranks, what lies on the host beside their own
  bool fits = true;       // host_fits, and peak_memory <= usable_memory of the cluster
  std::int64_t num_tasks = 0;
  std::int32_t cycle = 1;  // steps after which times repeat, where steps cross; 0: they did not, and times are means of many steps
  std::vector<std::string> disturbed_by;  // in words
  SimTime undisturbed_step_time{};        // where something disturbs: zero, until who shows it simulates that step too
  Timeline timeline;                      // empty unless asked for
};

const DeviceResult* fullest_device(const SimulationResult& result);  // null: it has none

enum class Detail : std::uint8_t { Summary, Timeline };

// The plan must have no violations(). Same bytes on every run, compiler and thread count.
SimulationResult simulate(const ModelGraph& model, const ParallelPlan& plan, Detail detail = Detail::Summary,
                          const Fold& fold = Fold::Symmetric);
SimulationResult simulate(const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph, Detail detail,
                          const Disturbances& disturbances = {});  // the graph unfolded at least as fold_of() says

}  // namespace sim
