#include "sim/model/adapters.h"

#include <gmock/gmock.h>

#include "sim/model/model_graph.h"

namespace sim {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::optional<Adapters> parsed(const std::string& text) {
  std::vector<Violation> wrong;
  const auto adapters = parse_adapters(text, wrong);
  EXPECT_THAT(wrong, IsEmpty()) << text;
  return adapters;
}

std::size_t faults(const std::string& text) {
  std::vector<Violation> wrong;
  parse_adapters(text, wrong);
  return wrong.size();
}

ModelConfig llama_7b(const std::string& adapters) {
  ModelConfig config;
  config.model_type = "llama";
  config.layers = 32;
  config.hidden = 4096;
  config.heads = 32;
  config.kv_heads = 8;
  config.head_dim = 128;
  config.ffn = 14336;
  config.vocabulary = 128256;
  config.norm = Norm::RmsNorm;
  config.gated_mlp = true;
  config.tied_embeddings = false;
  config.adapters = parsed(adapters);
  return config;
}

std::int64_t trained(const ModelConfig& config) {
  std::int64_t elements = 0;
  for (const Layer& layer : make_model_graph(config, {1}).layers)
    for (const Parameter& parameter : layer.parameters) elements += parameter.frozen ? 0 : parameter.elements();
  return elements;
}

TEST(Adapters, OneValueHasOneText) {
  for (const std::string text : {"", "rank 16 on q,k,v,o", "rank 8 on qkv,o base nf4", "rank 64 on q,v,gate,up,down base int8",
                                 "rank 8 on q,v base nf4 dropout 0.05", "rank 8 alpha 16 on q"})
    EXPECT_EQ(to_text(parsed(text)), text);
  EXPECT_EQ(to_text(parsed("on o,q base weights rank 4")), "rank 4 on q,o");
  EXPECT_EQ(parsed("rank 8 alpha 16 on q")->scale(), 2);
  EXPECT_EQ(parsed("rank 8 on q")->scale(), 1);
}

TEST(Adapters, WhatIsWrongIsNamed) {
  EXPECT_EQ(faults("rank 0 on q"), 1u);
  EXPECT_EQ(faults("rank 8 on q,z base nf5"), 2u);
  EXPECT_EQ(faults("rank 8"), 1u) << "of nothing";
  EXPECT_EQ(faults("rank 8 on q dropout 1"), 1u);
  EXPECT_EQ(faults("rank 8 alpha 0 on q"), 1u);
  EXPECT_EQ(faults("lora"), 1u);
}

// PEFT's print_trainable_parameters() of these configurations: r (in + out) for each named module, 32 times.
TEST(Adapters, AsManyAreTrainedAsPeftTrains) {
  const std::int64_t q = 4096 + 4096, k = 4096 + 1024, o = 4096 + 4096, gate = 4096 + 14336;
  EXPECT_EQ(trained(llama_7b("rank 8 on q,v")), 32 * 8 * (q + k));
  EXPECT_EQ(trained(llama_7b("rank 16 on q,k,v,o")), 32 * 16 * (q + 2 * k + o));
  EXPECT_EQ(trained(llama_7b("rank 16 on q,k,v,o,gate,up,down")), 32 * 16 * (q + 2 * k + o + 3 * gate));
  EXPECT_EQ(trained(llama_7b("rank 16 on qkv,o")), 32 * 16 * (4096 + 6144 + o)) << "one matrix, one pair";
}

TEST(Adapters, FrozenProductsHaveTwoOfThreePasses) {
  ModelConfig whole = llama_7b("");
  const double all = model_flops(make_model_graph(whole, {1}), {1, 128}).value(),
               adapted = model_flops(make_model_graph(llama_7b("rank 1 on o"), {1}), {1, 128}).value();
  EXPECT_NEAR(adapted / all, 2.0 / 3, 0.01);
}

TEST(Adapters, TargetsThatTheNetworkHasNotAreRefused) {
  EXPECT_THAT(adapter_violations(llama_7b("rank 16 on q,gate")), IsEmpty());
  ModelConfig plain = llama_7b("rank 16 on gate");
  plain.gated_mlp = false;
  EXPECT_THAT(adapter_violations(plain), SizeIs(1));
  EXPECT_THAT(adapter_violations(llama_7b("rank 16 on qkv,q")), SizeIs(1));
  EXPECT_THAT(adapter_violations(llama_7b("rank 50000 on o")), SizeIs(1));
  ModelConfig mixture = llama_7b("rank 16 on down");
  mixture.experts = ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 128};
  EXPECT_THAT(adapter_violations(mixture), SizeIs(1));
}

TEST(Adapters, BytesOfABase) {
  EXPECT_EQ(base_bytes(BaseFormat::Weights, 2), 2);
  EXPECT_EQ(base_bytes(BaseFormat::Int8, 2), 1);
  EXPECT_NEAR(base_bytes(BaseFormat::Nf4, 2), 0.516, 0.001) << "4.127 bits a parameter (Dettmers et al. 2023)";
  EXPECT_NEAR(base_bytes(BaseFormat::Int4, 2), 0.52, 0.001);
}

}  // namespace
}  // namespace sim
