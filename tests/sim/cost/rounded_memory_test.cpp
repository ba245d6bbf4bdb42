#include "sim/cost/rounded_memory.h"

#include <gtest/gtest.h>

#include "tests/sim/cost/memory_scene.h"

namespace sim {
namespace {

using testing::memory_of;

// 32 tokens, hidden 64, ffn 256, fp32 (no product is made twice).
ParallelPlan rounded_plan(DeviceKind kind = DeviceKind::Cpu) {
  ParallelPlan plan = testing::tiny_plan();
  plan.cluster.hardware.kind = kind;
  plan.workload.precision = PrecisionPolicy(Precision::Fp32).with(ScaleRecipe::Tensorwise, false);
  return plan;
}

// Forward: the second product's operands, all else is made. Backward: through the second one 32 x 256, beside the gradient of 32 x 64 and the weight,
// rounded; of the first one the gradients of both its ends, beside what it reads and the weight's gradient of 32 x 256, rounded, when 2 x 32 x 256
// are gone.
TEST(RoundedMemory, BothOperandsStandBesideAProduct) {
  const SegmentMemory mlp = memory_of(rounded_plan(), Operation::Mlp);
  EXPECT_EQ(mlp.forward_temporary, Bytes(4 * 256 * (32 + 64)));
  EXPECT_EQ(mlp.backward_temporary, Bytes(4 * (32 * 256 + 64 * (32 + 256))));
}

TEST(RoundedMemory, UnitsOfAGpuReadNoCopies) {
  EXPECT_EQ(memory_of(rounded_plan(DeviceKind::Gpu), Operation::Mlp).forward_temporary, Bytes(0));
  ParallelPlan plain = rounded_plan();
  plain.workload.precision = Precision::Fp32;
  EXPECT_EQ(memory_of(plain, Operation::Mlp).forward_temporary, Bytes(0));
}

}  // namespace
}  // namespace sim
