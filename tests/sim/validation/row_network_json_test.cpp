#include <gmock/gmock.h>

#include "tests/sim/validation/rows.h"

namespace sim {
namespace {

ModelConfig network(const Json& workload) { return describe(patched(valid_row(), {{"workload", workload}})).plan.model; }

TEST(RowNetwork, ExpertsAndLatentAttention) {
  const Json latent = {{"kind", "mla"}, {"q_lora", 1536}, {"kv_lora", 512}, {"qk_nope", 128}, {"qk_rope", 64}, {"v_dim", 128}};
  const ModelConfig model =
      network({{"moe", {{"experts", 8}, {"topk", 2}, {"expert_ffn", 4096}, {"dispatch", "padded"}, {"capacity_factor", 1.25}}},
               {"attention", latent}});
  EXPECT_EQ(model.experts->experts, 8);
  EXPECT_EQ(model.experts->dispatch, ExpertDispatch::Padded);
  EXPECT_EQ(model.attention.kind, AttentionKind::Latent);
}

// A family of such networks has no words for biases of a feed-forward that no block has.
TEST(RowNetwork, BiasesAreThoseOfExpertsWhereEveryBlockHasThem) {
  Json experts = {{"experts", 8}, {"topk", 2}, {"expert_ffn", 4096}};
  const ModelConfig everywhere = network({{"bias", true}, {"moe", experts}});
  EXPECT_TRUE(everywhere.experts->biases && everywhere.attention_bias && !everywhere.mlp_bias);
  experts["first_dense_layers"] = 1;
  EXPECT_TRUE(network({{"bias", true}, {"moe", experts}}).mlp_bias);
}

TEST(RowNetwork, WindowsAreThoseOfEverySoManyBlocks) {
  const ModelConfig model = network({{"attention", {{"kind", "sliding"}, {"window", 256}, {"every", 2}, {"sinks", true}}}});
  EXPECT_EQ(window_of(model, 0), 256);
  EXPECT_EQ(window_of(model, 1), 0);
  EXPECT_TRUE(model.sinks);
  EXPECT_EQ(model.gate_limit, 7) << "as gpt-oss, which alone is published with sinks";
  EXPECT_TRUE(lengthens(model.rope_scaling));
}

TEST(RowNetwork, AListOfTwoFamiliesModulesNamesThoseOfItsOwn) {
  Json lora = {{"rank", 16}, {"targets", "attention"}, {"modules", {"q_proj", "o_proj", "c_attn"}}};
  const Adapters turned = *network({{"position", "rope"}, {"lora", lora}}).adapters,
                 learned = *network({{"position", "learned"}, {"lora", lora}}).adapters;
  EXPECT_TRUE(turned.has(AdapterTarget::Query) && turned.has(AdapterTarget::Output) && !turned.has(AdapterTarget::Joint));
  EXPECT_EQ(learned.targets, Adapters{}.on(AdapterTarget::Joint).targets);
}

TEST(RowNetwork, EncodersAreBerts) {
  const ModelConfig model = network({{"kind", "encoder"}});
  EXPECT_TRUE(model.bidirectional && model.head_transform);
  EXPECT_EQ(model.norm_place, NormPlace::AfterSum);
}

Json pair_workload() {
  return {{"model", "T5"},
          {"kind", "encoder_decoder"},
          {"seq_len", 640},
          {"config",
           {{"model_type", "t5"},
            {"d_model", 512},
            {"d_kv", 64},
            {"d_ff", 1024},
            {"num_layers", 6},
            {"num_decoder_layers", 4},
            {"num_heads", 8},
            {"vocab_size", 32128}}}};
}

DescribedRow pair(const Json& patch) {
  Json row = valid_row();
  row["workload"] = patched(pair_workload(), patch);
  return describe(patched(row, {{"plan", {{"fields", {{"/workload/source_tokens", 512}}}}}}));
}

TEST(RowNetwork, AConfigSaysWhatShapesCannot) {
  const ParallelPlan plan = pair(Json::object()).plan;
  EXPECT_EQ(plan.model.encoder->layers, 6);
  EXPECT_EQ(plan.model.source_tokens, 512);
  EXPECT_EQ(plan.workload.sequence, 640);
}

TEST(RowNetwork, NothingOfANetworkStandsBesideItsConfig) {
  EXPECT_THROW(pair({{"layers", 6}}), InputError);
  EXPECT_THROW(pair({{"config", nullptr}, {"layers", 6}, {"hidden", 512}}), InputError);
}

TEST(RowNetwork, VocabulariesArePadded) { EXPECT_EQ(network({{"vocab", 50257}}).vocabulary, 50304); }

}  // namespace
}  // namespace sim
