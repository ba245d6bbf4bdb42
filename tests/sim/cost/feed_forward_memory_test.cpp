#include "sim/cost/feed_forward_memory.h"

#include <gtest/gtest.h>

#include "tests/sim/cost/memory_scene.h"

namespace sim {
namespace {

using testing::memory_of;

// 32 tokens, hidden 64, ffn 256 (gated 160), fp32: the norm's output, what the first product puts out (gated: two), what the last one reads.
TEST(FeedForwardMemory, OfAnMlp) {
  ParallelPlan plan = testing::tiny_plan();
  const SegmentMemory plain = memory_of(plan, Operation::Mlp);
  EXPECT_EQ(plain.kept, Bytes(4 * 32 * (64 + 2 * 256)));
  EXPECT_EQ(plain.weight_inputs, Bytes(4 * 32 * (64 + 256)));
  plan.model = testing::tiny_llama();
  const SegmentMemory gated = memory_of(plan, Operation::Mlp);
  EXPECT_EQ(gated.kept, Bytes(4 * 32 * (64 + 3 * 160)));
  EXPECT_EQ(gated.backward_temporary, Bytes(4 * 32 * 3 * 160));
  EXPECT_EQ(gated.output_gradients, Bytes(4 * 32 * (2 * 160 + 64)));
}

// One kernel makes both halves' gradients there; another activation's, or one with a limit, is made by operators.
TEST(FeedForwardMemory, AGateNeedsNoProductOnAGpu) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_EQ(memory_of(plan, Operation::Mlp).backward_temporary, Bytes(4 * 32 * 2 * 160));
  plan.model.gate_limit = 7;
  EXPECT_EQ(memory_of(plan, Operation::Mlp).backward_temporary, Bytes(4 * 32 * 3 * 160));
  plan.model.gate_limit = 0, plan.model.activation = Activation::GeluTanh;
  EXPECT_EQ(memory_of(plan, Operation::Mlp).backward_temporary, Bytes(4 * 32 * 3 * 160));
}

// Beside a frozen last product nothing is given up before the activation's backward. A relu reads what it put out.
TEST(FeedForwardMemory, FrozenProductsKeepNoInputs) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.model.adapters = Adapters{.rank = 2}.on(AdapterTarget::Output);
  EXPECT_EQ(memory_of(plan, Operation::Mlp).kept, Bytes(4 * 32 * 2 * 160));
  EXPECT_EQ(memory_of(plan, Operation::Mlp).backward_temporary, Bytes(4 * 32 * 4 * 160));
  plan.model.gated_mlp = false, plan.model.activation = Activation::Relu;
  EXPECT_EQ(memory_of(plan, Operation::Mlp).kept, Bytes(4 * 32 * 160));
  EXPECT_EQ(memory_of(plan, Operation::Mlp).backward_temporary, Bytes(4 * 32 * 2 * 160));
}

// Each token goes to topk experts; what goes back to tokens is not kept where weights came before the last product.
TEST(FeedForwardMemory, OfExperts) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 32};
  const SegmentMemory memory = memory_of(plan, Operation::Experts);
  const std::int64_t rows = 32 * 2;
  EXPECT_EQ(memory.output_gradient, Bytes(4 * rows * 64));
  EXPECT_EQ(memory.input_gradients, Bytes(4 * rows * 32));
  plan.cluster.software = worker_software();
  plan.cluster.software.own_memory = true;
  const Bytes behind = memory_of(plan, Operation::Experts).kept;
  plan.cluster.software.weights_activation = true;
  plan.model.gated_mlp = plan.cluster.software.fused_activation = true;
  const Bytes gated = memory_of(plan, Operation::Experts).kept;
  plan.cluster.software.weights_activation = false;
  EXPECT_EQ(memory_of(plan, Operation::Experts).kept - gated, Bytes(4 * rows * 64));
  plan.model.gated_mlp = false, plan.cluster.software.weights_activation = true;
  EXPECT_EQ(behind - memory_of(plan, Operation::Experts).kept, Bytes(4 * rows * (64 - 32))) << "no one kernel: the product keeps both";
}

// Scores of each token and expert, and of each choice; what the product reads is cast beside its gradient.
TEST(FeedForwardMemory, RoutersInATypeOfTheirOwn) {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.precision = Precision::Bf16;
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 32};
  const SegmentMemory narrow = memory_of(plan, Operation::Experts);
  plan.workload.precision = plan.workload.precision.with(WideKind::Routers, Precision::Fp32);
  const SegmentMemory single = memory_of(plan, Operation::Experts);
  EXPECT_EQ(single.kept, narrow.kept) << "scores are in fp32 anyway";
  EXPECT_GE(single.backward_temporary, Bytes(2 * 4 * 32 * 64));
  EXPECT_EQ(single.forward_temporary, Bytes(4 * 32 * 64));
  plan.cluster.software.mixed_products = true;
  EXPECT_EQ(memory_of(plan, Operation::Experts).forward_temporary, narrow.forward_temporary);
  plan.workload.precision = plan.workload.precision.with(WideKind::Routers, Precision::Fp64);
  EXPECT_EQ(memory_of(plan, Operation::Experts).kept - narrow.kept, Bytes(4 * 32 * (4 + 2)));
}

// A list of operators has exchanges, but neither grouped products nor copies of rows: without expert ranks the router's part alone is left.
TEST(FeedForwardMemory, OfExpertsMadeAgainByOperators) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 32};
  plan.model.gated_mlp = true;
  plan.recompute = Recompute::Selective;
  plan.recompute_scope.modules = Module::Op;
  const auto kept = [&plan] { return memory_of(plan, Operation::Experts).kept; };
  const Bytes alone = kept();
  plan.model.experts->expert_ffn = 320;
  EXPECT_EQ(kept(), alone) << "no product of experts stays";
  plan.mesh.expert = 2;
  const Bytes both_ways(4 * (32 * 2) * 64 * 2);
  EXPECT_GE(kept() - alone, both_ways) << "rows that came, and rows that came back";
  EXPECT_LT(kept() - alone, scaled(both_ways, 1.2)) << "of the rank that has most";
}

// 32 tokens, 16 bit: what the first product reads of the norm, hidden 64, and the second of the activation, ffn 160, a byte a number and no longer two; what
// no product reads stays: both outputs of the first. Adapters read in 16 bit.
TEST(FeedForwardMemory, ProgramsKeepInputsAsTheyRoundedThem) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.cluster.software = worker_software();
  plan.cluster.software.own_memory = true;
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Tensorwise, false);
  const Bytes whole = memory_of(plan, Operation::Mlp).kept;
  plan.cluster.software.keeps_scaled_inputs = true;
  EXPECT_EQ(whole - memory_of(plan, Operation::Mlp).kept, Bytes(32 * (64 + 160)));
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Nvfp4, false);
  EXPECT_EQ(whole - memory_of(plan, Operation::Mlp).kept, Bytes(32 * (64 + 160) * 23 / 16))
      << "half a byte, and one of 16 numbers for their scale";
  plan.model.adapters = Adapters{};
  const Bytes beside = memory_of(plan, Operation::Mlp).kept;
  plan.cluster.software.keeps_scaled_inputs = false;
  EXPECT_EQ(memory_of(plan, Operation::Mlp).kept, beside);
}

// The router reads what the norm put out in 16 bit; rows of experts and what their activations put out are read by products alone.
TEST(FeedForwardMemory, RowsOfExpertsAreKeptAsTheyWereRounded) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 32};
  plan.cluster.software = worker_software();
  plan.cluster.software.own_memory = true;
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Tensorwise, false);
  const Bytes whole = memory_of(plan, Operation::Experts).kept;
  plan.cluster.software.keeps_scaled_inputs = true;
  EXPECT_EQ(whole - memory_of(plan, Operation::Experts).kept, Bytes(32 * 2 * (64 + 32)));
}

}  // namespace
}  // namespace sim
