#include <gmock/gmock.h>

#include "sim/estimate/layer_work.h"
#include "tests/sim/estimate/runs.h"

namespace sim {
namespace {

LayerWork block(const RunDescription& run, BlockPlace place = {}) {
  const KernelClock clock(a100(), plain_setting().stack, run.execution);
  return block_work(run, plain_setting().stack, clock, place);
}

TEST(LayerWork, TensorParallelismCutsProductsButNotNorms) {
  RunDescription whole = gpt_run(), cut = gpt_run();
  cut.layout.tensor = 4;
  EXPECT_LT(block(cut).linear.device, 0.4 * block(whole).linear.device);
  EXPECT_GT(block(cut).elementwise.device, 0.4 * block(whole).elementwise.device);
  RunDescription sequence = cut;
  sequence.layout.sequence_parallel = true;
  EXPECT_LT(block(sequence).elementwise.device, 0.7 * block(cut).elementwise.device);
}

TEST(LayerWork, FrozenWeightsHaveNoGradients) {
  RunDescription adapted = gpt_run();
  adapted.network.low_rank = LowRankForm{};
  EXPECT_LT(block(adapted).weight_gradient.device, 0.3 * block(gpt_run()).weight_gradient.device);
  EXPECT_NEAR(block(adapted).input_gradient.device, block(gpt_run()).input_gradient.device, 0.1 * block(gpt_run()).input_gradient.device);
}

TEST(LayerWork, CachedWeightsAreCastOnceAStep) {
  const Device h100 = load_device("h100-80gb-sxm");
  RunDescription run = gpt_run();
  run.execution.format = NumberFormat::Fp8;
  run.layout.zero_stage = 1;
  run.layout.microbatches = 64;
  SoftwareStack stack = plain_setting().stack;
  const auto linear = [&] { return block_work(run, stack, KernelClock(h100, stack, run.execution), {}).linear.device; };
  const double each = linear();
  stack.cached_fp8_weights = true;
  const double once = linear();
  EXPECT_LT(once, each);
  run.layout.microbatches = 1;
  EXPECT_DOUBLE_EQ(linear(), each);
  run.execution.fp8_parameters = true;
  EXPECT_LT(linear(), once);
}

TEST(LayerWork, ExpertsCostWhatIsRouted) {
  RunDescription mixture = gpt_run();
  mixture.network.experts = ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 8192};
  const double dense = block(gpt_run()).linear.device, routed = block(mixture, {BlockKind::Experts}).linear.device;
  EXPECT_GT(routed, 1.2 * dense);
  EXPECT_LT(routed, 3 * dense);
  mixture.layout.expert = 4;
  EXPECT_GT(block(mixture, {BlockKind::Experts}).dispatched_bytes, 0);
}

TEST(LayerWork, WindowsSaveAttention) {
  RunDescription run = gpt_run();
  run.network.attention = {.kind = AttentionKind::Sliding, .window = 256, .every = 2};
  EXPECT_LT(block(run, {BlockKind::Dense, true}).attention.device, block(run).attention.device);
}

TEST(LayerWork, LatentAttentionHasItsOwnProjections) {
  RunDescription run = gpt_run();
  run.network.attention = {.kind = AttentionKind::Latent, .q_lora = 1536, .kv_lora = 512, .qk_nope = 128, .qk_rope = 64, .v_dim = 128};
  EXPECT_NE(block(run).linear.device, block(gpt_run()).linear.device);
  EXPECT_GT(block(run).attention.device, block(gpt_run()).attention.device);
}

TEST(LayerWork, EndsOfTheNetwork) {
  const RunDescription run = gpt_run();
  const KernelClock clock(a100(), plain_setting().stack, run.execution);
  EXPECT_GT(head_work(run, plain_setting().stack, clock).linear.device,
            10 * embedding_work(run, plain_setting().stack, clock).elementwise.device);
}

TEST(LayerWork, LossOfAnEncoder) {
  RunDescription run = gpt_run();
  SoftwareStack stack = plain_setting().stack;
  stack.masked_loss = true;
  EXPECT_EQ(tokens_with_loss(run, stack), 1);
  run.network.kind = NetworkKind::Encoder;
  EXPECT_LT(tokens_with_loss(run, stack), 0.2);
  stack.masked_loss = false;
  EXPECT_EQ(tokens_with_loss(run, stack), 1);
}

TEST(LayerWork, FirstLayersMayBeDense) {
  Network net = gpt_run().network;
  net.experts = ExpertForm{.first_dense_layers = 1};
  EXPECT_EQ(block_kind(net, 0), BlockKind::Dense);
  EXPECT_EQ(block_kind(net, 1), BlockKind::Experts);
}

}  // namespace
}  // namespace sim
