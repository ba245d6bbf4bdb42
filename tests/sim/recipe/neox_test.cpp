#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

RecipeContext cluster_of(std::int32_t devices) {
  return {.model = std::nullopt, .cluster = load_cluster("a100-40gb-sxm", DeviceCount{devices}), .vocabulary = 1024};
}
// As its configurations are written: JSON with comments, commas at the end, and truth values of Python.
ImportedPlan by_neox(const std::string& more, std::int32_t devices = 16) {
  return testing::imported(
      "# a network\n{\n  \"pipe-parallel-size\": 2,\n  \"model-parallel-size\": 2,\n  # sizes\n  \"num-layers\": 4,\n"
      "  \"hidden-size\": 64,\n  \"num-attention-heads\": 4,\n  \"seq-length\": 32,\n"
      "  \"max-position-embeddings\": 32,\n  \"train_micro_batch_size_per_gpu\": 2,\n"
      "  \"gradient_accumulation_steps\": 8,\n" +
          more + "}\n",
      cluster_of(devices));
}

TEST(Neox, ItsOwnNames) {
  const ImportedPlan read = by_neox(
      "  \"norm\": \"layernorm\", \"pos-emb\": \"rotary\", \"rotary_pct\": 0.25, \"no-weight-tying\": true, \"gpt_j_residual\": true,\n"
      "  \"zero_optimization\": {\"stage\": 1, \"overlap_comm\": True, \"reduce_bucket_size\": 1000000, \"contiguous_gradients\": True,},\n"
      "  \"optimizer\": {\"type\": \"Adam\", \"params\": {\"lr\": 0.97e-4, \"betas\": [0.9, 0.95], \"eps\": 1.0e-8,}},\n"
      "  \"checkpoint-activations\": true, \"checkpoint-num-layers\": 1, \"gradient_clipping\": 0.5, \"weight-decay\": 0.02,\n"
      "  \"fp16\": {\"enabled\": true, \"loss_scale\": 0}, \"wall_clock_breakdown\": false,\n");
  EXPECT_EQ(read.program, &kNeox);
  const ParallelPlan& plan = read.plan;
  EXPECT_EQ(plan.mesh, (DeviceMesh{.data = 4, .pipeline = 2, .tensor = 2}));
  EXPECT_EQ(plan.microbatch_size, 2);
  EXPECT_EQ(plan.workload.global_batch, 64);
  EXPECT_EQ(plan.zero_stage, 1);
  EXPECT_EQ(plan.bucket_size, std::int64_t{1000000} * plan.bytes(Numbers::Gradients));
  EXPECT_EQ(to_text(plan.workload.precision), "fp16");
  EXPECT_EQ(plan.recompute, Recompute::Full);
  EXPECT_EQ(plan.model.position, Position::Rotary);
  EXPECT_EQ(plan.model.rotary_share, 0.25);
  EXPECT_TRUE(plan.model.parallel_blocks);
  EXPECT_FALSE(plan.model.tied_embeddings);
  EXPECT_EQ(plan.model.residual_dropout, 0);
  EXPECT_EQ(plan.training.beta2, 0.95);
  EXPECT_EQ(plan.training.gradient_clip, 0.5);
  EXPECT_THAT(read.unknown, ::testing::IsEmpty()) << testing::text_of(read.unknown);
}

TEST(Neox, ALlamaOfIt) {
  const ParallelPlan plan = by_neox(
                                "  \"norm\": \"rmsnorm\", \"pos_emb\": \"rotary\", \"activation\": \"silu\", \"mlp_type\": \"llama\",\n"
                                "  \"no_weight_tying\": true, \"use_bias_in_attn_linear\": false, \"precision\": \"bfloat16\",\n")
                                .plan;
  EXPECT_TRUE(plan.model.gated_mlp);
  EXPECT_EQ(plan.model.ffn, 256);  // 170, in multiples of 256
  EXPECT_EQ(plan.model.norm, Norm::RmsNorm);
  EXPECT_EQ(plan.workload.precision.compute(), Precision::Bf16);
}

TEST(Neox, ProductsOfTransformerEngine) {
  const auto on_h100 = [](const std::string& more) {
    return testing::imported(
        "{\"pipe_parallel_size\": 0, \"num_layers\": 2, \"hidden_size\": 64, \"num_attention_heads\": 4,\n"
        "\"seq_length\": 32, \"train_micro_batch_size_per_gpu\": 2,\n" +
            more + "}\n",
        {.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{2}), .vocabulary = 1024});
  };
  const std::string format = "  \"te_fp8_format\": \"hybrid\", \"te_fp8_amax_history_len\": 1, \"fp16\": {\"enabled\": true},\n";
  const ImportedPlan read = on_h100(format + "  \"te_layernorm_mlp\": true, \"te_mha\": true, \"te_fp8_wgrad\": false,\n");
  EXPECT_EQ(read.plan.workload.precision.scales(), ScaleRecipe::Delayed);
  EXPECT_THAT(testing::text_of(read.lost), AllOf(HasSubstr("te-fp8-wgrad"), HasSubstr("beside products in 8 bit")));
  EXPECT_EQ(to_text(on_h100(format + "  \"te_mha\": false,\n").plan.workload.precision), "fp16");
}

TEST(Neox, StageThreeOfDeepSpeed) {
  const std::string stage =
      "\"zero_optimization\": {\"stage\": 3, \"stage3_prefetch_bucket_size\": 0, \"stage3_max_live_parameters\": 9,"
      "\"stage3_param_persistence_threshold\": 77, \"sub_group_size\": 1e6, \"offload_optimizer\": {\"device\": \"cpu\"}}";
  const ImportedPlan read = testing::imported(
      "{\"pipe_parallel_size\": 0, \"num_layers\": 2, \"hidden_size\": 64, \"num_attention_heads\": 4,\n"
      "\"seq_length\": 32, \"train_micro_batch_size_per_gpu\": 2, " +
          stage + "}\n",
      cluster_of(4));
  EXPECT_EQ(read.plan.zero_stage, 3);
  EXPECT_EQ(read.plan.prefetch, 0);
  EXPECT_EQ(read.plan.persistence_threshold, 77);
  EXPECT_TRUE(read.plan.offload_optimizer);
  EXPECT_THAT(read.unknown, ::testing::IsEmpty()) << testing::text_of(read.unknown);
}

// Biases of attention and of the feed-forward are switched each by itself, and llama's feed-forward has none.
TEST(Neox, BiasesOfTheFeedForward) {
  const auto has_bias = [](const std::string& more) {
    const ImportedPlan read = by_neox("  \"use_bias_in_attn_linear\": false," + more + "\n");
    EXPECT_THAT(testing::text_of(read.unknown), ::testing::Not(HasSubstr("bias")));
    EXPECT_FALSE(read.plan.model.attention_bias);
    return read.plan.model.mlp_bias;
  };
  EXPECT_TRUE(has_bias(""));
  EXPECT_FALSE(has_bias(" \"use_bias_in_mlp\": false,"));
  EXPECT_FALSE(has_bias(" \"mlp_type\": \"llama\","));
}

TEST(Neox, WhatStandsBesideForDeepSpeedIsRead) {
  EXPECT_EQ(by_neox("  \"deepspeed_extra_args\": {\"zero_optimization\": {\"stage\": 1}},\n").plan.zero_stage, 1);
  EXPECT_THAT(testing::text_of(by_neox("  \"include\": \"localhost@localhost:0,1\",\n").unknown), HasSubstr("include"));
}

// 0 stages: no pipeline engine.
TEST(Neox, WithoutAPipeline) {
  EXPECT_EQ(testing::imported("{\"pipe_parallel_size\": 0, \"num_layers\": 2, \"hidden_size\": 64, \"num_attention_heads\": 4,\n"
                              "\"seq_length\": 32, \"train_micro_batch_size_per_gpu\": 2}\n",
                              cluster_of(2))
                .plan.mesh.pipeline,
            1);
}

TEST(Neox, WhatItCannotSayIsTold) {
  const ImportedPlan read = by_neox(
      "  \"attention_config\": [[[\"local\", \"global\"], 2]], \"norm\": \"scalenorm\", \"partition-activations\": true,\n"
      "  \"optimizer\": {\"type\": \"SM3\"}, \"new_option\": 3,\n");
  EXPECT_THAT(testing::text_of(read.lost),
              AllOf(HasSubstr("attention-config"), HasSubstr("scalenorm"), HasSubstr("partition-activations"), HasSubstr("SM3")));
  EXPECT_THAT(testing::text_of(read.unknown), HasSubstr("new-option"));
}

// "global" writes scores out, and is what it does where nothing is said.
TEST(Neox, KindsOfAttention) {
  EXPECT_EQ(by_neox("").plan.attention, AttentionWord::Unfused);
  EXPECT_EQ(by_neox("  \"scaled-upper-triang-masked-softmax-fusion\": true,\n").plan.attention, AttentionWord::AsTheProgram);
  EXPECT_EQ(by_neox("  \"scaled-masked-softmax-fusion\": true,\n").plan.attention, AttentionWord::AsTheProgram);
  EXPECT_EQ(by_neox("  \"attention_config\": [[[\"flash\"], \"all\"]], \"precision\": \"bfloat16\",\n").plan.attention,
            AttentionWord::Flash2);
  const ImportedPlan mixed = by_neox("  \"attention_config\": [[[\"flash\", \"global\"], 2]],\n");
  EXPECT_EQ(mixed.plan.attention, AttentionWord::AsTheProgram);
  EXPECT_THAT(testing::text_of(mixed.lost), HasSubstr("attention-config"));
}

// neox_args.py: all of them are off by themselves; its kernel of bias and activation is of GELU.
TEST(Neox, KernelsAreFusedWhereItIsAsked) {
  const auto stack = [](const std::string& more) { return by_neox(more).plan.cluster.software; };
  EXPECT_FALSE(stack("").fused_activation);
  EXPECT_FALSE(stack("").fused_residual);
  EXPECT_TRUE(stack("  \"bias_gelu_fusion\": true, \"bias-dropout-fusion\": true,\n").fused_activation);
  EXPECT_TRUE(stack("  \"bias_gelu_fusion\": true, \"bias-dropout-fusion\": true,\n").fused_residual);
  EXPECT_TRUE(stack("").unfused_rms_norm);
  EXPECT_FALSE(stack("  \"rmsnorm_fusion\": true,\n").unfused_rms_norm);
  const ImportedPlan gated = by_neox("  \"activation\": \"swiglu\", \"intermediate_size\": 192, \"bias_gelu_fusion\": true,\n");
  EXPECT_FALSE(gated.plan.cluster.software.fused_activation);
  EXPECT_EQ(testing::text_of(by_neox("  \"bias_gelu_fusion\": false,\n").lost), testing::text_of(by_neox("").lost));
}

// Experts stand in some blocks, by rules of its own.
TEST(Neox, ExpertsAreRefused) {
  EXPECT_THAT(testing::refusal_of("{\"pipe_parallel_size\": 0, \"num_layers\": 2, \"hidden_size\": 64, \"num_attention_heads\": 4,\n"
                                  "\"num_experts\": 4, \"seq_length\": 32, \"train_micro_batch_size_per_gpu\": 2}\n",
                                  cluster_of(2)),
              HasSubstr("experts of its own"));
  EXPECT_FALSE(by_neox("  \"num_experts\": 1,\n").plan.model.experts.has_value());
}

TEST(Neox, WeightsAndStatesOnDrives) {
  const ImportedPlan read = testing::imported(
      "{\"pipe_parallel_size\": 0, \"num_layers\": 2, \"hidden_size\": 64, \"num_attention_heads\": 4, \"seq_length\": 32,\n"
      "\"train_micro_batch_size_per_gpu\": 2, \"zero_optimization\": {\"stage\": 3, \"offload_optimizer\": {\"device\": \"nvme\", "
      "\"buffer_count\": 8}, "
      "\"offload_param\": {\"device\": \"nvme\"}}}\n",
      cluster_of(2));
  EXPECT_EQ(read.plan.on_drive, OnDrive::Both);
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("buffer_count"));
}

TEST(Neox, WeightsOnTheHost) {
  const ParallelPlan plan = testing::imported(
                                "{\"pipe_parallel_size\": 0, \"num_layers\": 2, \"hidden_size\": 64, \"num_attention_heads\": 4, "
                                "\"seq_length\": 32,\n\"train_micro_batch_size_per_gpu\": 2, \"pos-emb\": \"none\", \"zero_optimization\": "
                                "{\"stage\": 3, \"cpu_offload\": true, \"cpu_offload_params\": true}}\n",
                                cluster_of(2))
                                .plan;
  EXPECT_TRUE(plan.offload_parameters && plan.offload_optimizer);
  EXPECT_EQ(plan.zero_stage, 3);
  const ImportedPlan told = by_neox("  \"pos-emb\": \"none\",\n");
  EXPECT_THAT(testing::text_of(told.lost), HasSubstr("positions is none, learned in the model"));
}

// The interval of checkpoints of DeepSpeed's pipeline module.
TEST(Neox, BlocksAreMadeAgainTogether) {
  const ImportedPlan read = by_neox("  \"checkpoint-activations\": true, \"checkpoint-num-layers\": 2,\n");
  EXPECT_EQ(to_text(read.plan.recompute_scope), "together 2");
  EXPECT_EQ(to_text(by_neox("  \"checkpoint-activations\": false, \"checkpoint-num-layers\": 2,\n").plan.recompute_scope), "");
}

// The lines to change are those of its file.
TEST(Neox, ChangesAreInItsOwnNames) {
  const ImportedPlan read = by_neox("  \"checkpoint-activations\": true, \"zero_optimization\": {\"stage\": 1},\n");
  const ParallelPlan& before = read.plan;
  ParallelPlan after = before;
  after.mesh = {.data = 16, .pipeline = 1, .tensor = 1};
  after.microbatch_size = 4;
  after.cut = even_cut(after.model.layers, after.pipeline_shape());
  after.recompute = Recompute::None;
  after.zero_stage = 0;
  std::string text;
  for (const ChangedSetting& change : changed_settings(kNeox, before, after, read.said)) text += to_text(change) + "; ";
  EXPECT_THAT(text, AllOf(HasSubstr("pipe-parallel-size 2 -> 1"), HasSubstr("checkpoint-activations true -> false"),
                          HasSubstr("zero_optimization.stage 1 -> 0"), HasSubstr("train_micro_batch_size_per_gpu 2 -> 4"),
                          HasSubstr("gradient_accumulation_steps 8 -> 1"), HasSubstr("model-parallel-size 2 -> 1"),
                          ::testing::Not(HasSubstr("add train")), ::testing::Not(HasSubstr("recompute"))));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("distributed-optimizer")));
}

TEST(Neox, IsReadAndNotWritten) {
  EXPECT_EQ(find_program("neox"), nullptr);
  ParallelPlan plan = testing::gpu_plan({.data = 2, .pipeline = 2, .tensor = 2});
  plan.schedule = "zbv";
  EXPECT_THAT(testing::refused_by(kNeox, plan), HasSubstr("/schedule"));
}

// Gates share the width that is said: two thirds of it, half for each product, in multiples.
TEST(Neox, GatesHaveAThirdOfTheWidth) {
  const std::string rest = "  \"norm\": \"rmsnorm\", \"pos_emb\": \"rotary\", \"use_bias_in_attn_linear\": false,\n";
  EXPECT_EQ(by_neox(rest + "  \"activation\": \"swiglu\", \"intermediate_size\": 384,\n").plan.model.ffn, 128);
  EXPECT_EQ(by_neox(rest + "  \"activation\": \"swiglu\", \"intermediate_size\": 400, \"mlp_multiple_of\": 64,\n").plan.model.ffn, 192);
  const ImportedPlan other = by_neox(rest + "  \"activation\": \"geglu\", \"mlp_multiple_of\": 64,\n");
  EXPECT_EQ(other.plan.model.ffn, 128);  // 85 of 4 times 64
  EXPECT_THAT(testing::text_of(other.lost), HasSubstr("geglu: taken as SwiGLU"));
}

TEST(Neox, GradientsOfFp32AreRead) {
  EXPECT_EQ(to_text(by_neox("  \"precision\": \"bfloat16\", \"data_types\": {\"grad_accum_dtype\": \"fp32\"},\n").plan.workload.precision),
            "bf16 gradients=fp32");
}

TEST(Neox, TheOldNameOfBf16) {
  const auto policy_of = [](const std::string& type) {
    return by_neox("  \"fp16\": {\"enabled\": true, " + type + "\"loss_scale\": 0},\n").plan.workload.precision.compute();
  };
  EXPECT_EQ(policy_of("\"type\": \"bfloat16\", "), Precision::Bf16);
  EXPECT_EQ(policy_of("\"type\": \"fp16\", "), Precision::Fp16);
  EXPECT_EQ(policy_of(""), Precision::Fp16);
}

}  // namespace
}  // namespace sim
