#include "sim/cost/unit_copies.h"

#include <gtest/gtest.h>

#include "sim/cost/task_kernels.h"
#include "sim/task_graph/layer_tasks.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

ParallelPlan plan_of(const std::string& copies, const std::string& precision = "bf16") {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  plan.cluster.hardware = load_hardware_profile("h100-80gb-sxm");
  plan.cluster.software.unit_copies = copies;
  plan.zero_stage = 3;
  plan.accumulation = Accumulation::ReduceEach;
  std::vector<Violation> wrong;
  plan.workload.precision = parse_precision_policy(precision, wrong);
  return plan;
}

// 2 and 2 bytes join a unit's gradients, 2 and 2 divide them; sums in fp32 are cast by 2 and 4, and divided by 4 and 4.
TEST(UnitCopies, AreThoseOfTheProgramsCode) {
  struct Case {
    const char *copies, *precision;
    double gathered, reduced;
  };
  for (const Case& one : {Case{"none", "bf16", 0, 0}, Case{"flat", "bf16", 0, 8}, Case{"flat", "bf16 gradients=fp32", 0, 18},
                          Case{"split", "bf16", 4, 4}, Case{"split", "bf16 gradients=fp32", 4, 6}, Case{"buckets", "bf16", 4, 12},
                          Case{"buckets", "bf16 gradients=fp32", 4, 26}, Case{"flat", "bf16 gradients=fp32 wire=bf16", 0, 8}}) {
    const UnitCopies copies = unit_copies(plan_of(one.copies, one.precision), Phase::Backward);
    EXPECT_EQ(copies.gathered, one.gathered) << one.copies << " " << one.precision;
    EXPECT_EQ(copies.reduced, one.reduced) << one.copies << " " << one.precision;
  }
}

TEST(UnitCopies, NothingIsCopiedWhereNothingIsGathered) {
  ParallelPlan plan = plan_of("split");
  plan.zero_stage = 2;
  EXPECT_EQ(unit_copies(plan, Phase::Forward).gathered, 0);
  plan.zero_stage = 3;
  plan.mesh.data = 1;
  EXPECT_EQ(unit_copies(plan, Phase::Backward).reduced, 0);
}

TEST(UnitCopies, GradientsThatWaitAreDividedOnce) {
  ParallelPlan plan = plan_of("flat");
  plan.workload.global_batch = 4 * plan.microbatch_size * plan.mesh.data;
  ASSERT_EQ(plan.num_microbatches(), 4);
  plan.accumulation = Accumulation::ReduceEach;
  EXPECT_EQ(unit_copies(plan, Phase::Backward).reduced, 8);
  plan.accumulation = Accumulation::ReduceLast;
  EXPECT_EQ(unit_copies(plan, Phase::Backward).reduced, 4 + 4.0 / 4);
}

std::int64_t moved(const ParallelPlan& plan, Phase phase) {
  const ModelGraph model = make_model_graph(plan);
  std::int64_t bytes = 0;
  for (const Piece& piece : pieces_of(model, plan, LayerIndex(1), phase))
    if (!is_communication(piece.operation))
      for (const KernelCall& call : kernels_of(model, plan, {LayerIndex(1), phase, piece.operation}).calls)
        bytes += call.kernel == Kernel::Copy ? 2 * call.shape[0] : 0;
  return bytes;
}

// Forward a gather, backward another and a sum, whatever is made again in between.
TEST(UnitCopies, EachWeightIsCopiedAsOftenAsItsUnitIsExchanged) {
  ParallelPlan plan = plan_of("none"), copied = plan_of("split");
  const ModelGraph model = make_model_graph(plan);
  std::int64_t weights = 0;
  for (const SegmentGraph& segment : model.layer(LayerIndex(1)).segments)
    for (const Operator& op : segment.operators) weights += op.kind == OperatorKind::Linear ? op.inputs * op.outputs : 0;
  ASSERT_GT(weights, 0);
  EXPECT_EQ(moved(copied, Phase::Forward) - moved(plan, Phase::Forward), 4 * weights);
  EXPECT_EQ(moved(copied, Phase::Backward) - moved(plan, Phase::Backward), (4 + 4) * weights);
  plan.recompute = copied.recompute = Recompute::Full;
  EXPECT_EQ(moved(copied, Phase::Recompute), moved(plan, Phase::Recompute));
  copied.reshard_after_forward = false;
  EXPECT_EQ(moved(copied, Phase::Backward) - moved(plan, Phase::Backward), 4 * weights);
}

}  // namespace
}  // namespace sim
