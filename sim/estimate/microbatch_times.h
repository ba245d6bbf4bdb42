// Times of one microbatch on each virtual stage: kernels, host, tensor, context and expert collectives, weights gathered on the way.
// Used by step_estimate.
#pragma once

#include <vector>

#include "sim/clock/link_clock.h"
#include "sim/estimate/layer_work.h"
#include "sim/estimate/pipeline_replay.h"
#include "sim/estimate/stage_cut.h"
#include "sim/estimate/step_estimate.h"

namespace sim {

class MicrobatchTimes {
 public:
  MicrobatchTimes(const RunDescription& run, const Setting& setting);
  std::vector<StageTimes> stages() const;
  Seconds transfer() const;  // of activations between stages
  const LinkClock& links() const { return links_; }

 private:
  struct Pass {
    double forward = 0, backward = 0, weight = 0;
  };
  struct Collectives {
    double forward = 0, backward = 0;
  };
  Pass block(std::int64_t layer) const;
  Pass piece(const LayerWork& work, const Collectives& collectives, double parameters) const;  // without what it waits for
  Collectives tensor_collectives(BlockKind kind, const LayerWork& work) const;
  Collectives context_collectives(double compute) const;
  LayerWork slowed(LayerWork work) const;
  double recomputed(const LayerWork& work, double forward) const;
  Pass with_gathers(Pass pass, double parameters) const;
  double accumulation(double parameters) const;
  double gathered_logits() const;
  double dispatch_time(double bytes) const;
  const Behavior& behavior() const { return setting_.device.behavior; }
  bool gathers_weights() const { return run_.layout.zero_stage == 3; }

  const RunDescription& run_;
  const Setting& setting_;
  KernelClock kernels_;
  double slowest_;  // device, in units of the mean one
  LinkClock links_;
};

}  // namespace sim
