#include "sim/cost/sparse_memory.h"

#include <gtest/gtest.h>

#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

// Of a block; 32 tokens, hidden 64, 4 heads, fp32.
Bytes kept_by_attention(const ParallelPlan& plan) {
  const ModelGraph model = make_model_graph(plan);
  return segment_memory(model, plan, model.layer(LayerIndex(1)).segments.front()).kept;
}

// Queries before and behind the way up to the latent key, one such key for all heads, outputs before and behind the way up to values; of the indexer its
// queries, keys before and behind their norm, weights of heads, and places in 32 bit.
TEST(SparseMemory, OfABlock) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.model.kv_heads = plan.model.heads;
  plan.model.attention = {.kind = AttentionKind::Latent, .q_lora = 24, .kv_lora = 16, .qk_nope = 16, .qk_rope = 8, .v_dim = 12};
  plan.model.attention.indexer = {.heads = 2, .width = 16, .topk = 4};
  const std::int64_t narrow = 2 * (24 + 16) + 2, head = 24 + 24 + 1 + 16 + 12, indexer = 2 * 17 + 2 * 16 + 4;
  EXPECT_EQ(kept_by_attention(plan), Bytes(4 * 32 * (64 + narrow + 4 * head + 24 + indexer)));
  plan.mesh.tensor = 4;
  EXPECT_EQ(kept_by_attention(plan), Bytes(4 * 32 * (64 + narrow + head + 24 + indexer)));
  plan.mesh.tensor = 1;
  plan.recompute = Recompute::Selective;
  plan.recompute_scope.modules = Module::CoreAttention;
  EXPECT_EQ(kept_by_attention(plan), Bytes(4 * 32 * (64 + narrow + 4 * (head - 1) + 24)));
}

}  // namespace
}  // namespace sim
