// The end of a step: gradient norm and loss as exact sums over all ranks, clipping, and the update of each bucket.
// Exact sums do not depend on the layout, so neither does the clip factor. On a device both are made there, and the host reads them when the step has
// ended. Communication is the task runner's.
#pragma once

#include "executor/kernels/gradient_factor.h"
#include "executor/kernels/optimizer.h"
#include "executor/training/loss_scale.h"
#include "executor/training/parameter_store.h"

namespace executor {

struct StepNumber {
  std::int64_t value = 0;
};  // from 0
double learning_rate(const sim::TrainingSettings& settings, StepNumber step);

struct StepSummary {
  double loss = 0;              // mean over the tokens of the global batch that have one
  double gradient_norm = 0;     // before clipping, of the loss itself; 0 where nobody has all gradients at once
  double loss_scale = 1;        // that this step used
  bool skipped = false;         // fp16: a gradient overflowed, nothing was updated
  bool stop_requested = false;  // by any rank
  bool saved = false;           // every rank has written its part of the checkpoint that is being saved
};

class Optimizer {
 public:
  Optimizer(const sim::ParallelPlan& plan, sim::Rank rank, ParameterStore& parameters);

  void begin_step(std::int64_t tokens) { tokens_ = tokens; }  // of the global batch, that have a loss
  // This rank's part of norm and loss: limbs for the all-reduce over all ranks (kStepSummary).
  struct Request {
    bool stop = false, has_written = false;  // see StepSummary
  };
  void sum_up(const std::vector<at::Tensor>& losses, Request request);
  at::Tensor& limbs() { return limbs_; }
  StepSummary summary() const;  // of the limbs, once they are summed over ranks: waits for a device

  void update(FlatBucket& bucket, StepNumber step);
  StepSummary end_step();  // of the step; and the loss scale of the next one. On a device the host waits here

  const LossScaleState& loss_scale() const { return loss_scale_; }
  void set_loss_scale(const LossScaleState& saved) { loss_scale_ = saved; }

 private:
  bool counts(const sim::BucketSlot& slot, const sim::Parameter& parameter) const;
  std::vector<at::Tensor> counted_gradients() const;  // this rank's part of the norm, in few pieces
  AdamWSettings adamw_settings(StepNumber step, double factor, const at::Tensor& there) const;
  struct Stepped {
    at::Tensor gradients, rounded;  // of a bucket's stepped(); rounded: none where the master is what is used
  };
  void update_matrices(const FlatBucket& bucket, const Stepped& all, const AdamWSettings& adamw) const;
  GradientLimit limit() const;
  double gradient_factor() const;    // undoes the loss scale, and clips
  const at::Tensor& factor_there();  // the same, decided on the device

  const sim::ParallelPlan& plan_;
  sim::MeshCoordinate place_;
  ParameterStore& parameters_;
  LossScaleState loss_scale_;
  at::Tensor limbs_;   // int64 [2, ExactSum::kLimbs] on the parameters' device: squared norm, loss
  at::Tensor factor_;  // fp64 [1] on a device; none on a CPU
  bool is_decided_ = false;
  std::int64_t tokens_;
};

}  // namespace executor
