#include "sim/cost/activation_memory.h"

#include <gtest/gtest.h>

#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

SegmentMemory memory_of(const ParallelPlan& plan, Segment segment) { return segment_memory(make_model_graph(plan), plan, segment); }

// 32 tokens, hidden 64, 4 heads of 16, ffn 256, fp32.
TEST(ActivationMemory, OfAGpt2Block) {
  const ParallelPlan plan = testing::tiny_plan();
  const SegmentMemory attention = memory_of(plan, Segment::Attention), mlp = memory_of(plan, Segment::Mlp);
  EXPECT_EQ(attention.stream, Bytes(4 * 32 * 64));
  EXPECT_EQ(attention.statistics, Bytes(4 * 32 * 2));
  EXPECT_EQ(attention.kept, Bytes(4 * 32 * (64 + 192 + 64 + 4)));  // normalized, qkv, out, logsumexp
  EXPECT_EQ(mlp.kept, Bytes(4 * 32 * (64 + 256 + 256)));
  EXPECT_EQ(mlp.backward_temporary, Bytes(4 * 32 * 256));
}

TEST(ActivationMemory, OfALlamaBlock) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  const SegmentMemory attention = memory_of(plan, Segment::Attention), mlp = memory_of(plan, Segment::Mlp);
  EXPECT_EQ(attention.statistics, Bytes(4 * 32));
  EXPECT_EQ(attention.kept, Bytes(4 * 32 * (64 + 128 + 2 * 64 + 64 + 4)));  // keys and values are repeated for the other heads
  EXPECT_EQ(mlp.kept, Bytes(4 * 32 * (64 + 3 * 160)));
}

// Operands as wide as the kernel of a CPU takes them (24); of one head the output's narrow part is a view.
TEST(ActivationMemory, OfLatentAttention) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.model.kv_heads = plan.model.heads;
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  plan.model.attention = {.kind = AttentionKind::Latent, .q_lora = 24, .kv_lora = 16, .qk_nope = 16, .qk_rope = 8, .v_dim = 12};
  const std::int64_t narrow = 2 * (24 + 16) + 2, head = 4 * 24 + 1;
  EXPECT_EQ(memory_of(plan, Segment::Attention).kept, Bytes(4 * 32 * (64 + narrow + 4 * (head + 12))));
  plan.mesh.tensor = 4;
  EXPECT_EQ(memory_of(plan, Segment::Attention).kept, Bytes(4 * 32 * (64 + narrow + head)));
  plan.mesh.tensor = 1;
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_EQ(memory_of(plan, Segment::Attention).kept, Bytes(4 * 32 * (64 + narrow + 4 * (2 * 24 + 2 * 12 + 1))));
}

TEST(ActivationMemory, TensorParallelDividesTheInsideOnly) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2});
  EXPECT_EQ(memory_of(plan, Segment::Mlp).kept, Bytes(4 * 32 * (64 + 128 + 128)));
  EXPECT_EQ(memory_of(plan, Segment::Mlp).stream, Bytes(4 * 32 * 64));
  plan.sequence_parallel = true;
  EXPECT_EQ(memory_of(plan, Segment::Mlp).stream, Bytes(4 * 16 * 64));
  EXPECT_EQ(memory_of(plan, Segment::Mlp).statistics, Bytes(4 * 16 * 2));
}

TEST(ActivationMemory, StatisticsHaveAtLeastFourBytes) {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.precision = Precision::Bf16;
  EXPECT_EQ(memory_of(plan, Segment::Mlp).statistics, Bytes(4 * 32 * 2));
  EXPECT_EQ(memory_of(plan, Segment::Mlp).stream, Bytes(2 * 32 * 64));
  plan.workload.precision = Precision::Fp64;
  EXPECT_EQ(memory_of(plan, Segment::Mlp).statistics, Bytes(8 * 32 * 2));
}

}  // namespace
}  // namespace sim
