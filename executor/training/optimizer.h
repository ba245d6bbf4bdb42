// The end of a step: gradient norm and loss as exact sums over all ranks, clipping, and the update of each bucket.
// Exact sums do not depend on the layout, so neither does the clip factor. Communication is the task runner's.
#pragma once

#include "executor/training/loss_scale.h"
#include "executor/training/parameter_store.h"

namespace executor {

struct StepNumber {
  std::int64_t value = 0;
};  // from 0
double learning_rate(const sim::TrainingSettings& settings, StepNumber step);

struct StepSummary {
  double loss = 0;              // mean over the tokens of the global batch
  double gradient_norm = 0;     // before clipping, of the loss itself
  double loss_scale = 1;        // that this step used
  bool skipped = false;         // fp16: a gradient overflowed, nothing was updated
  bool stop_requested = false;  // by any rank
  bool saved = false;           // every rank has written its part of the checkpoint that is being saved
};

class Optimizer {
 public:
  Optimizer(const sim::ParallelPlan& plan, sim::Rank rank, ParameterStore& parameters);

  // This rank's part of norm and loss: limbs for the all-reduce over all ranks (kStepSummary).
  struct Request {
    bool stop = false, has_written = false;  // see StepSummary
  };
  void sum_up(const std::vector<at::Tensor>& losses, Request request);
  at::Tensor& limbs() { return limbs_; }
  StepSummary summary() const;  // of the limbs, once they are summed over ranks

  void update(FlatBucket& bucket, StepNumber step);
  void end_step();  // the loss scale of the next one

  const LossScaleState& loss_scale() const { return loss_scale_; }
  void set_loss_scale(const LossScaleState& saved) { loss_scale_ = saved; }

 private:
  bool counts(const sim::BucketSlot& slot, const sim::Parameter& parameter) const;
  double gradient_factor() const;  // undoes the loss scale, and clips

  const sim::ParallelPlan& plan_;
  sim::MeshCoordinate place_;
  ParameterStore& parameters_;
  LossScaleState loss_scale_;
  at::Tensor limbs_;  // int64 [2, ExactSum::kLimbs]: squared norm, loss
};

}  // namespace executor
