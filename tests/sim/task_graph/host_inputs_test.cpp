#include "sim/task_graph/host_inputs.h"

#include <gtest/gtest.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

// 32 tokens, hidden 64, four heads of 16, fp32.
constexpr std::int64_t kStream = 4 * 32 * 64;

Bytes sent(const ParallelPlan& plan, std::size_t segment) {
  const ModelGraph model = make_model_graph(plan);
  return inputs_on_host(model, plan, model.layer(LayerIndex(2)).segments[segment]);
}

ParallelPlan sending(Modules modules) {
  ParallelPlan plan = testing::tiny_plan();
  plan.offload_modules = modules;
  plan.offload_least = 0;
  return plan;
}

TEST(HostInputs, OfUsualAttention) {
  EXPECT_EQ(sent(sending(Module::QkvProduct), 0), Bytes(2 * kStream));  // and what its norm reads
  EXPECT_EQ(sent(sending(Module::AttentionNorm), 0), Bytes(0));
  EXPECT_EQ(sent(sending(Module::CoreAttention), 0), Bytes(4 * kStream));
  EXPECT_EQ(sent(sending(Module::CoreAttention | Module::AttentionProjection), 0), Bytes(5 * kStream));
  EXPECT_EQ(sent(sending(kSentToHost.without(Module::Mlp)), 1), Bytes(0));
  ParallelPlan cut = sending(Module::CoreAttention);
  cut.mesh.tensor = 2;
  EXPECT_EQ(sent(cut, 0), Bytes(2 * kStream));
  cut.attention = AttentionWord::FusedSoftmax;  // 32 x 32 scores of two heads in place of what comes out
  EXPECT_EQ(sent(cut, 0), Bytes(3 * kStream / 2 + 4 * 2 * 32 * 32));
}

// What its norm reads and puts out, and four times as wide both sides of the activation. A relu's backward reads what it put out.
TEST(HostInputs, OfAPlainFeedForward) {
  ParallelPlan plan = sending(Module::Mlp);
  EXPECT_EQ(sent(plan, 1), Bytes((2 + 2 * 4) * kStream));
  EXPECT_EQ(sent(plan, 0), Bytes(0));
  plan.mesh.tensor = 2;
  EXPECT_EQ(sent(plan, 1), Bytes((2 + 4) * kStream));
  plan.model.activation = Activation::Relu;
  EXPECT_EQ(sent(plan, 1), Bytes((2 + 2) * kStream));
}

TEST(HostInputs, OfTheFirstBlocksOfAChunk) {
  ParallelPlan plan = sending(Module::Mlp);
  EXPECT_TRUE(plan.sends_modules(LayerIndex(1)) && plan.sends_modules(LayerIndex(2)));
  EXPECT_FALSE(plan.sends_modules(LayerIndex(0)) || plan.sends_modules(plan.head()));
  plan.offload_blocks = 1;
  EXPECT_TRUE(plan.sends_modules(LayerIndex(1)));
  EXPECT_FALSE(plan.sends_modules(LayerIndex(2)));
  plan.offload_modules = {};
  EXPECT_FALSE(plan.sends_modules(LayerIndex(1)));
}

TEST(HostInputs, OfLatentAttention) {
  ParallelPlan plan = sending(Module::QkvProduct);
  plan.model.attention = {.kind = AttentionKind::Latent, .q_lora = 32, .kv_lora = 16, .qk_nope = 8, .qk_rope = 8, .v_dim = 16};
  EXPECT_EQ(sent(plan, 0), Bytes(kStream + 2 * 4 * 32 * (32 + 16)));
  plan.offload_modules = Module::AttentionNorm;
  EXPECT_EQ(sent(plan, 0), Bytes(kStream));
}

// Two rows of 32 tokens each.
TEST(HostInputs, OfExperts) {
  ParallelPlan plan = sending(Module::ExpertProduct);
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 32};
  EXPECT_EQ(sent(plan, 1), Bytes(2 * kStream));
  plan.offload_modules = Module::MoeActivation | Module::MlpNorm;
  EXPECT_EQ(sent(plan, 1), Bytes(kStream + 2 * kStream / 2));
}

TEST(HostInputs, SmallTensorsStay) {
  ParallelPlan plan = sending(Module::CoreAttention | Module::AttentionProjection);
  plan.offload_least = 32 * 64;
  EXPECT_EQ(sent(plan, 0), Bytes(5 * kStream));
  plan.offload_least = 32 * 64 + 1;
  EXPECT_EQ(sent(plan, 0), Bytes(0));
}

// 1F1B on two stages: the second one's backwards follow their forwards, of the first one that of the last microbatch alone.
TEST(HostInputs, TheLastBlockStaysWhereItsBackwardIsNext) {
  const ParallelPlan plan = testing::tiny_plan({.pipeline = 2});
  const NextBackwards first(plan, StageIndex(0)), second(plan, StageIndex(1));
  const auto last = static_cast<std::int32_t>(plan.num_microbatches()) - 1;
  EXPECT_TRUE(second.keeps(plan, ChunkIndex(0), MicrobatchIndex(3), LayerIndex(4)));
  EXPECT_FALSE(second.keeps(plan, ChunkIndex(0), MicrobatchIndex(3), LayerIndex(3)));
  EXPECT_TRUE(first.keeps(plan, ChunkIndex(0), MicrobatchIndex(0), LayerIndex(2)));
  EXPECT_FALSE(first.keeps(plan, ChunkIndex(0), MicrobatchIndex(last), LayerIndex(2)));
  const StageAction backward{ActionKind::Backward, MicrobatchIndex(3), ChunkIndex(0), SliceIndex::none()};
  EXPECT_EQ(second.behind(backward)->microbatch, MicrobatchIndex(4));
  EXPECT_FALSE(second.behind({ActionKind::Backward, MicrobatchIndex(last), ChunkIndex(0), SliceIndex::none()}));
}

}  // namespace
}  // namespace sim
