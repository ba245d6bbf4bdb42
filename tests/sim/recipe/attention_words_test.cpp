#include "sim/recipe/attention_words.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ImportedPlan read_for(const std::string& text, DeviceCount devices, const char* cluster = "h100-80gb-sxm") {
  return testing::imported(text, {.model = testing::tiny_llama(), .cluster = load_cluster(cluster, devices)});
}
ImportedPlan tuned(const std::string& more) {
  return read_for(
      "torchrun --nproc_per_node=4 tune.py --model_name_or_path a/b --bf16 True --per_device_train_batch_size 2 --model_max_length 32 " +
          more + "\n",
      DeviceCount{4});
}
ImportedPlan by_megatron(const std::string& more) {
  return read_for("pretrain_gpt.py --num-attention-heads 4 --seq-length 32 --micro-batch-size 1 --global-batch-size 4 --bf16 " + more,
                  DeviceCount{4});
}

// Transformers, LLaMA-Factory, ms-swift, Axolotl. The software profile of the first attends with FlashAttention 2: that is no word.
TEST(AttentionWords, NamesOfTransformers) {
  EXPECT_EQ(tuned("").plan.attention, AttentionWord::AsTheProgram);
  EXPECT_EQ(tuned("--attn_implementation eager").plan.attention, AttentionWord::Unfused);
  EXPECT_EQ(tuned("--attn_implementation flash_attention_2").plan.attention, AttentionWord::AsTheProgram);
  EXPECT_EQ(tuned("--attn_implementation flash_attention_3").plan.attention, AttentionWord::Flash3);
  EXPECT_EQ(tuned("--flash_attn disabled").plan.attention, AttentionWord::Unfused);
  EXPECT_EQ(tuned("--flash_attn fa3").plan.attention, AttentionWord::Flash3);
  EXPECT_EQ(tuned("--xformers_attention true").plan.attention, AttentionWord::Efficient);
  EXPECT_EQ(tuned("--eager_attention false").plan.attention, AttentionWord::AsTheProgram);
}

TEST(AttentionWords, WhatAMaskDoesIsTold) {
  const ImportedPlan read = tuned("--attn_implementation sdpa");
  EXPECT_EQ(read.plan.attention, AttentionWord::AsTheProgram);
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr(R"(add "attention": "efficient_masked" to the plan)"));
  EXPECT_THAT(testing::text_of(tuned("--attn_implementation flex_attention").lost), HasSubstr("attn_implementation"));
}

// Megatron-Core of 2025 takes cuDNN's.
TEST(AttentionWords, ArgumentsOfMegatron) {
  EXPECT_EQ(by_megatron("--attention-backend auto").plan.attention, AttentionWord::AsTheProgram);
  EXPECT_EQ(by_megatron("--attention-backend fused").plan.attention, AttentionWord::AsTheProgram);
  EXPECT_EQ(by_megatron("--attention-backend flash").plan.attention, AttentionWord::Flash2);
  EXPECT_EQ(by_megatron("--attention-backend unfused").plan.attention, AttentionWord::FusedSoftmax);
  EXPECT_EQ(by_megatron("--transformer-impl local").plan.attention, AttentionWord::FusedSoftmax);
  EXPECT_EQ(by_megatron("--transformer-impl local --no-masked-softmax-fusion").plan.attention, AttentionWord::Unfused);
  EXPECT_EQ(by_megatron("--no-masked-softmax-fusion").plan.attention, AttentionWord::AsTheProgram)
      << "a fused attention has no such kernel";
  EXPECT_EQ(by_megatron("--transformer-impl local --use-flash-attn").plan.attention, AttentionWord::Flash2);
  EXPECT_THAT(testing::text_of(by_megatron("--transformer-impl local --use-flash-attn").notes), HasSubstr("releases before Megatron-Core"));
  const ImportedPlan core =
      by_megatron("--transformer-impl local --use-flash-attn --attention-backend auto");  // whose local layers have one
  EXPECT_EQ(core.plan.attention, AttentionWord::FusedSoftmax);
  EXPECT_THAT(testing::text_of(core.notes), HasSubstr("a kernel of their own in Megatron-Core"));
  EXPECT_EQ(by_megatron("--transformer-impl local --use-flash-attn --use-legacy-models").plan.attention, AttentionWord::Flash2);
  for (const std::string of_mindspeed : {"--use-fused-rmsnorm", "--use-fused-swiglu", "--context-parallel-algo ulysses_cp_algo"})
    EXPECT_EQ(by_megatron("--transformer-impl local --use-flash-attn --use-mcore-models --no-masked-softmax-fusion " + of_mindspeed)
                  .plan.attention,
              AttentionWord::Flash2)
        << of_mindspeed;
}

// The layers without Transformer Engine never ask for the backend.
TEST(AttentionWords, TheLocalLayersHaveTheirOwnKernel) {
  EXPECT_EQ(by_megatron("--transformer-impl local --attention-backend auto").plan.attention, AttentionWord::FusedSoftmax);
  const ImportedPlan flash = by_megatron("--transformer-impl local --attention-backend flash");
  EXPECT_EQ(flash.plan.attention, AttentionWord::FusedSoftmax);
  EXPECT_THAT(testing::text_of(flash.notes), HasSubstr("attention-backend: is flash"));
}

TEST(AttentionWords, ABackendThatTheTextDoesNotSay) {
  EXPECT_THAT(
      testing::refusal_of("pretrain_gpt.py --num-attention-heads 4 --seq-length 32 --micro-batch-size 1 --global-batch-size 4 --bf16 "
                          "--attention-backend $KERNEL\n",
                          {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4})}),
      HasSubstr("--set KERNEL="));
}

TEST(AttentionWords, WhatCannotBeIsTold) {
  const ImportedPlan read = by_megatron("--attention-backend unfused --context-parallel-size 2");
  EXPECT_EQ(read.plan.attention, AttentionWord::AsTheProgram);
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("keys come block by block"));
}

TEST(AttentionWords, MegatronWritesThoseThatItHas) {
  ParallelPlan plan = testing::gpu_plan({.data = 8});
  plan.attention = AttentionWord::Flash2;
  EXPECT_THAT(testing::main_text(kMegatron, plan), HasSubstr("--attention-backend flash"));
  plan.attention = AttentionWord::FusedSoftmax;
  EXPECT_THAT(testing::main_text(kMegatron, plan), HasSubstr("--attention-backend unfused"));
  plan.attention = AttentionWord::EfficientMasked;
  EXPECT_THAT(testing::refused_by(kMegatron, plan), HasSubstr("/attention"));
  EXPECT_THAT(testing::refused_by(kDeepSpeed, plan), Not(HasSubstr("/attention")));
  EXPECT_THAT(testing::text_of(make_recipe(kDeepSpeed, plan).notes), HasSubstr("efficient_masked is said where the network is built"));
}

// Axolotl asks its switches in an order of its own.
TEST(AttentionWords, OfTwoSwitchesOneCounts) {
  const auto read = [](const std::string& switches) {
    return testing::imported("base_model: a/b\nmicro_batch_size: 2\nsequence_len: 32\nbf16: true\n" + switches,
                             {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})});
  };
  EXPECT_EQ(read("eager_attention: true\n").plan.attention, AttentionWord::Unfused);
  EXPECT_EQ(read("eager_attention: true\nsdp_attention: true\n").plan.attention, AttentionWord::AsTheProgram);
  EXPECT_THAT(testing::text_of(read("flash_attention: true\neager_attention: true\n").notes), HasSubstr("flash_attention is asked first"));
  EXPECT_NE(read("flash_attention: true\neager_attention: true\n").plan.attention, AttentionWord::Unfused);
  EXPECT_EQ(read("flash_attention: false\neager_attention: true\n").plan.attention, AttentionWord::Unfused);
  EXPECT_EQ(read("flash_attention: true\nxformers_attention: true\n").plan.attention, AttentionWord::Efficient);
}

// Whichever line comes first.
TEST(AttentionWords, ANameIsAskedBeforeASwitch) {
  const std::string begin = "base_model: a/b\nmicro_batch_size: 2\nsequence_len: 32\nbf16: true\n", name = "attn_implementation: ";
  const auto read = [&](const std::string& one, const std::string& other) {
    return testing::imported(begin + one + "\n" + other + "\n",
                             {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})});
  };
  for (const std::string other : {"flash_attention: true", "sdp_attention: true", "eager_attention: true", "xformers_attention: true"})
    for (const ImportedPlan& both : {read(name + "flash_attention_3", other), read(other, name + "flash_attention_3")}) {
      EXPECT_EQ(both.plan.attention, AttentionWord::Flash3) << other;
      EXPECT_THAT(testing::text_of(both.notes), HasSubstr("attn_implementation is asked first")) << other;
    }
  EXPECT_EQ(read("eager_attention: true", name + "null").plan.attention, AttentionWord::Unfused) << "names none";
}

}  // namespace
}  // namespace sim
