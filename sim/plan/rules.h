// Rules that a plan breaks, gathered one by one. Of violations.cpp, step_rules.cpp, recompute_rules.cpp, host_rules.cpp, steps_in_backward.cpp, network_rules.cpp,
// pipeline_rules.cpp and encoder_rules.cpp, which hold the rules themselves.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/plan/parallel_plan.h"

namespace sim {

class Rules {
 public:
  void must(bool holds, std::string_view where, std::string_view problem, std::string_view remedy) {
    if (!holds) found_.push_back({std::string(where), std::string(problem), std::string(remedy)});
  }
  bool clean() const { return found_.empty(); }
  std::vector<Violation> take() && { return std::move(found_); }

 private:
  std::vector<Violation> found_;
};

// What gradients, weights and states may do in a step, and beside the next (step_rules.cpp).
void check_weight_gather(const ParallelPlan& plan, Rules& rules);
void check_post_validation(const ParallelPlan& plan, Rules& rules);
void check_priority(const ParallelPlan& plan, Rules& rules);
void check_muon(const ParallelPlan& plan, Rules& rules);
void check_adafactor(const ParallelPlan& plan, Rules& rules);
void check_second_copy(const ParallelPlan& plan, Rules& rules);
void check_after_backward(const ParallelPlan& plan, Rules& rules);
void check_owners(const ParallelPlan& plan, Rules& rules);
void check_frozen(const ParallelPlan& plan, Rules& rules);
void check_offload_share(const ParallelPlan& plan, Rules& rules);
void check_drives(const ParallelPlan& plan, Rules& rules);
void check_weights_on_host(const ParallelPlan& plan, Rules& rules);
void check_paged_optimizer(const ParallelPlan& plan, Rules& rules);
void check_wire(const ParallelPlan& plan, Rules& rules);
void check_full_units(const ParallelPlan& plan, Rules& rules);
void check_delayed_head(const ParallelPlan& plan, Rules& rules);
// In which order stages work, in how many passes, and what chunks have (pipeline_rules.cpp).
void check_pipeline(const ParallelPlan& plan, Rules& rules);
// What may wait on the host for a backward (host_rules.cpp).
void check_inputs_on_host(const ParallelPlan& plan, Rules& rules);
// Where recomputation may hold (recompute_rules.cpp).
void check_recompute_scope(const ParallelPlan& plan, Rules& rules);
// What may be stepped before a step's other gradients are there (steps_in_backward.cpp).
void check_steps_in_backward(const ParallelPlan& plan, Rules& rules);
// Of networks whose layers, tokens or samples are of a kind of their own (network_rules.cpp).
void check_linear(const ParallelPlan& plan, Rules& rules);
void check_sparse(const ParallelPlan& plan, Rules& rules);
void check_samples(const ParallelPlan& plan, Rules& rules);
void check_joint_norms(const ParallelPlan& plan, Rules& rules);
void check_shared_between_blocks(const ParallelPlan& plan, Rules& rules);
void check_predictions(const ParallelPlan& plan, Rules& rules);
void check_patches(const ParallelPlan& plan, Rules& rules);
void check_maps(const ParallelPlan& plan, Rules& rules);
// Which part of a batch devices that are not alike may have (group_shares.cpp).
void check_groups(const ParallelPlan& plan, Rules& rules);
// Which tokens are the source's, and who may share them (encoder_rules.cpp).
void check_encoder(const ParallelPlan& plan, Rules& rules);

}  // namespace sim
