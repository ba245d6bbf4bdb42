#include "sim/cost/sparse_memory.h"

#include <gtest/gtest.h>

#include "tests/sim/cost/memory_scene.h"

namespace sim {
namespace {

using testing::kept_by;

// A block of 32 tokens, hidden 64, 4 heads, fp32.
// Queries before and behind the way up to the latent key, one such key for all heads, outputs before and behind the way up to values; of the indexer its
// queries, keys before and behind their norm, weights of heads, and places in 32 bit.
TEST(SparseMemory, OfABlock) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model = testing::tiny_llama();
  plan.model.kv_heads = plan.model.heads;
  plan.model.attention = {.kind = AttentionKind::Latent, .q_lora = 24, .kv_lora = 16, .qk_nope = 16, .qk_rope = 8, .v_dim = 12};
  plan.model.attention.indexer = {.heads = 2, .width = 16, .topk = 4};
  const std::int64_t narrow = 2 * (24 + 16) + 2, head = 24 + 24 + 1 + 16 + 12, indexer = 2 * 17 + 2 * 16 + 4;
  EXPECT_EQ(kept_by(plan, 1), Bytes(4 * 32 * (64 + narrow + 4 * head + 24 + indexer)));
  plan.mesh.tensor = 4;
  EXPECT_EQ(kept_by(plan, 1), Bytes(4 * 32 * (64 + narrow + head + 24 + indexer)));
  plan.mesh.tensor = 1;
  plan.recompute = Recompute::Selective;
  plan.recompute_scope.modules = Module::CoreAttention;
  EXPECT_EQ(kept_by(plan, 1), Bytes(4 * 32 * (64 + narrow + 4 * (head - 1) + 24)));
}

}  // namespace
}  // namespace sim
