// One rank of a run, from plan file to trace file: reads its slice of the plan, trains, writes metrics, checkpoints and its trace.
//
//   run/  versions.worker.json  metrics.ndjson  trace.<rank>.json  heartbeat.<rank>  stderr.<rank>.txt  checkpoints/step_00000020/
#pragma once

#include <memory>

#include "executor/launch/step_report.h"
#include "executor/launch/worker_options.h"
#include "executor/training/task_runner.h"
#include "executor/training/token_file.h"

namespace executor {

enum class RunEnd { Completed, Interrupted };

class Worker {
 public:
  // Throws sim::InputError (plan, data, checkpoint) and CollectiveError. session: null in a solo run.
  Worker(const WorkerOptions& options, std::shared_ptr<MpiSession> session);
  RunEnd run();

 private:
  sim::Rank rank() const { return communicators_.rank(); }
  void prepare();  // initial weights, or those of the checkpoint
  void one_step(CompletedSteps done);
  void require_finite(CompletedSteps done) const;
  bool is_checkpoint_due(CompletedSteps done) const;
  void write_trace() const;

  WorkerOptions options_;
  sim::ParallelPlan plan_;
  sim::ModelGraph model_;
  TokenFile data_;
  MeshCommunicators communicators_;
  Heartbeat heartbeat_;
  FaultPoints faults_;
  ParameterStore parameters_;
  TraceRecorder recorder_;
  TaskRunner runner_;
  Checkpoints checkpoints_;
  std::unique_ptr<StepReport> report_;  // rank 0
  CompletedSteps start_;
  StepSummary summary_;
};

// The plan of a run that this worker can perform. Throws sim::InputError with every field that it cannot.
sim::ParallelPlan load_runnable_plan(const std::string& path);

}  // namespace executor
