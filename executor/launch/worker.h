// One rank of a run, from plan file to trace file: reads its slice of the plan, trains, writes metrics, checkpoints and its trace.
//
//   run/  plan.json  versions.worker.json  metrics.ndjson  events.out.tfevents.<seconds>.meshwright  trace.<rank>.json  heartbeat.<rank>  stderr.<rank>.txt  checkpoints/step_00000020/
#pragma once

#include <memory>

#include "executor/launch/device_choice.h"
#include "executor/launch/step_report.h"
#include "executor/launch/worker_options.h"
#include "executor/training/task_runner.h"
#include "executor/training/token_file.h"

namespace executor {

enum class RunEnd { Completed, Interrupted };

class Worker {
 public:
  // Throws sim::InputError (plan, data, checkpoint) and CollectiveError. The plan is a runnable one.
  Worker(const WorkerOptions& options, sim::ParallelPlan plan, const DeviceChoice& choice, const Transport& transport);
  RunEnd run();

 private:
  sim::Rank rank() const { return communicators_.rank(); }
  void guarded_step(CompletedSteps done);  // says what a GPU without memory means
  void prepare();                          // initial weights, or those of the checkpoint
  void make_packed_weights();
  void resume();
  void one_step(CompletedSteps done);
  void require_finite(CompletedSteps done) const;
  bool is_checkpoint_due(CompletedSteps done) const;
  void write_trace();

  WorkerOptions options_;
  c10::Device device_;
  sim::ParallelPlan plan_;
  sim::ModelGraph model_;
  TokenFile data_;
  MeshCommunicators communicators_;
  Heartbeat heartbeat_;
  WaitsReported waits_reported_;
  FaultPoints faults_;
  std::optional<GraphRecorder> graph_;  // before anything is made on the device
  ParameterStore parameters_;
  TraceRecorder recorder_;
  TaskRunner runner_;
  Checkpoints checkpoints_;
  std::unique_ptr<StepReport> report_;  // rank 0
  CompletedSteps start_;
  SampleShift shift_;
  StepSummary summary_;
};

// The plan of a run that this worker can perform. Throws sim::InputError with every field that it cannot.
sim::ParallelPlan load_runnable_plan(const std::string& path);

}  // namespace executor
