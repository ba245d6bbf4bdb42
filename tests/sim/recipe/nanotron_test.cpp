#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

RecipeContext devices(std::int32_t number) { return {.model = {}, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{number})}; }

std::string yaml(const std::string& parallelism, const std::string& more = "") {
  return "parallelism:\n  tp: 2\n  tp_mode: REDUCE_SCATTER\n" + parallelism +
         "model:\n  dtype: bfloat16\n  make_vocab_size_divisible_by: 1\n  model_config:\n    is_llama_config: true\n    hidden_size: 64\n"
         "    num_hidden_layers: 4\n    num_attention_heads: 4\n    num_key_value_heads: 2\n    intermediate_size: 160\n    vocab_size: "
         "250\n"
         "    max_position_embeddings: 64\n"
         "tokens:\n  sequence_length: 32\n  micro_batch_size: 2\n  batch_accumulation_per_replica: 4\n  train_steps: 10\n"
         "optimizer:\n  zero_stage: 1\n  accumulate_grad_in_fp32: true\n  adam_beta2: 0.9\n" +
         more;
}

TEST(Nanotron, AFileBecomesAPlan) {
  const ImportedPlan plan =
      testing::imported(yaml("  dp: 2\n  pp: 2\n  pp_engine: 1f1b\n  recompute_layer: true\n", "new_section:\n  thing: 1\n"), devices(8));
  EXPECT_EQ(plan.program, &kNanotron);
  EXPECT_EQ(plan.plan.mesh, (DeviceMesh{.data = 2, .pipeline = 2, .tensor = 2}));
  EXPECT_EQ(plan.plan.model.hidden, 64);
  EXPECT_EQ(plan.plan.workload.global_batch, 16);
  EXPECT_EQ(plan.plan.zero_stage, 1);
  EXPECT_EQ(plan.plan.schedule, "1f1b");
  EXPECT_EQ(plan.plan.recompute, Recompute::Full);
  EXPECT_TRUE(plan.plan.sequence_parallel);
  EXPECT_EQ(plan.plan.training.beta2, 0.9);
  EXPECT_EQ(plan.plan.bucket_size, Bytes(50 << 20));  // 25 MiB of 16-bit gradients
  EXPECT_EQ(plan.plan.cluster.software.name, "nanotron");
  EXPECT_THAT(testing::text_of(plan.unknown), HasSubstr("new_section.thing: '1' is not known"));
}

// Of Swiss AI's fork: what its data says of attention.
TEST(Nanotron, DocumentsThatAttendAlone) {
  const auto lost_of = [](const std::string& value) {
    const std::string data =
        "data_stages:\n- name: one\n  data:\n    dataset:\n      hf_dataset: a\n      remove_cross_attention: " + value + "\n";
    return testing::text_of(testing::imported(yaml("  dp: 2\n  pp: 2\n", data), devices(8)).lost);
  };
  EXPECT_THAT(lost_of("true"), HasSubstr("documents attend to themselves alone"));
  EXPECT_THAT(lost_of("false"), ::testing::Not(HasSubstr("documents attend")));
}

// A script writes the file, and starts with it.
TEST(Nanotron, AScriptThatWritesItsFile) {
  const std::string text = "TP=2\nFILE=/tmp/run_$TP.yaml\ncat > $FILE <<END\n" + yaml("  dp: 2\n  pp: 2\n  pp_engine: 1f1b\n") +
                           "END\ntorchrun --nproc_per_node=8 run_train.py --config-file $FILE\n";
  EXPECT_EQ(testing::imported(text, devices(8)).plan.mesh, (DeviceMesh{.data = 2, .pipeline = 2, .tensor = 2}));
  EXPECT_THAT(testing::refusal_of("[all]\n\"tokens.batch_accumulation_per_replica\" = \"4\"\n", devices(8)),
              HasSubstr("neither its YAML nor a command"));
}

TEST(Nanotron, DegreesAreOfTheCluster) {
  EXPECT_THAT(testing::refusal_of(yaml("  dp: 4\n  pp: 1\n"), devices(4)), HasSubstr("starts 8 processes, and the cluster has 4 devices"));
  EXPECT_THAT(testing::refusal_of(yaml("  dp: two\n  pp: 1\n"), devices(4)), HasSubstr("parallelism.dp"));
}

// Experts and Llama 4 make another network than the one that is read; scaled positions do not, for nothing there obeys them.
TEST(Nanotron, OtherNetworksAreRefused) {
  const auto with = [](const std::string& before, const std::string& after) {
    std::string text = yaml("  dp: 2\n  pp: 1\n");
    return text.replace(text.find(before), before.size(), after);
  };
  EXPECT_THAT(testing::refusal_of(with("    hidden_size", "    moe_config:\n      num_experts: 8\n    hidden_size"), devices(4)),
              HasSubstr("its experts are not read"));
  EXPECT_THAT(testing::refusal_of(with("is_llama_config", "is_llama4_config"), devices(4)), HasSubstr("Llama 4"));
  const std::string scaled = with("    hidden_size", "    rope_scaling:\n      factor: 32.0\n      rope_type: llama3\n    hidden_size");
  EXPECT_THAT(testing::imported(scaled, devices(4)).unknown, ::testing::IsEmpty());
}

TEST(Nanotron, ItsDefaultEngineIsAllForwardAllBackward) {
  EXPECT_EQ(testing::imported(yaml("  dp: 2\n  pp: 2\n"), devices(8)).plan.schedule, "gpipe");
}

// A block is 4 h h + 3 f h products, the head v h: the first stage ends with the block that crosses a half.
TEST(Nanotron, BlocksAreDealtByProducts) {
  EXPECT_THAT(blocks_of(testing::imported(yaml("  dp: 2\n  pp: 2\n"), devices(8)).plan), ::testing::ElementsAre(3, 1));
}

TEST(Nanotron, WhatItCannotSayIsRefused) {
  ParallelPlan plan = testing::gpu_plan({.data = 4});
  plan.model = testing::tiny_llama();
  plan.zero_stage = 3;
  plan.recompute = Recompute::Selective;
  EXPECT_THAT(testing::refused_by(kNanotron, plan),
              AllOf(HasSubstr("stage 3: nanotron has 0 and 1"), HasSubstr("a block is recomputed whole")));
  plan.zero_stage = 1, plan.recompute = Recompute::None;
  EXPECT_EQ(testing::refused_by(kNanotron, plan), "");
  plan.model = testing::tiny_gpt2();
  EXPECT_THAT(testing::refused_by(kNanotron, plan), HasSubstr("its networks are of the kinds of Llama and Qwen 2"));
}

}  // namespace
}  // namespace sim
