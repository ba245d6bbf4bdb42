#include "sim/recipe/trainer.h"

#include <fstream>

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

RecipeContext llama_for_yaml(std::int32_t devices) {
  return {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices})};
}
ImportedPlan by_axolotl(const std::string& more, std::int32_t devices = 8) {
  return testing::imported("base_model: here\nsequence_len: 32\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\n" + more,
                           llama_for_yaml(devices));
}
ImportedPlan by_factory(const std::string& more) {
  return testing::imported("stage: sft\nfinetuning_type: full\nper_device_train_batch_size: 1\ncutoff_len: 32\nbf16: true\n" + more,
                           llama_for_yaml(8));
}

// patch_config() loads a checkpoint in its own type where neither bf16 nor fp16 is asked for; what is trained whole is made fp32.
TEST(TrainerSettle, WithoutATypeLlamaFactoryTakesTheCheckpoints) {
  const auto read = [](const std::string& more) {
    return testing::imported("model_name_or_path: a/b\nstage: sft\ncutoff_len: 32\nper_device_train_batch_size: 2\n" + more,
                             llama_for_yaml(8));
  };
  const ImportedPlan adapted = read("finetuning_type: lora\nlora_rank: 8\nlora_target: q_proj\n");
  EXPECT_EQ(adapted.plan.workload.precision.compute(), Precision::Bf16);
  EXPECT_THAT(testing::text_of(adapted.notes), HasSubstr("bf16: is not in the file: taken as bf16"));
  EXPECT_EQ(read("finetuning_type: full\n").plan.workload.precision.compute(), Precision::Fp32);
}

// Of several nodes, whose number is in the environment or in a file of hosts.
TEST(TrainerSettle, NodesThatTheLineLeavesOpenAreTheClusters) {
  const std::string more = " tune.py --model_name_or_path a/b --bf16 True --per_device_train_batch_size 2 --model_max_length 32\n";
  for (const std::string launcher :
       {"srun torchrun --nproc_per_node 8", "torchrun --nproc_per_node 8 --nnodes 1:4", "deepspeed --hostfile hosts --num_gpus 8"})
    EXPECT_EQ(testing::imported(launcher + more, llama_for_yaml(16)).plan.mesh.data, 16) << launcher;
  for (const std::string launcher :
       {"torchrun --nproc_per_node 8", "srun torchrun --nproc_per_node 4 --nnodes 2", "deepspeed --hostfile=h --num_nodes 1 --num_gpus 8",
        "# srun is not for this one\ntorchrun --nproc_per_node 8"})
    EXPECT_THAT(testing::refusal_of(launcher + more, llama_for_yaml(16)), HasSubstr("starts 8 processes")) << launcher;
}

TEST(TrainerSettle, NamesOfAxolotl) {
  const ParallelPlan plan = by_axolotl("bf16: auto\ngradient_checkpointing: true\noptimizer: adamw_torch_fused\ntf32: false\n").plan;
  EXPECT_EQ(plan.workload.global_batch, 64);
  EXPECT_EQ(plan.workload.sequence, 32);
  EXPECT_EQ(plan.recompute, Recompute::Full);
  EXPECT_EQ(to_text(plan.workload.precision), "bf16 masters=bf16");  // it loads weights in 16 bit
}

TEST(TrainerSettle, AxolotlsFsdpAndDegrees) {
  const ParallelPlan plan = by_axolotl(
                                "bf16: true\nfsdp_version: 2\nfsdp_config:\n  reshard_after_forward: false\n"
                                "dp_shard_size: 2\ndp_replicate_size: 2\ntensor_parallel_size: 2\n")
                                .plan;
  EXPECT_EQ(plan.zero_stage, 3);
  EXPECT_EQ(plan.mesh, (DeviceMesh{.data = 4, .pipeline = 1, .tensor = 2, .replicas = 2}));
  EXPECT_FALSE(plan.reshard_after_forward);
  EXPECT_TRUE(by_axolotl("fsdp_version: 2\nfsdp_config:\n  offload_params: true\n").plan.offload_parameters);
  EXPECT_EQ(by_axolotl("fsdp_config:\n  fsdp_transformer_layer_cls_to_wrap: LlamaDecoderLayer\n").plan.zero_stage, 3);
  const ImportedPlan version_alone = by_axolotl("fsdp_version: 2\n");
  EXPECT_EQ(version_alone.plan.zero_stage, 0);
  EXPECT_THAT(testing::text_of(version_alone.unknown), HasSubstr("stands without fsdp_config"));
  EXPECT_EQ(by_axolotl("fsdp:\n  - full_shard\n  - auto_wrap\nfsdp_config:\n  fsdp_sharding_strategy: SHARD_GRAD_OP\n").plan.zero_stage, 3);
}

// LLaMA-Factory recomputes unless it is told not to.
TEST(TrainerSettle, DefaultsOfLlamaFactory) {
  EXPECT_EQ(by_factory("").plan.recompute, Recompute::Full);
  EXPECT_EQ(by_factory("disable_gradient_checkpointing: true\n").plan.recompute, Recompute::None);
  EXPECT_EQ(by_factory("").plan.num_microbatches(), 1);
}

// A program of its own behind accelerate's options has its own batch; the Trainer's 8 are not taken for it.
TEST(TrainerSettle, AnOwnProgramBehindAcceleratesOptions) {
  const std::string line = "accelerate launch --num_processes 2 --mixed_precision bf16 ";
  RecipeContext context = llama_for_yaml(2);
  context.sequence = 32;
  for (const std::string layout :
       {"--use_deepspeed --zero_stage 2 --gradient_accumulation_steps 1", "--use_fsdp --fsdp_sharding_strategy=1"}) {
    EXPECT_THAT(testing::refusal_of(line + layout + " mine.py --lr 1e-4\n", context), HasSubstr("whoever is started has its own"))
        << layout;
    RecipeContext told = context;
    told.microbatch = 4, told.global_batch = 8;
    EXPECT_EQ(testing::imported(line + layout + " mine.py --lr 1e-4\n", told).plan.microbatch_size, 4) << layout;
  }
  EXPECT_EQ(testing::imported(line + "--use_deepspeed --zero_stage 2 --gradient_accumulation_steps 1 tune.py --output_dir a\n", context)
                .plan.microbatch_size,
            8);
}

// FSDP 1 has numbers for its ways, one to five.
TEST(TrainerSettle, NumbersOfFsdpsWays) {
  const auto way = [](const std::string& number) {
    return testing::imported("accelerate launch --num_processes 16 --use_fsdp --fsdp_sharding_strategy " + number +
                                 " --fsdp_transformer_layer_cls_to_wrap A tune.py --output_dir a --per_device_train_batch_size 1 "
                                 "--max_length 32 --bf16\n",
                             llama_for_yaml(16))
        .plan;
  };
  EXPECT_TRUE(way("1").reshard_after_forward);
  EXPECT_FALSE(way("2").reshard_after_forward);
  EXPECT_EQ(way("3").zero_stage, 0);
  EXPECT_EQ(way("4").mesh.replicas, 2);
  EXPECT_FALSE(way("5").reshard_after_forward);
}

TEST(TrainerSettle, WordsOfFsdp) {
  const auto refusal = [](const std::string& words) {
    return testing::refusal_of(
        "torchrun --nproc_per_node 8 tune.py --output_dir a --per_device_train_batch_size 1 --model_max_length 32 "
        "--bf16 True --fsdp_transformer_layer_cls_to_wrap A --fsdp " +
            words + "\n",
        llama_for_yaml(8));
  };
  EXPECT_EQ(refusal("'hybrid_shard auto_wrap'"), "");
  EXPECT_THAT(refusal("'full_shard wrap'"), HasSubstr("fsdp: holds 'wrap'"));
}

TEST(TrainerSettle, TypesOfAcceleratesLine) {
  const std::string line = "accelerate launch --num_processes 8 --use_fsdp --fsdp_transformer_layer_cls_to_wrap A --mixed_precision ",
                    more = " tune.py --output_dir a --per_device_train_batch_size 1 --max_length 32\n";
  EXPECT_THAT(to_text(testing::imported(line + "fp8" + more, llama_for_yaml(8)).plan.workload.precision), HasSubstr("fp8"));
  EXPECT_THAT(testing::refusal_of(line + "half" + more, llama_for_yaml(8)), HasSubstr("mixed_precision: is 'half'"));
}

TEST(TrainerSettle, TypesOfWeightsThatNobodyKnows) {
  const auto unknown = [](const std::string& type) {
    return testing::text_of(testing::imported("torchrun --nproc_per_node 8 tune.py --output_dir a --per_device_train_batch_size 1 "
                                              "--model_max_length 32 --torch_dtype " +
                                                  type + "\n",
                                              llama_for_yaml(8))
                                .unknown);
  };
  EXPECT_THAT(unknown("twelve"), HasSubstr("torch_dtype: is twelve, which is no type known here"));
  EXPECT_THAT(unknown("torch.bfloat16"), ::testing::Not(HasSubstr("no type known")));
}

// One device cuts nothing, and its units come up from the host.
TEST(TrainerSettle, FsdpOnOneDeviceWithTheHost) {
  const ParallelPlan plan =
      testing::imported(
          "torchrun --nproc_per_node 1 tune.py --output_dir a --per_device_train_batch_size 1 --model_max_length 32 --bf16 "
          "True --fsdp 'full_shard auto_wrap offload' --fsdp_transformer_layer_cls_to_wrap A\n",
          llama_for_yaml(1))
          .plan;
  EXPECT_TRUE(plan.offload_parameters);
  EXPECT_EQ(plan.zero_stage, 3);
}

// DeepSpeed-Chat's own number (step1_supervised_finetuning/main.py).
TEST(TrainerSettle, ABatchOfDeepSpeedChat) {
  const ImportedPlan read = testing::imported(
      "deepspeed --num_gpus 8 training/step1_supervised_finetuning/main.py --model_name_or_path a/b --zero_stage 2 "
      "--deepspeed --output_dir c --max_seq_len 32\n",
      llama_for_yaml(8));
  EXPECT_EQ(read.plan.microbatch_size, 16);
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("16 is taken"));
}

TEST(TrainerSettle, OtherStepsAreRefused) {
  const auto refusal = [](const std::string& text) {
    return testing::refusal_of("per_device_train_batch_size: 1\ncutoff_len: 32\n" + text, llama_for_yaml(8));
  };
  EXPECT_THAT(refusal("stage: dpo\n"), HasSubstr("stage: is dpo"));
  EXPECT_THAT(testing::text_of(testing::imported("torchrun --nproc_per_node 8 tune.py --output_dir a --per_device_train_batch_size 1 "
                                                 "--model_max_length 32 --bf16 --stage stage2\n",
                                                 llama_for_yaml(8))
                                   .unknown),
              HasSubstr("stage: is of the script's own stages"));
  EXPECT_THAT(refusal("finetuning_type: oft\n"), HasSubstr("no plan trains so"));
  EXPECT_THAT(refusal("num_generations: 8\n"), HasSubstr("num_generations"));
  EXPECT_THAT(refusal("load_in_4bit: true\n"), HasSubstr("names no adapters"));
  EXPECT_THAT(refusal("bf16: true\nfp16: true\n"), HasSubstr("both on"));
}

// LLaMA-Factory: the last two blocks, unless it says how many.
TEST(TrainerSettle, FrozenPartsAreLlamaFactorys) {
  const auto frozen = [](const std::string& more) {
    return to_text(
        testing::imported("stage: sft\nfinetuning_type: freeze\nper_device_train_batch_size: 1\ncutoff_len: 32\nbf16: true\n" + more,
                          llama_for_yaml(8))
            .plan.model.frozen);
  };
  EXPECT_EQ(frozen(""), "embedding,head first 2");
  EXPECT_EQ(frozen("freeze_trainable_layers: 1\n"), "embedding,head first 3");
  EXPECT_EQ(frozen("freeze_trainable_layers: 9\n"), "embedding,head");
  EXPECT_THAT(testing::refusal_of("per_device_train_batch_size: 1\ncutoff_len: 32\nfinetuning_type: freeze\nfreeze_trainable_layers: -1\n",
                                  llama_for_yaml(8)),
              HasSubstr("freezes these"));
}

TEST(TrainerSettle, AdaptersArePefts) {
  const auto adapters = [](const std::string& more) { return to_text(by_axolotl("bf16: true\n" + more).plan.model.adapters); };
  EXPECT_EQ(adapters("adapter: qlora\nload_in_4bit: true\nlora_r: 16\nlora_alpha: 32\nlora_target_modules: [q_proj, v_proj]\n"),
            "rank 16 alpha 32 on q,v base nf4");
  EXPECT_EQ(adapters("adapter: lora\nlora_r: 8\nlora_target_linear: true\n"), "rank 8 on q,k,v,o,gate,up,down");
  EXPECT_EQ(adapters("adapter: lora\nlora_r: 8\nlora_target_modules: 'layers.[0-9]+.(mlp|self_attn).(up|q)_proj'\n"), "rank 8 on q,up");
  EXPECT_EQ(adapters("adapter:\nlora_r: 8\n"), "");
}

TEST(TrainerSettle, WhereWeightsAreLoadedIn16Bit) {
  const auto precision = [](const std::string& more) { return to_text(by_factory(more).plan.workload.precision); };
  EXPECT_EQ(precision(""), "bf16 weights=fp32");
  EXPECT_EQ(precision("torch_dtype: bfloat16\n"), "bf16 masters=bf16");
  EXPECT_EQ(precision("pure_bf16: true\n"), "bf16 masters=bf16");
  EXPECT_EQ(precision("fsdp: full_shard auto_wrap\n"), "bf16");
  EXPECT_EQ(precision("deepspeed: zero2\n"), "bf16");
}

// DeepSpeed-Chat and ms-swift name a stage where others name a file.
TEST(TrainerSettle, AStageByItsName) {
  const auto read = [](const std::string& more) {
    return testing::imported("deepspeed tune.py --per_device_train_batch_size 2 --max_seq_len 32 --bf16 " + more + "\n", llama_for_yaml(8))
        .plan;
  };
  EXPECT_EQ(read("--deepspeed --zero_stage 2").zero_stage, 2);
  EXPECT_TRUE(read("--deepspeed --zero_stage 3 --offload").offload_parameters);
  EXPECT_EQ(read("--deepspeed zero1").zero_stage, 1);
}

// DeepSpeed-Chat's pairs stand beside every product of a block, and all weights are trained with them unless it says otherwise.
TEST(TrainerSettle, PairsOfDeepSpeedChat) {
  const auto read = [](const std::string& more) {
    return testing::imported(
        "deepspeed main.py --per_device_train_batch_size 2 --max_seq_len 32 --dtype bf16 --deepspeed --zero_stage 2 " + more + "\n",
        llama_for_yaml(8));
  };
  const ImportedPlan beside = read("--lora_dim 128 --lora_module_name decoder.layers.");
  EXPECT_FALSE(beside.plan.model.adapters);
  EXPECT_THAT(testing::text_of(beside.lost), ::testing::HasSubstr("lora_dim: pairs are trained beside all weights"));
  const ImportedPlan alone = read("--lora_dim 16 --only_optimize_lora");
  ASSERT_TRUE(alone.plan.model.adapters);
  EXPECT_EQ(alone.plan.model.adapters->rank, 16);
  EXPECT_TRUE(alone.plan.model.adapters->has(AdapterTarget::Key) && alone.plan.model.adapters->has(AdapterTarget::Down));
  EXPECT_FALSE(read("--lora_dim 0").plan.model.adapters);
}

// ms-swift's own files under those names: buckets that are not DeepSpeed's, nothing beside the backward.
TEST(TrainerSettle, AStageOfMsSwiftByItsName) {
  const auto read = [](const std::string& stage) {
    return testing::imported(
               "swift sft --model a/b --dataset c --per_device_train_batch_size 1 --max_length 32 --tuner_type full "
               "--torch_dtype bfloat16 --deepspeed " +
                   stage + "\n",
               {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})})
        .plan;
  };
  EXPECT_EQ(read("zero2").zero_stage, 2);
  EXPECT_EQ(read("zero2").bucket_size, Bytes(2 * 200'000'000));
  EXPECT_EQ(read("zero3").persistence_threshold, 10 * testing::tiny_llama().hidden);
  EXPECT_TRUE(read("zero3_offload").offload_parameters && read("zero2_offload").offload_optimizer);
}

// Its --dtype is fp16 where nothing is said.
TEST(TrainerSettle, DefaultsOfDeepSpeedChat) {
  const auto read = [](const std::string& more) {
    return testing::imported("deepspeed main.py --per_device_train_batch_size 2 --max_seq_len 32 --deepspeed --zero_stage 3 " + more + "\n",
                             llama_for_yaml(8))
        .plan;
  };
  EXPECT_EQ(to_text(read("").workload.precision), "fp16");
  EXPECT_EQ(to_text(read("--dtype bf16").workload.precision), "bf16");
  EXPECT_EQ(read("").persistence_threshold, 10'000);
  EXPECT_EQ(read("--offload").persistence_threshold, 0);
}

// Both take bf16 by themselves, where GPU and network have it.
TEST(TrainerSettle, ATypeThatNobodyNames) {
  const auto swift = [](const std::string& more) {
    return testing::imported("swift sft --model a/b --dataset c --max_length 32 --tuner_type full " + more + "\n",
                             {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})});
  };
  EXPECT_EQ(swift("").plan.workload.precision.compute(), Precision::Bf16);
  EXPECT_THAT(testing::text_of(swift("").notes), HasSubstr("taken as bf16"));
  EXPECT_EQ(swift("--torch_dtype float32").plan.workload.precision.compute(), Precision::Fp32);
  EXPECT_EQ(by_axolotl("").plan.workload.precision.compute(), Precision::Bf16);
  EXPECT_EQ(by_axolotl("bf16: false\n").plan.workload.precision.compute(), Precision::Fp32);
}

TEST(TrainerSettle, ARankThatNobodyNamesIsTold) {
  const ImportedPlan read =
      testing::imported("torchrun tune.py --use_peft true --per_device_train_batch_size 1 --max_seq_length 32 --bf16 true\n",
                        {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})});
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("a rank of 16 is taken"));
}

// All products, and matrices beside them that no pair of a plan stands beside.
TEST(TrainerSettle, TargetsBesideAllProductsAreTold) {
  const ImportedPlan read =
      by_axolotl("bf16: true\nadapter: lora\nlora_r: 4\nlora_target_linear: true\nlora_target_modules:\n  - embed_tokens\n  - lm_head\n");
  EXPECT_THAT(to_text(read.plan.model.adapters), HasSubstr("q,k,v,o,gate,up,down"));
  EXPECT_THAT(testing::text_of(read.lost), ::testing::AllOf(HasSubstr("embed_tokens"), HasSubstr("lm_head")));
}

TEST(TrainerSettle, ALengthThatTheFileLeavesOutIsTold) {
  RecipeContext context = llama_for_yaml(8);
  context.model->max_positions = 4096;
  const ImportedPlan read = testing::imported("stage: sft\nfinetuning_type: full\nper_device_train_batch_size: 1\nbf16: true\n", context);
  EXPECT_EQ(read.plan.workload.sequence, 2048);
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("cutoff_len: is not in the file: 2048 tokens"));
}

// All linear layers of a network with experts are more than the plan's pairs.
TEST(TrainerSettle, PairsBesideExpertsAreTold) {
  const std::string text =
      "stage: sft\nfinetuning_type: lora\nlora_target: all\nper_device_train_batch_size: 1\ncutoff_len: 32\nbf16: true\n";
  RecipeContext context = llama_for_yaml(8);
  EXPECT_THAT(testing::imported(text, context).lost, ::testing::IsEmpty());
  context.model = load_model_config("mixtral-8x7b");
  EXPECT_THAT(testing::text_of(testing::imported(text, context).lost), HasSubstr("all linear layers are asked for"));
}

// Its first step by the folder of its script, on data ranks alone.
TEST(TrainerSettle, DeepSpeedChatWithoutAStage) {
  const ImportedPlan read = testing::imported(
      "deepspeed training/step1_supervised_finetuning/main.py --model_name_or_path here --data_path there --per_device_train_batch_size 2 "
      "--deepspeed\n",
      llama_for_yaml(8));
  EXPECT_EQ(to_text(read.plan.workload.precision), "fp16");
  EXPECT_EQ(read.plan.microbatch_size, 2);
  EXPECT_EQ(read.plan.workload.sequence, 512);
}

// Pairs without their switch: some take `lora: true` for one; Axolotl asks for an adapter.
TEST(TrainerSettle, RanksOfPairsWithoutAnAdapter) {
  const std::string file = "sequence_len: 32\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\nbf16: true\nlora_r: 4\n";
  EXPECT_TRUE(testing::imported(file + "lora: true\n", llama_for_yaml(8)).plan.model.adapters);
  const ImportedPlan without = testing::imported(file, llama_for_yaml(8));
  EXPECT_FALSE(without.plan.model.adapters);
  EXPECT_THAT(testing::text_of(without.notes), HasSubstr("lora_r: stands without what asks for pairs"));
}

TEST(TrainerSettle, ATypeThatIsNeitherTrueNorFalseIsTold) {
  const std::string file = "per_device_train_batch_size: 1\nmodel_max_length: 32\nbf16: ";
  EXPECT_THAT(testing::text_of(testing::imported(file + "ours\n", llama_for_yaml(8)).unknown),
              HasSubstr("bf16: is ours, which is neither"));
  EXPECT_THAT(testing::text_of(testing::imported(file + "true\n", llama_for_yaml(8)).unknown), ::testing::Not(HasSubstr("bf16: is")));
}

// LLaMA-Factory's max_length is of texts that it generates.
TEST(TrainerSettle, LlamaFactoryCutsByItsOwnName) {
  const auto with = [](const std::string& more) {
    return testing::imported("stage: sft\nfinetuning_type: full\nper_device_train_batch_size: 1\nbf16: true\nmax_length: 16\n" + more,
                             llama_for_yaml(8));
  };
  EXPECT_EQ(with("").plan.workload.sequence, 2048);
  EXPECT_EQ(with("cutoff_len: 32\n").plan.workload.sequence, 32);
  EXPECT_THAT(testing::text_of(with("").notes), HasSubstr("texts that it generates"));
  const std::string older =
      "deepspeed --num_gpus 8 src/train_bash.py --stage sft --finetuning_type full --per_device_train_batch_size 1 --bf16 --zero_stage 2\n";
  EXPECT_EQ(testing::imported(older, llama_for_yaml(8)).plan.workload.sequence, 1024);
}

TEST(TrainerSettle, ABatchByANameOfItsOwnIsAskedFor) {
  const std::string line = "accelerate launch --num_processes 8 --use_fsdp mine.py --output_dir a --batch_size 4\n";
  EXPECT_THAT(testing::refusal_of(line, llama_for_yaml(8)), HasSubstr("give --microbatch"));
}

TEST(TrainerSettle, StepsOfOtherScriptsOfDeepSpeedChat) {
  const std::string line = "deepspeed --num_gpus 8 main.py --per_device_train_batch_size 4 --max_seq_len 32 --zero_stage 2 --deepspeed ";
  EXPECT_THAT(testing::refusal_of(line + "--num_padding_at_beginning 0\n", llama_for_yaml(8)), HasSubstr("another network, or of pairs"));
  EXPECT_EQ(testing::refusal_of(line + "--teacher_model none\n", llama_for_yaml(8)), "");
}

// ms-swift takes FSDP's ways and settings in one file, or by a name of its own.
TEST(TrainerSettle, AFileOfFsdpOfMsSwift) {
  const std::string file = "fsdp_of_swift.json";
  std::ofstream(testing::recipe_folder() + "/" + file)
      << R"({"fsdp": "full_shard auto_wrap", "fsdp_config": {"fsdp_version": 2, "reshard_after_forward": false}})";
  const std::string line =
      "NPROC_PER_NODE=4 swift sft --model a/b --dataset c --tuner_type full --max_length 32 --torch_dtype bfloat16 "
      "--per_device_train_batch_size 2 --fsdp ";
  const ParallelPlan plan = testing::imported(line + file + "\n", llama_for_yaml(4)).plan;
  EXPECT_EQ(plan.zero_stage, 3);
  EXPECT_FALSE(plan.reshard_after_forward);
  const ParallelPlan named = testing::imported(line + "fsdp2\n", llama_for_yaml(4)).plan;
  EXPECT_EQ(named.zero_stage, 3);
  EXPECT_TRUE(named.reshard_after_forward);
  EXPECT_EQ(named.recompute, Recompute::Full);
}

// `adafactor` goes before `optim`.
TEST(TrainerSettle, AnOptimizerByItsOldName) {
  const std::string line = "torchrun --nproc_per_node 4 run_clm.py --per_device_train_batch_size 2 --block_size 32 --bf16 ";
  EXPECT_EQ(testing::imported(line + "--adafactor\n", llama_for_yaml(4)).plan.workload.optimizer, OptimizerKind::Adafactor);
  EXPECT_EQ(testing::imported(line + "--adafactor False --max_restart 3\n", llama_for_yaml(4)).plan.workload.optimizer,
            OptimizerKind::AdamW);
}

// Accelerate's file says DeepSpeed and no stage: it has one by itself; and what it says of the steps the Trainer asks the line for.
TEST(TrainerSettle, WhatTheFileOfALauncherSaysOfDeepSpeed) {
  const auto with = [](const std::string& section, const std::string& line) {
    std::ofstream(testing::recipe_folder() + "/deep.yaml")
        << "distributed_type: DEEPSPEED\nmixed_precision: bf16\nnum_processes: 4\n" + section;
    return testing::imported(
        "accelerate launch --config_file deep.yaml run_clm.py --per_device_train_batch_size 2 --block_size 32 " + line + "\n",
        llama_for_yaml(4));
  };
  EXPECT_EQ(with("", "").plan.zero_stage, 2);
  EXPECT_EQ(with("deepspeed_config:\n  zero_stage: 1\n", "").plan.zero_stage, 1);
  const std::string section = "deepspeed_config:\n  zero_stage: 1\n  gradient_accumulation_steps: 1\n";
  EXPECT_THAT(testing::text_of(with(section, "--gradient_accumulation_steps 8").unknown),
              ::testing::HasSubstr("is 1 in Accelerate's file, and 8 on the line"));
  EXPECT_THAT(testing::text_of(with(section, "").unknown), ::testing::Not(::testing::HasSubstr("Accelerate's file, and")));
}

// `accelerate launch --use_fsdp` wraps what its policy says: nothing without one.
TEST(TrainerSettle, WhatTheLaunchersFsdpWraps) {
  const auto unit = [](const std::string& policy) {
    return testing::imported("accelerate launch --num_processes 4 --mixed_precision bf16 --use_fsdp " + policy +
                                 " run_clm.py --per_device_train_batch_size 2 --block_size 32 --bf16\n",
                             llama_for_yaml(4))
        .plan.layers_per_unit;
  };
  EXPECT_EQ(unit("--fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP"), 1);
  EXPECT_GT(unit("--fsdp_auto_wrap_policy NO_WRAP"), 1);
  EXPECT_GT(unit(""), 1);
}

}  // namespace
}  // namespace sim
