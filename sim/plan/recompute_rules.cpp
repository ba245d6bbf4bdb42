// Where recomputation may hold: which modules, blocks and microbatches, and what keeps blocks from being made again together.
#include <fmt/format.h>

#include "sim/plan/rules.h"
#include "sim/units/at.h"

namespace sim {
namespace {

void check_blocks_together(const ParallelPlan& plan, Rules& rules) {
  const RecomputeScope& scope = plan.recompute_scope;
  if (scope.together == 1) return;
  const std::string problem = fmt::format("computes {} blocks again together", scope.together);
  rules.must(scope.first == 0 && scope.by_stage.empty() && scope.every == 1, "/recompute_scope", problem + ", and some alone or not at all",
             "leave first and every out, or together");
  rules.must(plan.zero_stage < 3 && !plan.offload_parameters, "/recompute_scope",
             problem + ", whose weights would be gathered twice for one backward", "use zero 2 or less, or leave together out");
  rules.must(plan.slices == 1, "/recompute_scope", problem + ", of slices of a sample", "use slices 1, or leave together out");
  rules.must(plan.workload.precision.full_blocks().empty(), "/recompute_scope", problem + ", and hands on one type to another between them",
             "leave blocks in full precision out, or together");
  rules.must(!plan.model.frozen.any(), "/recompute_scope", problem + ", of which frozen ones are not made again",
             "leave frozen or together out");
  rules.must(!plan.model.convolution, "/recompute_scope", problem + ", and feature maps of a stage are all made again together",
             "leave together out");
}

}  // namespace

void check_recompute_scope(const ParallelPlan& plan, Rules& rules) {
  const RecomputeScope& scope = plan.recompute_scope;
  const std::string problem = fmt::format("is \"{}\" with recompute {}", to_text(scope), sim::at(kRecomputeNames, plan.recompute));
  rules.must(scope.modules.none() || plan.recompute == Recompute::Selective, "/recompute_scope", problem,
             "modules of blocks need recompute selective");
  const RecomputeScope of_parts{.modules = scope.modules};
  rules.must(scope == of_parts || plan.recompute == Recompute::Full, "/recompute_scope", problem,
             "some blocks, or microbatches, need recompute full");
  const std::int64_t stages = std::ssize(scope.by_stage);
  rules.must(stages == 0 || stages == plan.mesh.pipeline, "/recompute_scope",
             fmt::format("has {} numbers for {} stages", stages, plan.mesh.pipeline), "give one for each stage, or one for all");
  check_blocks_together(plan, rules);
  rules.must(scope == RecomputeScope{} || !plan.offload_activations, "/recompute_scope", problem + " and their inputs on the host",
             "recompute all blocks, or leave inputs on the device");
}

}  // namespace sim
