#include "sim/recipe/megatron_words.h"

#include <fstream>

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RecipeContext tiny_llama_on(std::int32_t devices) {
  return {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices})};
}

// Off unless it is asked for; on in configurations of NeMo and Megatron-Bridge.
TEST(MegatronWords, LossesAreFusedWhereItIsAsked) {
  const std::string line = "--tensor-model-parallel-size 1 --micro-batch-size 1 --seq-length 32 --bf16 ",
                    asked = "--cross-entropy-loss-fusion";
  for (const std::string& more : {std::string(), asked}) {
    const ParallelPlan plan = testing::imported(line + more, tiny_llama_on(8)).plan;
    EXPECT_EQ(plan.cluster.software.fused_loss, !more.empty());
    const std::string again = testing::main_text(kMegatron, plan);
    EXPECT_EQ(again.find(asked) != std::string::npos, !more.empty());
    EXPECT_EQ(testing::imported(again, {.model = plan.model, .cluster = plan.cluster}).plan.cluster.software.fused_loss, !more.empty());
  }
  const std::string bridge =
      "model:\n  tensor_model_parallel_size: 1\n  num_layers: 4\ntrain:\n  micro_batch_size: 1\n  global_batch_size: 8\ndataset:\n  "
      "seq_length: 32\nmixed_precision: bf16_mixed\n";
  EXPECT_TRUE(testing::imported(bridge, tiny_llama_on(8)).plan.cluster.software.fused_loss);
}

// torch.compile's functions unless TransformerEngine's kernel is asked for: it writes the gradient over the logits.
TEST(MegatronWords, TheKernelOfALossIsTheOneAskedFor) {
  const std::string line = "--tensor-model-parallel-size 1 --micro-batch-size 1 --seq-length 32 --bf16 --cross-entropy-loss-fusion ",
                    asked = "--cross-entropy-fusion-impl te";
  const auto held = [&](const std::string& more) {
    return testing::imported(line + more, tiny_llama_on(8)).plan.cluster.software.fused_loss_bytes;
  };
  EXPECT_GT(held(""), kBytesOfLossInPlace);
  EXPECT_EQ(held(""), held("--cross-entropy-fusion-impl native"));
  EXPECT_EQ(held(asked), kBytesOfLossInPlace);
  const ParallelPlan plan = testing::imported(line + asked, tiny_llama_on(8)).plan;
  const std::string again = testing::main_text(kMegatron, plan);
  EXPECT_THAT(again, HasSubstr(asked));
  EXPECT_EQ(testing::imported(again, {.model = plan.model, .cluster = plan.cluster}).plan.cluster.software.fused_loss_bytes,
            kBytesOfLossInPlace);
}

// Off unless it is asked for, and never without a shared sequence.
TEST(MegatronWords, ExchangesGoAlongProductsWhereItIsAsked) {
  const auto read = [](const std::string& arguments) {
    return testing::imported("--tensor-model-parallel-size 2 --micro-batch-size 1 --seq-length 32 --bf16 " + arguments, tiny_llama_on(8));
  };
  const std::string shared = "--sequence-parallel ", asked = "--tp-comm-overlap";
  EXPECT_FALSE(read(shared).plan.sends_along_products());
  EXPECT_TRUE(read(shared + asked).plan.sends_along_products());
  const ImportedPlan alone = read(asked);
  EXPECT_FALSE(alone.plan.sends_along_products());
  EXPECT_THAT(testing::text_of(alone.lost), HasSubstr("add --sequence-parallel"));
  for (const std::string& arguments : {shared, shared + asked}) {
    const ParallelPlan plan = read(arguments).plan;
    const std::string text = testing::main_text(kMegatron, plan);
    EXPECT_EQ(text.find(asked) != std::string::npos, plan.sends_along_products()) << arguments;
    EXPECT_EQ(testing::imported(text, {.model = plan.model, .cluster = plan.cluster}).plan.tensor_overlap, plan.tensor_overlap);
    EXPECT_TRUE(why_not_for(kMegatronBridge, plan).empty()) << testing::text_of(why_not_for(kMegatronBridge, plan));
    EXPECT_EQ(testing::main_text(kNemo, plan).find("MegatronCommOverlapCallback") != std::string::npos, plan.sends_along_products());
  }
}

TEST(MegatronWords, TypesOfRoutersAndOfTheStream) {
  Cluster cluster = load_cluster("h100-80gb-sxm", DeviceCount{8});
  cluster.software = load_software("megatron-core-2025");
  const auto read = [&](const std::string& more) {
    return testing::imported(
        "python pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 32 --max-position-embeddings 32 "
        "--vocab-size 250 --bf16 --micro-batch-size 1 --global-batch-size 8 --num-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 64 "
        "--swiglu --disable-bias-linear --normalization RMSNorm --position-embedding-type rope --untie-embeddings-and-output-weights " +
            more + "\n",
        {.model = {}, .cluster = cluster});
  };
  const auto precision = [&](const std::string& more) { return to_text(read(more).plan.workload.precision); };
  EXPECT_EQ(precision(""), "bf16 gradients=fp32");
  EXPECT_EQ(precision("--moe-router-dtype fp32"), "bf16 gradients=fp32 routers=fp32");
  EXPECT_EQ(precision("--moe-router-dtype fp64 --fp32-residual-connection"), "bf16 gradients=fp32 stream=fp32 routers=fp64");
  EXPECT_THAT(testing::text_of(read("--fp32-residual-connection").notes), HasSubstr("releases before cast the stream back"));
  const ParallelPlan plan = read("--moe-router-dtype fp64 --fp32-residual-connection").plan;
  const std::string text = testing::main_text(kMegatron, plan);
  EXPECT_THAT(text, HasSubstr("--moe-router-dtype fp64"));
  EXPECT_THAT(text, HasSubstr("--fp32-residual-connection"));
  EXPECT_THAT(testing::refused_by(kTorchtitan, plan), HasSubstr("/workload/precision"));
  ParallelPlan dense =
      testing::imported("--tensor-model-parallel-size 1 --micro-batch-size 1 --seq-length 32 --bf16", tiny_llama_on(8)).plan;
  dense.workload.precision = dense.workload.precision.with(WideKind::Stream, Precision::Fp32);
  const RecipeContext again{.model = dense.model, .cluster = dense.cluster};
  EXPECT_EQ(testing::imported(testing::main_text(kMegatron, dense), again).plan.workload.precision, dense.workload.precision);
}

TEST(MegatronWords, DeepSpeedsStageStandsInADocumentOfTheScript) {
  const std::string text =
      "ZERO=1\nCONFIG=./ds.json\ncat <<EOT > $CONFIG\n{\"zero_optimization\": {\"stage\": $ZERO}}\nEOT\n"
      "pretrain_gpt.py --tensor-model-parallel-size 1 --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --bf16 --deepspeed "
      "--deepspeed_config $CONFIG";
  EXPECT_EQ(testing::imported(text, tiny_llama_on(4)).plan.zero_stage, 1);
  const std::string third =
      "cat <<EOT > ds.json\n{\"zero_optimization\": {\"stage\": 3, \"reduce_bucket_size\": 9e7}}\nEOT\n"
      "pretrain_gpt.py --tensor-model-parallel-size 1 --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --fp16 --deepspeed "
      "--deepspeed_config ds.json";
  EXPECT_EQ(testing::imported(third, tiny_llama_on(4)).plan.bucket_size, Bytes(180'000'000));
  EXPECT_THAT(
      testing::text_of(
          testing::imported("pretrain_gpt.py --tensor-model-parallel-size 1 --micro-batch-size 1 --seq-length 32 --deepspeed_config x.json",
                            tiny_llama_on(4))
              .unknown),
      HasSubstr("x.json is another file"));
}

// Of a file that the script writes: what the arguments do not say.
TEST(MegatronWords, OtherSettingsOfDeepSpeedsFile) {
  const auto with = [](const std::string& more) {
    return testing::imported("cat <<EOT > ds.json\n{\"train_batch_size\": $BATCH, \"zero_optimization\": {\"stage\": 2" + more +
                                 "}\nEOT\ndeepspeed --num_gpus 4 pretrain_gpt.py --tensor-model-parallel-size 1 --micro-batch-size 1 "
                                 "--global-batch-size 8 --seq-length 32 --fp16 --deepspeed --deepspeed_config ds.json",
                             tiny_llama_on(4));
  };
  EXPECT_THAT(testing::text_of(with("}, \"curriculum_learning\": {\"enabled\": true}").lost),
              HasSubstr("curriculum_learning.enabled: true"));
  EXPECT_THAT(testing::text_of(with(", \"zero_quantized_weights\": true}").lost), HasSubstr("zero_quantized_weights: true in DeepSpeed's"));
  EXPECT_TRUE(with(", \"offload_optimizer\": {\"device\": \"cpu\"}}").plan.offload_optimizer);
  EXPECT_THAT(testing::text_of(with("}, \"mine\": {\"twice\": 2}").unknown), HasSubstr("mine.twice: in DeepSpeed's file is not known"));
  EXPECT_THAT(testing::text_of(with("}, ").unknown), HasSubstr("is no JSON as it stands"));
  const ImportedPlan plain =
      with(", \"overlap_comm\": true}, \"fp16\": {\"enabled\": true}, \"curriculum_learning\": {\"enabled\": false}");
  EXPECT_EQ(testing::text_of(plain.lost) + testing::text_of(plain.unknown), "");
}

// MindSpeed-LLM's FSDP 2 builds the network of a folder, whatever sizes stand beside it.
TEST(MegatronWords, TheNetworkOfAFolder) {
  const std::string line =
      "torchrun --nproc_per_node 4 train_fsdp2.py --use-torch-fsdp2 --init-from-hf-path a/b --num-layers 2 --hidden-size 99 "
      "--num-attention-heads 3 --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --bf16\n";
  const ImportedPlan read = testing::imported(line, tiny_llama_on(4));
  EXPECT_EQ(read.plan.model.hidden, testing::tiny_llama().hidden);
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("init-from-hf-path: a/b: the network of the plan is the one of --model"));
}

// LLaMA-Factory's YAML for Megatron-Core: names of the Trainer beside degrees.
TEST(MegatronWords, LlamaFactorysArguments) {
  const std::string text =
      "model_name_or_path: x/y\ndo_train: true\nstage: sft\nfinetuning_type: full\ncutoff_len: 32\nper_device_train_batch_size: 1\n"
      "gradient_accumulation_steps: 8\nlearning_rate: 3e-6\nlr_scheduler_type: constant\nbf16: true\ntensor_model_parallel_size: 1\n"
      "sequence_parallel: false\npipeline_model_parallel_size: 4\nuse_distributed_optimizer: true\nrecompute_granularity: full\n";
  const ImportedPlan read = testing::imported(text, tiny_llama_on(8));
  EXPECT_EQ(read.plan.mesh, (DeviceMesh{.data = 2, .pipeline = 4, .tensor = 1}));
  EXPECT_EQ(read.plan.workload.global_batch, 16);
  EXPECT_EQ(read.plan.workload.sequence, 32);
  EXPECT_EQ(read.plan.microbatch_size, 1);
  EXPECT_EQ(read.plan.zero_stage, 1);
  EXPECT_EQ(read.plan.recompute, Recompute::Full);
  EXPECT_EQ(testing::text_of(read.unknown), "");
  const std::string other = "stage: dpo\ncutoff_len: 32\nper_device_train_batch_size: 1\ntensor_model_parallel_size: 1\n";
  EXPECT_THAT(testing::refusal_of(other, tiny_llama_on(8)), HasSubstr("is dpo"));
}

// Its command line starts no script, and names no type: the checkpoint's is taken, and that is told.
TEST(MegatronWords, MsSwiftTakesTheTypeOfTheCheckpoint) {
  const ImportedPlan read = testing::imported(
      ": \"${TP:=2}\"\nmegatron sft --model x/y --dataset z --tensor_model_parallel_size \"${TP}\" --micro_batch_size 1 "
      "--global_batch_size 8 "
      "--max_length 32\n",
      tiny_llama_on(4));
  EXPECT_EQ(read.plan.mesh, (DeviceMesh{.data = 2, .tensor = 2}));
  EXPECT_EQ(read.plan.workload.sequence, 32);
  EXPECT_EQ(read.plan.workload.precision.compute(), Precision::Bf16);
  EXPECT_THAT(testing::text_of(read.unknown), HasSubstr("takes the checkpoint's type"));
}

TEST(MegatronWords, ContextOfMindSpeed) {
  const auto read = [](const std::string& algorithm) {
    return testing::imported(
        "--tensor-model-parallel-size 1 --micro-batch-size 1 --global-batch-size 8 --seq-length 32 "
        "--context-parallel-size 2 --context-parallel-algo " +
            algorithm,
        tiny_llama_on(4));
  };
  EXPECT_EQ(read("ulysses_cp_algo").plan.context_algorithm, ContextAlgorithm::AllToAll);
  EXPECT_EQ(read("megatron_cp_algo").plan.context_algorithm, ContextAlgorithm::Ring);
  EXPECT_THAT(testing::text_of(read("hybrid_cp_algo").lost), HasSubstr("hybrid_cp_algo"));
}

TEST(MegatronWords, AVocabularyThatIsPadded) {
  const RecipeContext alone{.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{2})};
  const std::string sizes =
      "--tensor-model-parallel-size 1 --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --num-layers 2 --hidden-size 64 "
      "--num-attention-heads 4 --pad-vocab-size-to 512";
  EXPECT_EQ(testing::imported(sizes, alone).plan.model.vocabulary, 512);
  EXPECT_EQ(testing::imported(sizes + " --vocab-size 500", alone).plan.model.vocabulary, 500);
}

TEST(MegatronWords, BlocksOfAMethodAreThoseOfAPart) {
  const ParallelPlan plan =
      testing::imported(
          "--tensor-model-parallel-size 1 --micro-batch-size 1 --seq-length 32 --recompute-num-layers 2 --recompute-method block "
          "--recompute-granularity full",
          tiny_llama_on(1))
          .plan;
  EXPECT_EQ(plan.recompute, Recompute::Full);
  EXPECT_EQ(to_text(plan.recompute_scope), "first 2");
}

// Modules belong to selective: with full they are without effect there.

TEST(MegatronWords, ModulesAreReadWithTheirGranularity) {
  const auto scope_of = [](const std::string& granularity) {
    return to_text(testing::imported("--tensor-model-parallel-size 1 --micro-batch-size 1 --seq-length 32 --recompute-modules moe_act "
                                     "layernorm --recompute-granularity " +
                                         granularity,
                                     tiny_llama_on(1))
                       .plan.recompute_scope);
  };
  EXPECT_EQ(scope_of("selective"), "modules moe_act,layernorm");
  EXPECT_EQ(scope_of("full"), "");
}

// The file that a line of Megatron-DeepSpeed names is read where it lies beside.
TEST(MegatronWords, DeepSpeedsFileBesideTheScript) {
  std::ofstream(testing::recipe_folder() + "/stage2.json") << "{\"train_batch_size\": 8, \"zero_optimization\": {\"stage\": 2}}";
  const std::string line =
      "deepspeed pretrain_gpt.py --tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 8 "
      "--seq-length 32 --bf16 --no-pipeline-parallel --deepspeed --deepspeed_config $HERE/";
  EXPECT_EQ(testing::imported(line + "stage2.json\n", tiny_llama_on(8)).plan.zero_stage, 2);
  EXPECT_THAT(testing::text_of(testing::imported(line + "missing.json\n", tiny_llama_on(8)).unknown), HasSubstr("is another file"));
}

// A word that Megatron-LM does not have is a fork's.
TEST(MegatronWords, ValuesOfForksAreTold) {
  const auto lost_of = [](const std::string& more) {
    return testing::text_of(
        testing::imported("--tensor-model-parallel-size 1 --num-layers 2 --hidden-size 64 --num-attention-heads 4 --micro-batch-size 1 "
                          "--seq-length 32 --max-position-embeddings 32 --bf16 " +
                              more + "\n",
                          {.model = std::nullopt, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .vocabulary = 1024})
            .lost);
  };
  EXPECT_THAT(lost_of("--normalization DyT"), HasSubstr("normalization: 'DyT': taken as LayerNorm"));
  EXPECT_THAT(lost_of("--normalization LayerNorm"), ::testing::Not(HasSubstr("normalization")));
  EXPECT_THAT(lost_of("--num-experts 4 --expert-model-parallel-size 2 --moe-token-dispatcher-type alltoall_of_ours"),
              HasSubstr("another way of tokens to experts"));
}

TEST(MegatronWords, WordsThatNoReleaseKnowsAreTold) {
  const auto unknown_of = [](const std::string& more) {
    return testing::text_of(
        testing::imported("--tensor-model-parallel-size 1 --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --bf16 " + more + "\n",
                          tiny_llama_on(8))
            .unknown);
  };
  EXPECT_THAT(unknown_of("--transformer-impl ours"), HasSubstr("transformer-impl: ours is none of local, transformer_engine"));
  EXPECT_THAT(unknown_of("--fp8-format ours"), HasSubstr("fp8-format: ours is none of hybrid"));
  EXPECT_THAT(unknown_of("--recompute-granularity full --recompute-method ours --recompute-num-layers 1"),
              HasSubstr("is none of uniform, block"));
  EXPECT_THAT(unknown_of("--position-embedding-type ours"), HasSubstr("position-embedding-type: ours is none of"));
  EXPECT_THAT(unknown_of("--moe-router-load-balancing-type aux_loss ours"),
              HasSubstr("moe-router-load-balancing-type: aux_loss ours is none"));
  EXPECT_EQ(unknown_of("--transformer-impl transformer_engine --fp8-format e4m3 --moe-router-load-balancing-type aux_loss none"), "");
}

TEST(MegatronWords, GatheringBesideTheForwardNeedsReducing) {
  const std::string line =
      "--tensor-model-parallel-size 1 --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --bf16 "
      "--use-distributed-optimizer --overlap-param-gather ";
  EXPECT_THAT(testing::text_of(testing::imported(line + "\n", tiny_llama_on(8)).unknown), HasSubstr("stands without overlap-grad-reduce"));
  EXPECT_EQ(testing::text_of(testing::imported(line + "--overlap-grad-reduce\n", tiny_llama_on(8)).unknown), "");
}

TEST(MegatronWords, WhatAnotherFileMayHoldIsDoubted) {
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const std::string line = "python pretrain_gpt.py --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --more-of-ours ours.yaml ";
  EXPECT_THAT(testing::text_of(testing::imported(line + "\n", context).unknown),
              HasSubstr("bf16: and fp16 are not said, and more-of-ours names a file that may say them"));
  EXPECT_THAT(testing::text_of(testing::imported(line + "--bf16\n", context).unknown), ::testing::Not(HasSubstr("bf16")));
}

// Stage 3 of Megatron-DeepSpeed is DeepSpeed's: it gathers ahead, and small parameters stay whole, whether its file says so or not.
TEST(MegatronWords, WhatDeepSpeedsThirdStageHasByItself) {
  const auto with = [](const std::string& more) {
    return testing::imported("cat <<EOT > ds.json\n{\"zero_optimization\": {\"stage\": 3" + more +
                                 "}}\nEOT\ndeepspeed --num_gpus 4 pretrain_gpt.py --tensor-model-parallel-size 1 --micro-batch-size 1 "
                                 "--global-batch-size 8 --seq-length 32 --fp16 --deepspeed --deepspeed_config ds.json",
                             tiny_llama_on(4))
        .plan;
  };
  EXPECT_GT(with("").prefetch, 0);
  EXPECT_EQ(with("").persistence_threshold, 100'000);
  const ParallelPlan said = with(", \"stage3_prefetch_bucket_size\": 0, \"stage3_param_persistence_threshold\": 64");
  EXPECT_EQ(said.prefetch, 0);
  EXPECT_EQ(said.persistence_threshold, 64);
  EXPECT_EQ(with(", \"offload_optimizer\": {\"device\": \"cpu\"}, \"offload_param\": {\"device\": \"cpu\"}").persistence_threshold, 0);
}

// DeepSpeed goes by its file, Megatron-LM by the line.
TEST(MegatronWords, WhatTheFileSaysOtherwiseThanTheLine) {
  const auto told = [](const std::string& in_file, const std::string& on_line) {
    return testing::text_of(
        testing::imported("cat <<EOT > ds.json\n{\"zero_optimization\": {\"stage\": 1}, " + in_file +
                              "}\nEOT\ndeepspeed --num_gpus 4 pretrain_gpt.py --tensor-model-parallel-size 1 --micro-batch-size 2 "
                              "--global-batch-size 8 --seq-length 32 --deepspeed --deepspeed_config ds.json " +
                              on_line,
                          tiny_llama_on(4))
            .unknown);
  };
  EXPECT_THAT(told("\"train_micro_batch_size_per_gpu\": 1", "--bf16"),
              HasSubstr("train_micro_batch_size_per_gpu: is 1 in DeepSpeed's file"));
  EXPECT_THAT(told("\"fp16\": {\"enabled\": true}", "--bf16"), HasSubstr("fp16.enabled: is true in DeepSpeed's file"));
  EXPECT_THAT(told("\"bf16\": {\"enabled\": false}", "--bf16"), HasSubstr("bf16.enabled: is false"));
  EXPECT_EQ(told("\"train_batch_size\": 8, \"train_micro_batch_size_per_gpu\": 2, \"bf16\": {\"enabled\": true}", "--bf16"), "");
  EXPECT_EQ(told("\"train_batch_size\": \"auto\", \"train_micro_batch_size_per_gpu\": $MICRO", "--bf16"), "");
}

// Whatever its file says of them, DeepSpeed's buckets are not Megatron-LM's.
TEST(MegatronWords, BucketsOfDeepSpeedWithoutItsFile) {
  const std::string line =
      "deepspeed --num_gpus 4 pretrain_gpt.py --tensor-model-parallel-size 1 --micro-batch-size 1 --global-batch-size 8 --seq-length 32 "
      "--fp16 --zero-stage 2 --deepspeed --deepspeed_config elsewhere.json";
  EXPECT_EQ(testing::imported(line, tiny_llama_on(4)).plan.bucket_size, Bytes(1'000'000'000));
}

// Its parser takes hyphens: a script with underscores is of a program that is built on it.
TEST(MegatronWords, AnotherSpellingIsAnotherPrograms) {
  const auto told = [](const std::string& size) {
    return testing::text_of(testing::imported("torchrun --nproc_per_node 8 --rdzv-backend c10d pretrain_gpt.py --bf16 " + size +
                                                  " --seq-length 32 --micro-batch-size 1 --use-mine\n",
                                              tiny_llama_on(8))
                                .unknown);
  };
  EXPECT_THAT(told("--tensor_model_parallel_size 2"), HasSubstr("spells tensor_model_parallel_size"));
  EXPECT_THAT(told("--tensor-model-parallel-size 2"), Not(HasSubstr("spells")));
  EXPECT_THAT(told("--tensor-model-parallel-size 2"), Not(HasSubstr("rdzv")));
  EXPECT_THAT(told("--tensor-model-parallel-size 2 $(cat more.args)"), HasSubstr("$(cat more.args): is what a command prints"));
  const std::string swift = "NPROC_PER_NODE=8 megatron sft --load a --tensor_model_parallel_size 2 --micro_batch_size 1 --max_length 32\n";
  EXPECT_THAT(testing::text_of(testing::imported(swift, tiny_llama_on(8)).unknown), Not(HasSubstr("spells")));
}

// As a line for another shell has it, which takes the quotes off.
TEST(MegatronWords, QuotesAroundWhichBlocksHaveExperts) {
  const std::string line =
      "torchrun --nproc_per_node 8 pretrain_gpt.py --bf16 --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 32 "
      "--max-position-embeddings 32 --micro-batch-size 1 --num-experts 4 --moe-router-topk 2 --moe-layer-freq \"'([1]*2)'\"\n";
  EXPECT_EQ(
      testing::imported(line, {.model = std::nullopt, .cluster = tiny_llama_on(8).cluster, .vocabulary = 512}).plan.model.experts->experts,
      4);
}

// What DeepSpeed's engine does with gradients no argument of the line says: its file does.
TEST(MegatronWords, HowTheEngineOfAFileReduces) {
  const auto with = [](const std::string& section, const std::string& more = "") {
    return testing::imported("cat <<EOT > ds.json\n{\"zero_optimization\": {" + section +
                                 "}}\nEOT\ndeepspeed --num_gpus 4 pretrain_gpt.py --tensor-model-parallel-size 1 --micro-batch-size 1 "
                                 "--global-batch-size 8 --seq-length 32 --fp16 --deepspeed --deepspeed_config ds.json" +
                                 more,
                             tiny_llama_on(4));
  };
  EXPECT_FALSE(with("\"stage\": 2").plan.cluster.software.overlap_reduce);
  EXPECT_TRUE(with("\"stage\": 2, \"overlap_comm\": true").plan.cluster.software.overlap_reduce);
  EXPECT_TRUE(with("\"stage\": 3").plan.cluster.software.overlap_reduce);
  EXPECT_FALSE(with("\"stage\": 3, \"overlap_comm\": false").plan.cluster.software.overlap_reduce);
  const std::string first = "\"stage\": 1, \"overlap_comm\": true, \"reduce_bucket_size\": 1000";
  EXPECT_GT(with(first).plan.bucket_size, Bytes(1'000'000)) << "stages of a pipeline reduce behind their last microbatch";
  EXPECT_EQ(with(first, " --no-pipeline-parallel").plan.bucket_size, Bytes(2000));
  EXPECT_THAT(testing::text_of(with("\"stage\": 2, \"contiguous_gradients\": false").lost), HasSubstr("contiguous_gradients: false in"));
  EXPECT_THAT(testing::text_of(with("\"stage\": 2, \"reduce_scatter\": false").lost), HasSubstr("cross whole to all ranks"));
  EXPECT_THAT(testing::text_of(with("\"stage\": $ZERO").unknown), HasSubstr("zero_optimization.stage: follows in DeepSpeed's file"));
}

// `"sub_group_size": 8e8$(if [ "$HOST" = "true" ]; then echo ', ...'; fi)`: what a condition prints into the file.
TEST(MegatronWords, WhatAConditionPrintsIntoTheFile) {
  const auto with = [](const std::string& host) {
    return testing::imported(
               "HOST=" + host +
                   "\ncat <<EOT > ds.json\n{\"zero_optimization\": {\"stage\": 3$(if [ \"$HOST\" = \"yes\" ]; then echo ',\n"
                   "\"offload_optimizer\": {\"device\": \"cpu\", \"ratio\": 0.5}'; fi)}}\nEOT\ndeepspeed --num_gpus 4 "
                   "pretrain_gpt.py --tensor-model-parallel-size 1 --micro-batch-size 1 --global-batch-size 8 --seq-length 32 "
                   "--fp16 --deepspeed --deepspeed_config ds.json",
               tiny_llama_on(4))
        .plan;
  };
  EXPECT_TRUE(with("yes").offload_optimizer);
  EXPECT_EQ(with("yes").offload_share, 0.5);
  EXPECT_FALSE(with("no").offload_optimizer);
}

// Megatron FSDP's own strategy is no_shard, beside a distributed optimizer, too.
TEST(MegatronWords, FsdpWithoutAStrategy) {
  const auto with = [](const std::string& more) {
    return testing::imported(
        "torchrun --nproc_per_node 4 pretrain_gpt.py --tensor-model-parallel-size 1 --micro-batch-size 1 --global-batch-size 8 "
        "--seq-length 32 --bf16 --use-distributed-optimizer --use-megatron-fsdp " +
            more + "\n",
        tiny_llama_on(4));
  };
  EXPECT_EQ(with("").plan.zero_stage, 0);
  EXPECT_THAT(testing::text_of(with("").unknown), HasSubstr("its own is no_shard"));
  EXPECT_EQ(with("--data-parallel-sharding-strategy no_shard").plan.zero_stage, 0);
  EXPECT_EQ(with("--data-parallel-sharding-strategy optim_grads_params").plan.zero_stage, 3);
}

}  // namespace
}  // namespace sim
