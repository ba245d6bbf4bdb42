#include "executor/training/hugging_face_source.h"

#include <gmock/gmock.h>

#include "tests/executor/training/tiny_families.h"

namespace executor {
namespace {

HuggingFaceSource source_of(const sim::ParallelPlan& plan, const std::string& name) {
  return hugging_face_source(plan.model, {.name = name, .split = {}, .row_blocks = {}, .initial = {}});
}

TEST(HuggingFaceSource, NamesOfLatentAttention) {
  const sim::ParallelPlan plan = tiny_latent_plan({});
  EXPECT_THAT(source_of(plan, "layers.1.attention.kv_down.weight").names,
              testing::ElementsAre("model.layers.1.self_attn.kv_a_proj_with_mqa.weight"));
  EXPECT_THAT(source_of(plan, "layers.1.attention.q.weight").names, testing::ElementsAre("model.layers.1.self_attn.q_proj.weight"));
  EXPECT_THAT(source_of(plan, "layers.1.attention.q_norm.weight").names,
              testing::ElementsAre("model.layers.1.self_attn.q_a_layernorm.weight"));
}

TEST(HuggingFaceSource, NamesOfBothFamilies) {
  const HuggingFaceSource fused = source_of(tiny_plan(), "layers.1.attention.qkv.weight");
  EXPECT_THAT(fused.names, testing::ElementsAre("transformer.h.1.attn.c_attn.weight"));
  EXPECT_TRUE(fused.transposed);
  EXPECT_FALSE(source_of(tiny_plan(), "layers.1.attention.qkv.bias").transposed);
  EXPECT_THAT(source_of(tiny_plan(), "head.norm.bias").names, testing::ElementsAre("transformer.ln_f.bias"));
  EXPECT_THAT(source_of(tiny_llama_plan(), "layers.0.mlp.up.weight").names,
              testing::ElementsAre("model.layers.0.mlp.gate_proj.weight", "model.layers.0.mlp.up_proj.weight"));
  EXPECT_THAT(source_of(tiny_llama_plan(), "head.weight").names, testing::ElementsAre("lm_head.weight"));
  const std::string experts = "model.layers.0.block_sparse_moe.experts.";
  EXPECT_THAT(source_of(tiny_mixtral_plan(), "layers.0.mlp.experts.up.weight").names,
              testing::ElementsAre(experts + "0.w1.weight", experts + "0.w3.weight", experts + "1.w1.weight", experts + "1.w3.weight"));
}

TEST(HuggingFaceSource, RowsOfAGroupOfHeadsStandByKind) {
  sim::ParallelPlan plan = tiny_plan();
  plan.model.model_type = "falcon";
  plan.model.heads = 2;
  plan.model.kv_heads = 1;
  plan.model.head_dim = 2;
  EXPECT_THAT(source_of(plan, "layers.0.attention.qkv.weight").rows, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  plan.model.heads = 4;
  plan.model.kv_heads = 2;
  plan.model.head_dim = 1;  // theirs: q0 q1 k0 v0, q2 q3 k1 v1
  EXPECT_THAT(source_of(plan, "layers.0.attention.qkv.weight").rows, testing::ElementsAre(0, 1, 4, 5, 2, 6, 3, 7));
}

TEST(HuggingFaceSource, AFamilyOfNoNamesHasNone) {
  sim::ParallelPlan plan = tiny_plan();
  plan.model.model_type = "rwkv";
  EXPECT_THAT(source_of(plan, "head.weight").names, testing::IsEmpty());
}

}  // namespace
}  // namespace executor
