// The computing of a step as one graph of the device: captured once, then replayed, so that a GPU is told one thing in place of thousands.
//
//   the first steps    issued task by task, and recorded by the trace
//   the next one       captured and replayed, like all that follow: their tasks have no spans of their own
//
// What is captured reads nothing on the host and takes nothing from its memory. Operations of NCCL may be part of it: a GPU performs them by itself. What changes from step to step, tokens, the keys of dropout masks
// and the scale of fp16, lies at a fixed place in device memory, written before. The end of a step (norm, update) is issued as ever: the host reads a number there, and learning
// rate, step number and clipping are its own.
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <optional>
#include <vector>

#include "executor/communication/mesh_communicators.h"
#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task.h"
#include "sim/units/input_error.h"

namespace executor {

// How a device records what is issued to its current stream. Between begin() and end() nothing needs to be performed.
struct GraphRecorder {
  std::function<void()> begin, end, replay;
};
// at::cuda::CUDAGraph. Before anything is made on the device: from here on a stream is current that can be captured. Not for a CPU.
GraphRecorder cuda_graph(c10::Device device);

// With operations of NCCL in what it records. The communicators outlive it.
std::optional<GraphRecorder> with_communication(const std::optional<GraphRecorder>& graph, MeshCommunicators& communicators);

// The tasks that are captured: those from the first to the last one that computes gradients.
std::size_t captured_tasks(const std::vector<sim::Task>& slice);
struct GraphSite {
  c10::Device device;
  bool is_joined_by_nccl = false;
};
// Everything that forbids to capture them; empty: nothing.
std::vector<sim::Violation> why_no_graph(const sim::ParallelPlan& plan, const std::vector<sim::Task>& slice, const GraphSite& site);

class StepGraph {
 public:
  explicit StepGraph(std::optional<GraphRecorder> recorder) : recorder_(std::move(recorder)) {}

  void run(const std::function<void()>& tasks);  // calls them, or replays what they issued
  bool is_capturing() const { return state_ == State::Capturing; }
  bool is_replayed() const { return state_ == State::Replayed; }  // this step was

 private:
  enum class State { Issued, Capturing, Replayed };
  std::optional<GraphRecorder> recorder_;
  State state_ = State::Issued;
  int issued_steps_ = 0;
};

}  // namespace executor
