#include "sim/recipe/megatron_core.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

RecipeContext llama_of_core(std::int32_t devices) {
  return {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices})};
}

ParallelPlan plan_with_experts() {
  ParallelPlan plan = testing::gpu_plan({.data = 4, .pipeline = 1, .tensor = 1, .expert = 2});
  plan.model = testing::tiny_llama();
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 160, .first_dense_layers = 1, .renormalised = true};
  return plan;
}

TEST(MegatronCore, SectionsAreValuesOfPython) {
  const std::string text = core_sections({{"model.num_layers", "4"},
                                          {"model.qk_layernorm", "true"},
                                          {"ddp.bucket_size", "10"},
                                          {"model.activation_func", "F.silu"},
                                          {"model.normalization", "RMSNorm"}});
  EXPECT_EQ(text,
            "MODEL = dict(\n    num_layers=4,\n    qk_layernorm=True,\n    activation_func=F.silu,\n    normalization=\"RMSNorm\")\n"
            "DDP = dict(\n    bucket_size=10)\n");
}

TEST(MegatronCore, NetworksAreWritten) {
  for (const Program* program : {&kMegatronBridge, &kNemo}) {
    EXPECT_THAT(testing::main_text(*program, plan_with_experts()),
                ::testing::AllOf(HasSubstr("moe_layer_freq=[0, 1, 1, 1]"), HasSubstr("num_moe_experts=4"),
                                 HasSubstr("gated_linear_unit=True"), HasSubstr("activation_func=F.silu"),
                                 HasSubstr("add_bias_linear=False"), HasSubstr("share_embeddings_and_output_weights=False")));
    ParallelPlan plan = testing::gpu_plan({.data = 4});
    plan.workload.sequence = 32;  // of a network with 64 learned positions
    EXPECT_THAT(testing::refused_by(*program, plan), HasSubstr("the network has 64 learned positions, and a sequence 32"));
  }
}

// What a network has beyond the table of what these programs write is refused, whatever it is.
TEST(MegatronCore, WhatIsNotWrittenIsRefused) {
  ParallelPlan plan = testing::gpu_plan({.data = 4});
  plan.model = testing::tiny_llama();
  plan.model.logit_cap = 30;
  for (const Program* program : {&kMegatronBridge, &kNemo, &kNanotron})
    EXPECT_THAT(testing::refused_by(*program, plan), HasSubstr("has capped logits, which is not written"));
}

TEST(MegatronCore, ARecipeOfTheProgramsOwnIsTold) {
  const ImportedPlan plan = testing::imported(
      "from nemo.collections import llm\nrecipe = "
      "llm.llama3_8b.pretrain_recipe(name='x')\nrecipe.trainer.strategy.tensor_model_parallel_size = 2\n"
      "recipe.data.micro_batch_size = 1\nrecipe.data.global_batch_size = 8\nrecipe.data.seq_length = 32\n",
      llama_of_core(4));
  EXPECT_EQ(plan.program, &kNemo);
  EXPECT_EQ(plan.plan.mesh.tensor, 2);
  EXPECT_THAT(testing::text_of(plan.unknown), HasSubstr("it might change everything"));
}

TEST(MegatronCore, NamesOfPrecisionsAreUnfolded) {
  const auto precision = [](const std::string& name) {
    return to_text(testing::imported("cfg.mixed_precision = \"" + name +
                                         "\"\ncfg.model.tensor_model_parallel_size = 2\ncfg.train.micro_batch_size = 1\n"
                                         "cfg.train.global_batch_size = 8\ncfg.dataset.seq_length = 32\n",
                                     llama_of_core(4))
                       .plan.workload.precision);
  };
  EXPECT_EQ(precision("bf16_mixed"), "bf16 gradients=fp32");
  EXPECT_EQ(precision("bf16_with_fp8_current_scaling_mixed"), "fp8:tensorwise gathers=fp8 gradients=fp32 blocks:0,3=bf16");
  EXPECT_EQ(precision("bf16_with_fp8_current_scaling_mixed\"\ncfg.mixed_precision.first_last_layers_bf16 = \"False"),
            "fp8:tensorwise gathers=fp8 gradients=fp32");
  EXPECT_EQ(precision("bf16_with_fp8_subchannel_scaling_mixed"), "fp8:blockwise gradients=fp32");
}

// A YAML that says what it is for in a comment is no Python.
TEST(MegatronCore, AYamlWithACommandInItsComment) {
  const ImportedPlan read = testing::imported(
      "# as nemo_run has it: python pretrain.py, tensor_model_parallel_size = 4\n"
      "model:\n  tensor_model_parallel_size: 2\n  seq_length: 32\ntrain:\n  micro_batch_size: 1\n  global_batch_size: 8\n"
      "scheduler:\n  lr_warmup_iters: 1\n",
      {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})});
  EXPECT_EQ(read.plan.mesh, (DeviceMesh{.data = 4, .tensor = 2}));
  EXPECT_EQ(read.plan.workload.global_batch, 8);
}

// Which of several a run takes, its code decides; a search tries many.
TEST(MegatronCore, SeveralRecipesAreRefused) {
  const std::string begin = "from nemo.collections import llm\none = llm.llama3_8b.pretrain_recipe(name='x')\n";
  const std::string more =
      "one.trainer.strategy.tensor_model_parallel_size = 2\none.data.micro_batch_size = 1\n"
      "one.data.global_batch_size = 8\none.data.seq_length = 32\n";
  EXPECT_EQ(testing::refusal_of(begin + "# other = llm.ours.pretrain_recipe()\n" + more, llama_of_core(4)), "");
  EXPECT_THAT(testing::refusal_of(begin + "other = llm.qwen3_8b.finetune_recipe(name='y')\n" + more, llama_of_core(4)),
              HasSubstr("2 of the program's own are begun here: llm.llama3_8b, llm.qwen3_8b"));
  EXPECT_THAT(testing::refusal_of("from nemo.collections import llm\ndef one():\n  return Partial(pretrain)\ndef two():\n  return "
                                  "Partial(finetune)\n" +
                                      more,
                                  llama_of_core(4)),
              HasSubstr("2 are made here, each by its Partial"));
  EXPECT_THAT(testing::refusal_of(begin + "search = AutoConfigurator(recipe=one)\n" + more, llama_of_core(4)), HasSubstr("is a search"));
}

}  // namespace
}  // namespace sim
