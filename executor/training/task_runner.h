// Performs one rank's slice of the task graph, step after step, in issue order on one thread. A table says which function a task is; compute
// tasks are the stage's. On a CPU collectives are started and waited for at once (they make no progress in the background), but for sums by
// priority (priority_sums.h); a Send is only posted, so that two neighbours never wait for each other. On a GPU each task is issued to the stream of its kind, behind the tasks that the
// graph's edges name; the host waits where it reads a number, once a step.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "executor/communication/heartbeat.h"
#include "executor/communication/mesh_communicators.h"
#include "executor/training/device_streams.h"
#include "executor/training/fault_points.h"
#include "executor/training/optimizer.h"
#include "executor/training/pipeline_stage.h"
#include "executor/training/priority_sums.h"
#include "executor/training/step_graph.h"
#include "executor/training/trace_recorder.h"
#include "executor/training/wire_codecs.h"

namespace executor {

struct RunnerOptions {
  TraceRecorder* recorder = nullptr;  // outlives the runner; may be null, like the heartbeat
  Heartbeat* heartbeat = nullptr;
  const FaultPoints* faults = nullptr;
  std::optional<GraphRecorder> graph = {};  // nothing forbids it (why_no_graph)
};

class TaskRunner {
 public:
  // The plan must be runnable. All references outlive the runner.
  TaskRunner(const sim::ModelGraph& model, const sim::ParallelPlan& plan, MeshCommunicators& communicators, ParameterStore& parameters,
             const RunnerOptions& options);

  StepSummary run_step(StepBatch batch, Optimizer::Request request);
  const Optimizer& optimizer() const { return optimizer_; }
  Optimizer& optimizer() { return optimizer_; }
  void settle();              // before weights are read: steps what sums by priority have left to the next step
  void gather_whole_state();  // after loading shards: whole weights and moments where they are resident
  const std::vector<sim::Task>& slice() const { return slice_; }

 private:
  using Perform = void (TaskRunner::*)(const sim::Task&);
  static Perform find(const sim::TaskKey& key);  // nullptr: a compute task of the stage
  void issue_all();
  void issue(std::size_t position);  // perform(), on its stream and behind the tasks that it waits for
  void perform(const sim::Task& task);
  void finish_reductions();  // computing waits for them; what they read is given up
  void before_backward(sim::LayerIndex layer);
  void lend(at::Tensor tensor, DeviceStream reader);
  void take_from_wire(const at::Tensor& gradients, const at::Tensor& wire);
  at::Tensor on_wire(const at::Tensor& gradients,
                     const sim::Task& sum) const;  // as they cross links; themselves where that is how they are kept
  void take_back();
  void end_step();
  void end_record();

  bool has_exchange_behind(const sim::TaskKey& key) const;  // over tensor ranks, of the input gradient that the task makes
  void exchange_beside_weights(const std::function<WorkHandle()>& start);
  void sum_over_tensor_ranks(const sim::Task& task);
  void ask_within(const at::Tensor& own, ReduceOperation how);
  void gather_over_tensor_ranks(const sim::Task& task);
  void scatter_over_tensor_ranks(const sim::Task& task);
  void exchange_over_context_ranks(const sim::Task& task);
  void sum_replicated_gradients(const sim::Task& task);
  void receive(const sim::Task& task);
  void send(const sim::Task& task);
  void give_up_sent();
  void count_rows(const sim::TaskKey& key);
  void exchange_tokens(const sim::Task& task);
  void share_rows(const sim::Task& task);
  void gather_for_layer(const sim::Task& task);
  void share_statistics(const sim::Task& task);
  void gather_from_neighbours(const sim::Task& task);
  void reshard(const sim::Task& task);
  void reduce_gradients(const sim::Task& task);
  void scatter_gradients(const sim::Task& task);
  void reduce_over_replicas(const sim::Task& task);
  void encode(const sim::Task& task);
  void reencode(const sim::Task& task);
  void decode(const sim::Task& task);
  void exchange_codes(const sim::Task& task);
  void accumulate(const sim::Task& task);
  void sum_up(const sim::Task& task);
  void sum_over_world(const sim::Task& task);
  void agree_on_loss();
  void update(const sim::Task& task);
  void update(sim::BucketIndex bucket);
  void copy_to_host(const sim::Task& task);
  void copy_to_device(const sim::Task& task);
  void bring_gradients(const sim::Task& task);
  void keep_on_host(const sim::Task& task);
  void bring_back(const sim::Task& task);
  void gather_after_update(const sim::Task& task);
  void send_weights(const sim::Task& task);

  sim::Rank neighbour(const sim::Task& task) const;
  at::Tensor empty_stream(const sim::TaskKey& receive) const;

  const sim::ParallelPlan& plan_;
  MeshCommunicators& communicators_;
  ParameterStore& parameters_;
  RunnerOptions options_;
  PipelineStage stage_;
  Optimizer optimizer_;
  WireCodecs codecs_;
  std::optional<PrioritySums> sums_;  // where the plan sums by priority
  DeviceStreams streams_;
  std::vector<sim::Task> slice_;
  StepGraph graph_;
  std::vector<TaskWaits> waits_;              // by position in the slice
  std::vector<DeviceStreams::Moment> ended_;  // of this step's tasks that others wait for
  std::vector<sim::BucketIndex> reducing_;    // whose gradients a reduction may still read
  struct Lent {
    at::Tensor tensor;
    DeviceStreams::Moment until;
  };
  std::list<Lent> lent_;             // to a stream that did not take their memory
  WeightGradients beside_exchange_;  // that the exchange behind the task has time for
  std::list<at::Tensor> received_;   // that the stage may still use
  std::int64_t step_ = 0;
  // What ranks ask each other within a computation stands behind it (Piece::within): it is performed inside it.
  std::size_t position_ = 0;                   // of the task that is performed
  std::deque<TraceRecorder::Interval> asked_;  // when those behind it have been
  Optimizer::Request request_;
  std::map<std::pair<sim::ChunkIndex, std::size_t>, WorkHandle> forward_sends_;  // by chunk and piece, until its gradient comes back
  std::vector<WorkHandle> backward_sends_;                                       // until they have arrived, or the step ends
};

}  // namespace executor
