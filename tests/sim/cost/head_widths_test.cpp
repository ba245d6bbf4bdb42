#include "sim/cost/head_widths.h"

#include <gtest/gtest.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

HeadWidths widths_in(const ParallelPlan& plan) { return kernel_head_widths(plan, heads_of(plan.model)); }

TEST(HeadWidths, ACpusKernelTakesOneWidth) {
  ParallelPlan plan = testing::tiny_plan();
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  EXPECT_EQ(widths_in(plan).mean(), plan.model.head_dim);
  plan.model.attention = {.kind = AttentionKind::Latent, .kv_lora = 16, .qk_nope = 16, .qk_rope = 8, .v_dim = 12};
  EXPECT_EQ(widths_in(plan).value, 24) << "values are filled up to the keys";
  plan.model.attention.v_dim = 32;
  EXPECT_EQ(widths_in(plan).key, 32);
  plan.model.attention_dropout = 0.1;
  EXPECT_EQ(widths_in(plan).key, 24) << "a loop of our own takes both as they are";
  plan.model.attention_dropout = 0;
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_EQ(widths_in(plan).mean(), 28);
}

}  // namespace
}  // namespace sim
