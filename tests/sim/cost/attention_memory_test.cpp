#include "sim/cost/attention_memory.h"

#include <gtest/gtest.h>

#include "tests/sim/cost/memory_scene.h"

namespace sim {
namespace {

using testing::memory_of;

// Operands as wide as the kernel of a CPU takes them (24); of one head the output's narrow part is a view.
TEST(AttentionMemory, OfLatentAttention) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.model.kv_heads = plan.model.heads;
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  plan.model.attention = {.kind = AttentionKind::Latent, .q_lora = 24, .kv_lora = 16, .qk_nope = 16, .qk_rope = 8, .v_dim = 12};
  const std::int64_t narrow = 2 * (24 + 16) + 2, head = 4 * 24 + 1;
  EXPECT_EQ(memory_of(plan, Operation::Attention).kept, Bytes(4 * 32 * (64 + narrow + 4 * (head + 12))));
  plan.mesh.tensor = 4;
  EXPECT_EQ(memory_of(plan, Operation::Attention).kept, Bytes(4 * 32 * (64 + narrow + head)));
  plan.mesh.tensor = 1;
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_EQ(memory_of(plan, Operation::Attention).kept, Bytes(4 * 32 * (64 + narrow + 4 * (2 * 24 + 2 * 12 + 1))));
}

// With adapters beside the output's product that one reads its input for a gradient, and no frozen product does: neither the norm's output nor those of the
// norms inside (24 and 16) are kept. Where the output's product has none, too, it needs no copy of attention's.
TEST(AttentionMemory, FrozenLatentProductsKeepNoInputs) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.model.kv_heads = plan.model.heads;
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  plan.model.attention = {.kind = AttentionKind::Latent, .q_lora = 24, .kv_lora = 16, .qk_nope = 16, .qk_rope = 8, .v_dim = 12};
  const Bytes trained = memory_of(plan, Operation::Attention).kept;
  plan.model.adapters = Adapters{.rank = 2}.on(AdapterTarget::Output);
  const Bytes beside = memory_of(plan, Operation::Attention).kept;
  EXPECT_EQ(trained - beside, Bytes(4 * 32 * (64 + 24 + 16 - 2)));
  plan.model.adapters = Adapters{.rank = 2}.on(AdapterTarget::Up);
  EXPECT_EQ(beside - memory_of(plan, Operation::Attention).kept, Bytes(4 * 32 * (4 * 12 + 2)));
}

// 32 tokens, hidden 64, 4 heads of 16, 2 of keys, fp32. Without dropout the fused kernel keeps a sum a head and has blocks of scores and of their slopes in
// backward; with it the probabilities stay, three matrices of a head are alive there, and what the product behind read is given up.
TEST(AttentionMemory, DroppedScoresAreKept) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.attention_dropout = 0;
  const SegmentMemory fused = memory_of(plan, Operation::Attention);
  plan.model.attention_dropout = 0.1;
  const SegmentMemory dropped = memory_of(plan, Operation::Attention);
  const std::int64_t sequence = plan.workload.sequence;
  EXPECT_EQ(dropped.kept - fused.kept, Bytes(4 * 32 * (sequence * 4 - 4)));
  EXPECT_EQ(fused.backward_temporary - dropped.backward_temporary, Bytes(4 * (2 * 32 * sequence + 32 * 64 - 3 * sequence * sequence)));
}

// Of the same on a GPU a part of all samples' heads, which is all of them here: once as slopes, once more where probabilities are made again; and the gradient of the output
// laid one head behind another.
TEST(AttentionMemory, DroppedScoresAreAPartOnAGpu) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.attention_dropout = 0.1;
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  const SegmentMemory head_by_head = memory_of(plan, Operation::Attention);
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  const SegmentMemory at_once = memory_of(plan, Operation::Attention);
  const std::int64_t sequence = plan.workload.sequence, samples = 32 / sequence, head = 4 * sequence * sequence,
                     copied = samples > 1 ? 4 * 32 * 64 : 0;
  EXPECT_EQ(at_once.backward_temporary - head_by_head.backward_temporary, Bytes((4 * samples - 3) * head + copied));
  EXPECT_EQ(at_once.kept, head_by_head.kept);
  plan.recompute = Recompute::Selective;
  EXPECT_EQ(memory_of(plan, Operation::Attention).backward_temporary - at_once.backward_temporary, Bytes(4 * samples * head));
  plan.recompute = Recompute::None;
  plan.workload.sequence = 65536;  // 16 GiB a head
  plan.model.max_positions = 65536;
  const SegmentMemory long_samples = memory_of(plan, Operation::Attention);
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  const Bytes one = Bytes(4) * (std::int64_t{65536} * 65536);
  EXPECT_LT(long_samples.backward_temporary, memory_of(plan, Operation::Attention).backward_temporary - one);
}

// In 16 bit a GPU's products read keys that queries share once a group: as many are kept as without dropout, beside the probabilities, and a part has whole groups.
TEST(AttentionMemory, DroppedScoresRepeatNoKeysOnAGpu) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.workload.precision = Precision::Bf16;
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  const SegmentMemory fused = memory_of(plan, Operation::Attention);
  plan.model.attention_dropout = 0.1;
  const SegmentMemory dropped = memory_of(plan, Operation::Attention);
  const std::int64_t tokens = plan.workload.sequence, heads = plan.model.heads, head = 2 * tokens * tokens;
  EXPECT_EQ(dropped.kept - fused.kept, Bytes(heads * (head - 4 * tokens)));  // no sums of exponentials
  plan.model.kv_heads = heads;                                               // of one sample nothing is copied
  EXPECT_EQ(memory_of(plan, Operation::Attention).backward_temporary - dropped.backward_temporary, Bytes(2 * tokens * (2 * 32 - 64)));
}

// A sample of 32 tokens is a tile of 128 queries to the kernel, heads of 16 are 32 columns wide; fp32 has another kernel, which needs no such sums.
TEST(AttentionMemory, GradientsOfQueriesAreSummedInFp32OnAGpu) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.workload.sequence = 32;
  plan.model.kv_heads = plan.model.heads;
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  const auto needed = [&](Precision precision) {
    plan.workload.precision = precision;
    return memory_of(plan, Operation::Attention).backward_temporary;
  };
  const Bytes sums = needed(Precision::Bf16) - scaled(needed(Precision::Fp32), 0.5);
  EXPECT_EQ(sums, Bytes(4 * 128 * 4 * (32 + 1)));
  const Bytes apart = needed(Precision::Bf16);
  plan.model.kv_heads = plan.model.heads / 2;
  EXPECT_EQ(needed(Precision::Bf16) - apart, Bytes(2 * 32 * (2 * 64 - 64)))
      << "gradients of each head's keys and values; keys half as many";
}

// 32 tokens, 4 heads of keys 16 and values 12 wide. A CPU's fused kernel takes values that are filled up, and puts out as wide ones, of which the product
// behind reads a copy; scores made by hand, of windows and where a block has sinks, take them as they are.
TEST(AttentionMemory, NarrowValuesAreFilledUp) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.model.kv_heads = plan.model.heads;
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  plan.model.value_dim = 12;
  const SegmentMemory filled = memory_of(plan, Operation::Attention);
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  const SegmentMemory narrow = memory_of(plan, Operation::Attention);
  EXPECT_EQ(filled.kept - narrow.kept, Bytes(4 * 32 * 4 * (16 + 16)));
  plan.cluster.hardware.kind = DeviceKind::Cpu;
  plan.model.sinks = true;
  const Bytes by_hand = memory_of(plan, Operation::Attention).kept;
  EXPECT_EQ(narrow.kept - by_hand, Bytes(4 * 32 * 4)) << "no sums of exponentials";
  plan.model.sinks_in_windows = true;
  EXPECT_EQ(memory_of(plan, Operation::Attention).kept, filled.kept);
}

// A frozen product behind keeps no output, and attention that drops scores reads none: there is nothing to give up before its backward.
TEST(AttentionMemory, NobodyKeepsAnOutputThatNobodyReads) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.attention_dropout = 0.1;
  plan.model.adapters = Adapters{.rank = 2}.on(AdapterTarget::Value).on(AdapterTarget::Output);
  const SegmentMemory beside = memory_of(plan, Operation::Attention);
  plan.model.adapters = Adapters{.rank = 2}.on(AdapterTarget::Value);
  const SegmentMemory frozen = memory_of(plan, Operation::Attention);
  EXPECT_EQ(beside.kept - frozen.kept, Bytes(4 * 32 * (64 + 2)));
  EXPECT_EQ(frozen.backward_temporary - beside.backward_temporary, Bytes(4 * 32 * 64));
}

// Of a ring of four two blocks are there at once, of a gather all; a block is keys and values of one rank's tokens.
TEST(AttentionMemory, BlocksOfKeysComeIn) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .context = 4});
  plan.model.attention_dropout = 0;
  plan.context_algorithm = ContextAlgorithm::Ring;
  const SegmentMemory ring = memory_of(plan, Operation::Attention);
  plan.context_algorithm = ContextAlgorithm::AllGather;
  const SegmentMemory gather = memory_of(plan, Operation::Attention);
  const Bytes block(4 * 8 * 2 * 64);
  EXPECT_EQ(gather.exchanged - ring.exchanged, block * 2);
  EXPECT_EQ(gather.exchanged_back - ring.exchanged_back, block * 4);
  EXPECT_EQ(gather.kept, ring.kept);
}

// 32 tokens, hidden 64, 16 bit. The norm's output is kept in a byte; attention's output as its own backward reads it, which the product behind shares with it unless
// scales are delayed.
TEST(AttentionMemory, TheOutputIsRoundedBesideItWhereScalesAreDelayed) {
  ParallelPlan plan = testing::tiny_plan();
  plan.cluster.software = worker_software();
  plan.cluster.software.own_memory = true;
  const auto saved = [&](ScaleRecipe recipe) {
    plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(recipe, false);
    plan.cluster.software.keeps_scaled_inputs = false;
    const Bytes whole = memory_of(plan, Operation::Attention).kept;
    plan.cluster.software.keeps_scaled_inputs = true;
    return whole - memory_of(plan, Operation::Attention).kept;
  };
  EXPECT_EQ(saved(ScaleRecipe::Tensorwise), Bytes(32 * 64));
  EXPECT_EQ(saved(ScaleRecipe::Delayed), Bytes(32 * (64 - 64)));
}

}  // namespace
}  // namespace sim
