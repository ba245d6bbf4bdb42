// Sums of gradients in parts, those that the next forward reads first (ByteScheduler, Peng et al. 2019). Parts wait in one queue, by priority and then in
// the order of the plan. Between two tasks of computing those under way are waited for, and further ones start while fewer bytes than the credit are
// under way; a layer's update, in front of its forward, goes on so until all of its own parts have come. What is left at the end of a step goes on in
// the next one.
// When a part starts follows from the plan alone, never from a clock: all ranks start the same ones in the same order.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "executor/communication/mesh_communicators.h"
#include "executor/training/parameter_store.h"
#include "executor/training/trace_recorder.h"
#include "sim/task_graph/task.h"

namespace executor {

class PrioritySums {
 public:
  // recorder may be null; all references outlive the sums. A part is recorded when it has come, in the step in which that is. Throws sim::InputError
  // where parameters are not on a CPU.
  PrioritySums(const sim::ParallelPlan& plan, MeshCommunicators& communicators, ParameterStore& parameters, TraceRecorder* recorder);

  void begin_step(std::int64_t step);        // whose gradients are summed from now on
  bool goes_on() const { return goes_on_; }  // this step began with sums that the one before left
  bool takes(const sim::Task& task);  // before each task: a part, which is performed here; or what waits for parts, or lets them go on
  std::optional<std::int64_t> take(sim::BucketIndex);  // waits for a bucket's sum: of which step it is; none: nothing has been summed since

 private:
  struct Part {
    sim::Task task;
    at::Tensor gradients, wire;
    WorkHandle work;
    std::chrono::steady_clock::time_point begun;
  };
  struct Sum {
    std::int64_t step = 0, elements = 0, left = 0;  // elements: of its parts so far; left: parts that have not come
  };
  void add(const sim::Task& task);
  void go_on();
  void start(Part part);
  void finish(Part& part);

  const sim::ParallelPlan& plan_;
  MeshCommunicators& communicators_;
  ParameterStore& parameters_;
  TraceRecorder* recorder_;
  std::map<std::pair<std::int32_t, std::int64_t>, Part> ready_;  // by priority, and in the order in which they were added
  std::vector<Part> under_way_;
  std::map<sim::BucketIndex, Sum> sums_;  // not taken
  std::int64_t step_ = 0, added_ = 0;
  bool goes_on_ = false;
};

}  // namespace executor
