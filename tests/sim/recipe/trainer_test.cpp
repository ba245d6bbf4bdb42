#include <fstream>

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

RecipeContext llama_for_trainer(std::int32_t devices) {
  return {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices})};
}
constexpr std::string_view kArguments =
    " tune.py --model_name_or_path here/llama --data_path d.json --bf16 True --per_device_train_batch_size 2"
    " --gradient_accumulation_steps 4 --model_max_length 32 --save_steps 100 --learning_rate 2e-5 ";
ImportedPlan tuned(const std::string& before, const std::string& more, std::int32_t devices = 8) {
  return testing::imported(before + std::string(kArguments) + more + "\n", llama_for_trainer(devices));
}

// `train.py run.yaml --deepspeed=ds.json`: HfArgumentParser takes the file, and the options change it.
TEST(Trainer, AFileInFrontOfOptions) {
  std::ofstream(testing::recipe_folder() + "/front.yaml")
      << "model_name_or_path: a/b\nmax_seq_length: 32\nper_device_train_batch_size: 2\nbf16: true\ngradient_checkpointing: true\n";
  std::ofstream(testing::recipe_folder() + "/front.json")
      << "{\"bf16\": {\"enabled\": true}, \"zero_optimization\": {\"stage\": 2}, \"train_micro_batch_size_per_gpu\": \"auto\"}";
  const ImportedPlan read = testing::imported("torchrun --nproc_per_node=4 train.py front.yaml --deepspeed=front.json\n",
                                              {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4})});
  EXPECT_EQ(testing::imported("torchrun --nproc_per_node=4 train.py front.yaml --deepspeed front.json\n",
                              {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4})})
                .plan.zero_stage,
            2);
  EXPECT_EQ(read.plan.zero_stage, 2);
  EXPECT_EQ(read.plan.microbatch_size, 2);
  EXPECT_EQ(read.plan.workload.global_batch, 8);
  EXPECT_EQ(read.plan.recompute, Recompute::Full);
}

TEST(Trainer, ACommandLineOfTorchrun) {
  const ImportedPlan read = tuned("torchrun --nproc_per_node=8 --master_port=20001",
                                  "--fsdp \"full_shard auto_wrap\" --fsdp_transformer_layer_cls_to_wrap 'LlamaDecoderLayer' "
                                  "--gradient_checkpointing True --optim adamw_bnb_8bit --evaluation_strategy \"no\" --weight_decay 0.");
  EXPECT_EQ(read.program, &kTrainer);
  EXPECT_EQ(read.plan.mesh.data, 8);
  EXPECT_EQ(read.plan.zero_stage, 3);
  EXPECT_TRUE(read.plan.reshard_after_forward);
  EXPECT_EQ(read.plan.recompute, Recompute::Full);
  EXPECT_EQ(read.plan.workload.sequence, 32);
  EXPECT_EQ(read.plan.workload.global_batch, 64);
  EXPECT_EQ(read.plan.microbatch_size, 2);
  EXPECT_EQ(read.plan.workload.optimizer, OptimizerKind::AdamW8bit);
  EXPECT_EQ(read.plan.training.learning_rate, 2e-5);
  EXPECT_EQ(to_text(read.plan.workload.precision), "bf16");
  EXPECT_THAT(read.unknown, IsEmpty());
}

TEST(Trainer, LigersKernelsAreThePlans) {
  EXPECT_FALSE(tuned("torchrun --nproc_per_node=8", "").plan.cluster.software.loss_in_pieces);
  const ImportedPlan read = tuned("torchrun --nproc_per_node=8", "--use_liger_kernel True");
  EXPECT_TRUE(read.plan.cluster.software.loss_in_pieces);
  EXPECT_TRUE(read.plan.cluster.software.fused_norm);
  EXPECT_THAT(read.lost, IsEmpty());
}

TEST(Trainer, APluginThatNobodyKnowsIsTold) {
  const std::string axolotl = "base_model: here/llama\nsequence_len: 32\nmicro_batch_size: 1\nplugins:\n";
  const ImportedPlan own = testing::imported(axolotl + "  - mine.Sparse\n", llama_for_trainer(8));
  ASSERT_FALSE(own.lost.empty());
  EXPECT_THAT(own.lost.front().problem, HasSubstr("mine.Sparse"));
  EXPECT_THAT(testing::imported(axolotl + "  - axolotl.integrations.liger.LigerPlugin\n", llama_for_trainer(8)).lost, IsEmpty());
}

TEST(Trainer, AScriptOfTrlHasItsDefaults) {
  const std::string line =
      "accelerate launch --num_processes=8 trl/examples/scripts/sft.py --model_name_or_path here --per_device_train_batch_size 1 ";
  const ImportedPlan read = testing::imported(line + "--max_length 32\n", llama_for_trainer(8));
  EXPECT_EQ(read.plan.recompute, Recompute::Full);
  EXPECT_EQ(read.plan.workload.precision.compute(), Precision::Bf16);
  EXPECT_EQ(testing::imported(line + "--max_length 32 --gradient_checkpointing False\n", llama_for_trainer(8)).plan.recompute,
            Recompute::None);
}

// Of what is on by itself the parser makes a second option, which switches it off.
TEST(Trainer, ASwitchOfWhatIsOn) {
  const std::string line = "trl sft --model_name_or_path here --per_device_train_batch_size 1 --max_length 32 --num_processes 8 ";
  for (const std::string off : {"--no_gradient_checkpointing", "--no-gradient-checkpointing"}) {
    const ImportedPlan read = testing::imported(line + off + "\n", llama_for_trainer(8));
    EXPECT_EQ(read.plan.recompute, Recompute::None) << off;
    EXPECT_THAT(testing::text_of(read.notes), ::testing::Not(HasSubstr("gradient_checkpointing"))) << off;
  }
  EXPECT_THAT(testing::text_of(testing::imported(line + "--no_new_thing\n", llama_for_trainer(8)).unknown), HasSubstr("no_new_thing"));
}

TEST(Trainer, ACommandOfTrlWithAFile) {
  std::ofstream(testing::recipe_folder() + "/sft.yaml") << "per_device_train_batch_size: 2\nmax_length: 32\nuse_peft: true\n";
  const ImportedPlan read = testing::imported("trl sft --config sft.yaml\n", llama_for_trainer(8));
  EXPECT_EQ(read.program, &kTrainer);
  EXPECT_EQ(read.plan.microbatch_size, 2);
  EXPECT_EQ(read.plan.recompute, Recompute::Full);
  EXPECT_TRUE(read.plan.model.adapters.has_value());
}

TEST(Trainer, CheckpointingByAnOlderName) {
  EXPECT_EQ(tuned("torchrun --nproc_per_node=8", "--use_gradient_checkpointing").plan.recompute, Recompute::Full);
}

TEST(Trainer, InputsOfBlocksOnTheHost) {
  const auto read = [](const std::string& value) { return tuned("torchrun --nproc_per_node=8", "--gradient_checkpointing " + value); };
  EXPECT_TRUE(read("offload").plan.offload_activations && read("offload").plan.recompute == Recompute::Full);
  EXPECT_FALSE(read("true").plan.offload_activations);
  EXPECT_THAT(testing::text_of(read("offload_disk").lost), HasSubstr("on a drive"));
  EXPECT_TRUE(read("true --activation_offloading true").plan.offload_activations) << "autograd saves the inputs alone";
  EXPECT_THAT(testing::text_of(read("false --activation_offloading true").lost), HasSubstr("sends all that blocks save"));
}

TEST(Trainer, DashesAreUnderscores) {
  const ImportedPlan read = testing::imported(
      "torchrun --nproc-per-node 4 tune.py --per-device-train-batch-size 2 --block-size 32 --fp16\n", llama_for_trainer(4));
  EXPECT_EQ(read.plan.microbatch_size, 2);
  EXPECT_EQ(read.plan.workload.global_batch, 8);
  EXPECT_EQ(read.plan.workload.precision.compute(), Precision::Fp16);
}

TEST(Trainer, AFileOfDeepSpeedBesideItIsRead) {
  std::ofstream(testing::recipe_folder() + "/ds_three.json")
      << R"({"train_micro_batch_size_per_gpu": "auto", "bf16": {"enabled": "auto"}, "optimizer": {"type": "AdamW", "params": {"lr": "auto"}},)"
      << R"("zero_optimization": {"stage": 3, "reduce_bucket_size": "auto", "offload_optimizer": {"device": "cpu"}}})";
  const ParallelPlan plan = tuned("deepspeed --num_gpus 8", "--deepspeed configs/ds_three.json").plan;
  EXPECT_EQ(plan.zero_stage, 3);
  EXPECT_TRUE(plan.offload_optimizer);
  EXPECT_EQ(plan.accumulation, Accumulation::ReduceEach);
  EXPECT_EQ(to_text(plan.workload.precision), "bf16");
  EXPECT_EQ(plan.bucket_size, plan.bytes(Numbers::Gradients) * (plan.model.hidden * plan.model.hidden));
  EXPECT_EQ(plan.training.learning_rate, 2e-5);
}

TEST(Trainer, AFileThatIsNotThereIsNamed) {
  const auto refusal = [](const std::string& more) {
    return testing::refusal_of("deepspeed" + std::string(kArguments) + more + "\n", llama_for_trainer(8));
  };
  EXPECT_THAT(refusal("--deepspeed configs/none.json"), AllOf(HasSubstr("configs/none.json"), HasSubstr("copy it there as none.json")));
  EXPECT_THAT(refusal("--deepspeed $CONFIG"), HasSubstr("--set CONFIG="));
}

// What both say must be the same: the Trainer asks, too.
TEST(Trainer, TwoFilesThatContradictAreRefused) {
  std::ofstream(testing::recipe_folder() + "/ds_other.json")
      << R"({"train_micro_batch_size_per_gpu": 8, "fp16": {"enabled": true}, "zero_optimization": {"stage": 2}})";
  EXPECT_THAT(testing::refusal_of("deepspeed" + std::string(kArguments) + "--deepspeed ds_other.json\n", llama_for_trainer(8)),
              AllOf(HasSubstr("train_micro_batch_size_per_gpu"), HasSubstr("bf16.enabled")));
}

TEST(Trainer, AFileOfAccelerateBesideItIsRead) {
  std::ofstream(testing::recipe_folder() + "/zero_two.yaml")
      << "distributed_type: DEEPSPEED\nnum_processes: 8\nmixed_precision: bf16\ndeepspeed_config:\n  zero_stage: 2\n";
  const ImportedPlan read =
      tuned("accelerate launch --config_file zero_two.yaml --num_processes 4", "--gradient_checkpointing False --optim adamw_torch", 4);
  EXPECT_EQ(read.plan.zero_stage, 2);
  EXPECT_EQ(read.plan.mesh.data, 4);  // the command line's
  EXPECT_EQ(read.plan.num_microbatches(), 4);
  EXPECT_THAT(read.unknown, IsEmpty());
}

// As TRL's scripts are started: who starts it, and a recipe; arguments of the line go above it.
TEST(Trainer, ARecipeBehindTheLauncher) {
  std::ofstream(testing::recipe_folder() + "/tuned.yaml")
      << "torch_dtype: bfloat16\nbf16: true\nper_device_train_batch_size: 2\ngradient_accumulation_steps: 4\nmax_seq_length: 32\n";
  const ParallelPlan plan = testing::imported(
                                "accelerate launch --use_fsdp --num_processes 8 scripts/sft.py --config recipes/tuned.yaml "
                                "--gradient_accumulation_steps 2\n",
                                llama_for_trainer(8))
                                .plan;
  EXPECT_EQ(plan.workload.global_batch, 32);
  EXPECT_EQ(plan.workload.sequence, 32);
  EXPECT_EQ(plan.zero_stage, 3);
}

TEST(Trainer, ACommandInAComment) {
  EXPECT_EQ(testing::imported("# accelerate launch --config_file a.yaml tune.py --per_device_train_batch_size 7\n"
                              "per_device_train_batch_size: 2\nmax_length: 32\n",
                              llama_for_trainer(8))
                .plan.microbatch_size,
            2);
}

TEST(Trainer, DevicesByName) {
  EXPECT_EQ(tuned("deepspeed --include localhost:0,1,2,3", "--deepspeed zero1", 4).plan.mesh.data, 4);
  EXPECT_THAT(testing::refusal_of("deepspeed --include localhost:0,1" + std::string(kArguments) + "\n", llama_for_trainer(8)),
              HasSubstr("starts 2 processes"));
}

TEST(Trainer, WhatItDoesNotKnowIsTold) {
  const ImportedPlan read = tuned("torchrun --nproc_per_node=8", "--new_option 3 --liger_rope --optim galore_adamw_layerwise");
  EXPECT_THAT(testing::text_of(read.unknown), AllOf(HasSubstr("new_option"), HasSubstr("plain data parallel"), HasSubstr("torch_dtype")));
  EXPECT_THAT(testing::text_of(read.lost), AllOf(HasSubstr("liger_rope"), HasSubstr("galore")));
}

// Its layout is a file of DeepSpeed or Accelerate.
TEST(Trainer, IsReadAndNotWritten) {
  EXPECT_EQ(find_program("trainer"), nullptr);
  EXPECT_EQ(testing::refused_by(kTrainer, testing::gpu_plan({.data = 8})),
            testing::refused_by(kAccelerate, testing::gpu_plan({.data = 8})));
  EXPECT_THAT(testing::refused_by(kTrainer, testing::gpu_plan({.data = 4, .pipeline = 2})), HasSubstr("/mesh/pipeline"));
  ParallelPlan selective = testing::gpu_plan({.data = 8});
  selective.recompute = Recompute::Selective;
  EXPECT_THAT(testing::refused_by(kTrainer, selective), HasSubstr("/recompute"));
}

// ms-swift recomputes and trains adapters unless it is told otherwise, and fills a step up to 16 samples.
TEST(Trainer, ItsDefaultsInMsSwift) {
  const auto read = [](const std::string& more) {
    return testing::imported(
        "NPROC_PER_NODE=4 swift sft --model a/b --dataset c --max_length 32 --torch_dtype bfloat16 "
        "--per_device_train_batch_size 1 --attn_impl flash_attn " +
            more,
        llama_for_trainer(4));
  };
  const ParallelPlan plan = read("--train_type full").plan;
  EXPECT_EQ(plan.recompute, Recompute::Full);
  EXPECT_EQ(plan.workload.global_batch, 16);
  EXPECT_FALSE(plan.model.adapters.has_value());
  EXPECT_EQ(read("--train_type full --gradient_checkpointing false").plan.recompute, Recompute::None);
  const ParallelPlan usual = read("").plan;
  ASSERT_TRUE(usual.model.adapters.has_value());
  EXPECT_EQ(usual.model.adapters->rank, 8);
}

TEST(Trainer, AFusedOptimizerWritesNoRoots) {
  const std::string launched = "torchrun --nproc_per_node=8";
  EXPECT_TRUE(tuned(launched, "--optim adamw_torch").plan.cluster.software.steps_by_lists);
  EXPECT_FALSE(tuned(launched, "--optim adamw_torch_fused").plan.cluster.software.steps_by_lists);
  EXPECT_TRUE(tuned(launched, "--optim paged_adamw_32bit").plan.paged_optimizer);  // of bitsandbytes
  EXPECT_FALSE(tuned(launched, "--optim adamw_bnb_8bit").plan.paged_optimizer);
}

// LOMO's steps stand in its backward, which clips nothing and takes one microbatch.
TEST(Trainer, LomoStepsInTheBackward) {
  const std::string launched = "torchrun --nproc_per_node=8";
  const ParallelPlan plan = tuned(launched, "--optim lomo --gradient_accumulation_steps 1").plan;
  EXPECT_TRUE(plan.optimizer_in_backward);
  EXPECT_EQ(plan.workload.optimizer, OptimizerKind::Sgd);
  EXPECT_TRUE(plan.cluster.software.plain_optimizer);
  EXPECT_EQ(plan.training.gradient_clip, 0);
  EXPECT_EQ(tuned(launched, "--optim adalomo --gradient_accumulation_steps 1").plan.workload.optimizer, OptimizerKind::Adafactor);
  EXPECT_FALSE(tuned(launched, "--optim adamw_torch").plan.optimizer_in_backward);
  EXPECT_THAT(
      testing::refusal_of(launched + std::string(kArguments) + " --optim lomo --gradient_accumulation_steps 2\n", llama_for_trainer(8)),
      HasSubstr("2 backwards of a step"));
}

// A file of names and values, whatever stands in its comments and texts.
TEST(Trainer, DashesInTextsMakeNoScript) {
  EXPECT_EQ(testing::imported("# accelerate launch x.py --config this.yaml\nnote: a -- b\nper_device_train_batch_size: 2\nmax_length: 32\n",
                              llama_for_trainer(4))
                .plan.microbatch_size,
            2);
}

// LLaMA-Factory and Axolotl: the recipe is no option's value.
TEST(Trainer, ARecipeAsABareWord) {
  const std::string folder = testing::recipe_folder();
  std::ofstream(folder + "/layout.yaml")
      << "distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\nmixed_precision: bf16\nnum_processes: 4\n";
  std::ofstream(folder + "/bare.yaml") << "per_device_train_batch_size: 3\ngradient_accumulation_steps: 2\ncutoff_len: 32\nbf16: true\n";
  const ParallelPlan plan =
      testing::imported("accelerate launch --config_file cfg/layout.yaml src/train.py cfg/bare.yaml\n", llama_for_trainer(4)).plan;
  EXPECT_EQ(plan.microbatch_size, 3);
  EXPECT_EQ(plan.zero_stage, 3);
  EXPECT_EQ(plan.workload.global_batch, 24);
}

TEST(Trainer, ItsSecondTrainerInLlamaFactory) {
  const ParallelPlan plan = testing::imported(
                                "model: some/where\nmodel_class: llm\ndist_config:\n  name: fsdp2\n  cp_mode: ulysses\n  cp_size: 2\n"
                                "micro_batch_size: 2\nglobal_batch_size: 8\ncutoff_len: 32\nenable_activation_checkpointing: false\n",
                                llama_for_trainer(4))
                                .plan;
  EXPECT_EQ(plan.mesh, (DeviceMesh{.data = 2, .context = 2}));
  EXPECT_EQ(plan.context_algorithm, ContextAlgorithm::AllToAll);
  EXPECT_EQ(plan.zero_stage, 3);
  EXPECT_EQ(plan.num_microbatches(), 2);
  EXPECT_EQ(plan.recompute, Recompute::None);
  EXPECT_EQ(plan.workload.precision.compute(), Precision::Bf16);
}

TEST(Trainer, ProductsInEightBit) {
  const std::string text = "per_device_train_batch_size: 2\nmax_length: 32\nbf16: true\nfsdp: full_shard auto_wrap\nfp8: true\n";
  const ParallelPlan plan =
      testing::imported(text + "fp8_backend: torchao\nfp8_enable_fsdp_float8_all_gather: true\n", llama_for_trainer(4)).plan;
  EXPECT_EQ(plan.workload.precision.scales(), ScaleRecipe::Tensorwise);
  EXPECT_TRUE(plan.workload.precision.gathers_scaled());
  EXPECT_EQ(testing::imported(text + "fp8_backend: te\n", llama_for_trainer(4)).plan.workload.precision.scales(), ScaleRecipe::Delayed);
}

TEST(Trainer, ExpertsOverRanksAndMuon) {
  RecipeContext context = llama_for_trainer(4);
  context.model = load_model_config("mixtral-8x7b");
  const ParallelPlan plan =
      testing::imported("sequence_len: 32\nmicro_batch_size: 1\nexpert_parallel_size: 4\nuse_muon: true\nbf16: true\n", context).plan;
  EXPECT_EQ(plan.mesh.expert, 4);
  EXPECT_EQ(plan.workload.optimizer, OptimizerKind::Muon);
}

// Files of release 2 of ms-swift: those of later ones, but for an overlap.
TEST(Trainer, OlderNamesOfItsFilesHaveTheirBuckets) {
  const std::string line =
      "swift sft --dataset c --sft_type full --batch_size 2 --max_length 32 --dtype bf16 --gradient_accumulation_steps 4 --deepspeed ";
  const auto read = [&](const std::string& file) { return testing::imported(line + file + "\n", llama_for_trainer(4)).plan; };
  EXPECT_EQ(read("default-zero2").bucket_size, read("zero2").bucket_size);
  EXPECT_EQ(read("default-zero2").bucket_size, Bytes(400'000'000));
  EXPECT_TRUE(read("default-zero2").cluster.software.overlap_reduce);
  EXPECT_FALSE(read("zero2").cluster.software.overlap_reduce);
  EXPECT_EQ(read("default-zero3").persistence_threshold, read("zero3").persistence_threshold);
}

// A pretraining of LLaMA-Factory cuts its texts into rows of one length; it is not told that samples may be shorter.
TEST(Trainer, RowsOfAPretrainingAreFull) {
  const std::string file =
      "model_name_or_path: a/b\nfinetuning_type: full\ncutoff_len: 32\nper_device_train_batch_size: 1\nbf16: true\nstage: ";
  const auto notes = [&](const std::string& more) { return testing::text_of(testing::imported(file + more, llama_for_trainer(1)).notes); };
  EXPECT_THAT(notes("sft\n"), HasSubstr("packing: is off"));
  EXPECT_THAT(notes("pt\n"), Not(HasSubstr("packing: is off")));
  EXPECT_THAT(notes("pt\npacking: false\n"), HasSubstr("packing: is off"));
}

// Before its second release ms-swift called the samples of a device a batch, and had other names for DeepSpeed's files.
TEST(Trainer, OlderNamesOfMsSwift) {
  const std::string more = "--sft_type full --batch_size 2 --max_length 32 --gradient_accumulation_steps $(expr 32 / 4 / 2) --dtype AUTO ";
  for (const std::string begin : {"swift sft --dataset c ", "python src/llm_sft.py --dataset c "}) {
    const ParallelPlan plan = testing::imported(begin + more + "--deepspeed default-zero3\n", llama_for_trainer(4)).plan;
    EXPECT_EQ(plan.microbatch_size, 2);
    EXPECT_EQ(plan.num_microbatches(), 4);
    EXPECT_EQ(plan.zero_stage, 3);
    EXPECT_EQ(plan.workload.precision.compute(), Precision::Bf16);
  }
  EXPECT_TRUE(
      testing::imported("swift sft --dataset c " + more + "--deepspeed zero3_offload\n", llama_for_trainer(4)).plan.offload_parameters);
}

TEST(Trainer, ABatchOfAnotherProgramIsTold) {
  const ImportedPlan read = testing::imported(
      "torchrun train.py --per_device_train_batch_size 2 --max_length 32 --batch_size 64 --bf16 --fsdp full_shard\n", llama_for_trainer(4));
  EXPECT_THAT(testing::text_of(read.lost), HasSubstr("batch_size: 64"));
}

std::string with_file_beside(const std::string& name, const std::string& text) {
  std::ofstream(testing::recipe_folder() + "/" + name) << text;
  return name;
}

// LLaMA-Factory: what stands behind the file is above it, and a layout that is taken away is none.
TEST(Trainer, ChangesBehindAFile) {
  const std::string file = with_file_beside("changed.yaml",
                                            "stage: sft\nfinetuning_type: full\ndeepspeed: nowhere/zero3.json\ncutoff_len: 32\n"
                                            "per_device_train_batch_size: 1\ngradient_accumulation_steps: 2\nbf16: true\n");
  const std::string line = "llamafactory-cli train " + file + " report_to=wandb per_device_train_batch_size=4 deepspeed=null\n";
  const ParallelPlan plan = testing::imported(line, llama_for_trainer(4)).plan;
  EXPECT_EQ(plan.microbatch_size, 4);
  EXPECT_EQ(plan.num_microbatches(), 2);
  EXPECT_EQ(plan.zero_stage, 0);
}

TEST(Trainer, AFileBehindTheScriptOfLlamaFactory) {
  const std::string file =
      with_file_beside("lora.yaml", "stage: sft\nfinetuning_type: lora\ncutoff_len: 32\nper_device_train_batch_size: 2\n");
  const ImportedPlan read =
      testing::imported("python -m torch.distributed.run --nproc_per_node 4 src/train.py " + file + "\n", llama_for_trainer(4));
  EXPECT_EQ(read.plan.microbatch_size, 2);
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("all linear layers are taken"));
}

// Of a container, behind a command that fetches: the one that names a file is the training.
TEST(Trainer, AFileThatIsNamedInsideAContainer) {
  const std::string file = with_file_beside("run.yaml", "base_model: a\nsequence_len: 32\nmicro_batch_size: 2\nbf16: true\n");
  const std::string job =
      "resources:\n  accelerators: L4:1\nrun: |\n  docker run --gpus all image huggingface-cli login --token ${T}\n"
      "  docker run --gpus all -v a:b image accelerate launch -m axolotl.cli.train /work/" +
      file + "\n";
  EXPECT_EQ(testing::imported(job, llama_for_trainer(1)).plan.microbatch_size, 2);
}

// The type of whoever starts it, where the Trainer has none of its own.
TEST(Trainer, TheTypeOfAcceleratesFile) {
  const std::string file = with_file_beside("fsdp.yaml",
                                            "distributed_type: FSDP\nmixed_precision: fp16\nnum_processes: 4\nfsdp_config:\n"
                                            "  fsdp_sharding_strategy: FULL_SHARD\n");
  const std::string line = "accelerate launch --config_file " + file + " train.py --per_device_train_batch_size 2 --max_length 32";
  EXPECT_EQ(testing::imported(line + "\n", llama_for_trainer(4)).plan.workload.precision.compute(), Precision::Fp16);
  EXPECT_EQ(testing::imported(line + " --bf16\n", llama_for_trainer(4)).plan.workload.precision.compute(), Precision::Bf16);
}

// A program of its own behind a layout: its batch is asked for, not taken.
TEST(Trainer, ALayoutWithoutAnySize) {
  const std::string file = with_file_beside("own.yaml",
                                            "distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 4\nfsdp_config:\n"
                                            "  fsdp_sharding_strategy: FULL_SHARD\n");
  const std::string line = "accelerate launch --config_file " + file + " train.py --model_id a\n";
  RecipeContext context = llama_for_trainer(4);
  context.microbatch = 0;
  EXPECT_THAT(testing::refusal_of(line, context), HasSubstr("give --microbatch, --global-batch and --sequence"));
  context.microbatch = 2, context.global_batch = 16, context.sequence = 32;
  const ParallelPlan plan = testing::imported(line, context).plan;
  EXPECT_EQ(plan.zero_stage, 3);
  EXPECT_EQ(plan.num_microbatches(), 2);
}

TEST(Trainer, ABatchThatIsLeftOutIsTold) {
  const ImportedPlan read =
      testing::imported("torchrun a.py --gradient_accumulation_steps 2 --max_length 32 --use_deepspeed --bf16\n", llama_for_trainer(4));
  EXPECT_EQ(read.plan.microbatch_size, 8);
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("per_device_train_batch_size: is not in the file: 8 is taken"));
}

// What changes time or memory, and no plan says: none of it is without effect.
TEST(Trainer, WordsThatMatterAreTold) {
  for (const std::string more : {"--config_overrides n_layer=48", "--device_map auto", "--fsdp_min_num_params 1000", "--lora_bias all",
                                 "--quant_config bnb", "--batching_strategy padding_free"})
    EXPECT_THAT(tuned("torchrun --nproc_per_node=8", more).lost, ::testing::SizeIs(1)) << more;
  EXPECT_THAT(tuned("torchrun --nproc_per_node=8", "--device_map cuda:0 --lora_bias none").lost, IsEmpty());
}

TEST(Trainer, RanksThatShareASequence) {
  const ParallelPlan plan = tuned("torchrun --nproc_per_node=8", "--sequence_parallel_size 2").plan;
  EXPECT_EQ(plan.mesh.context, 2);
  EXPECT_EQ(plan.mesh.data, 4);
  EXPECT_EQ(plan.context_algorithm, ContextAlgorithm::AllToAll);
  EXPECT_EQ(tuned("torchrun --nproc_per_node=8", "--sp_size 2 --sequence_parallel_mode zigzag-ring").plan.context_algorithm,
            ContextAlgorithm::Ring);
}

// HfArgumentParser takes its arguments as a file, too.
TEST(Trainer, ArgumentsAsJson) {
  const std::string file =
      R"({"model_name_or_path": "a/b", "per_device_train_batch_size": 2, "max_seq_length": 32, "bf16": true, "optim": "adafactor"})";
  const ParallelPlan plan = testing::imported(file, llama_for_trainer(8)).plan;
  EXPECT_EQ(plan.microbatch_size, 2);
  EXPECT_EQ(plan.workload.optimizer, OptimizerKind::Adafactor);
}

// By which names programs of their own call a length, adapters and their products.
TEST(Trainer, NamesOfProgramsOfTheirOwn) {
  const std::string line =
      "deepspeed --num_gpus 8 own.py --per_device_train_batch_size 1 --bf16 --seq_length=32 --peft lora --lora_r 4 --lora_alpha 4 ";
  const ImportedPlan read = testing::imported(line + "--lora_module_name o_proj --load_in_bits 8\n", llama_for_trainer(8));
  EXPECT_EQ(read.plan.workload.sequence, 32);
  ASSERT_TRUE(read.plan.model.adapters);
  EXPECT_EQ(*read.plan.model.adapters, (Adapters{.rank = 4, .base = BaseFormat::Int8}.on(AdapterTarget::Output)));
  EXPECT_EQ(tuned("torchrun --nproc_per_node=8", "--tp 2").plan.mesh.tensor, 2);
}

TEST(Trainer, ABatchByANameOfItsOwnIsAskedFor) {
  RecipeContext context = llama_for_trainer(8);
  const std::string line = "accelerate launch --num_processes 8 --use_deepspeed own.py --train_bsz_per_gpu 1 --max_seq_len 32 --bf16\n";
  EXPECT_THAT(testing::refusal_of(line, context), HasSubstr("give --microbatch, --global-batch and --sequence"));
}

TEST(Trainer, CompiledKernelsOfWhoeverStartsItAreTold) {
  const auto lost = [](const std::string& backend) {
    return tuned("accelerate launch --num_processes 8 --dynamo_backend " + backend, "").lost;
  };
  EXPECT_THAT(lost("inductor"), ::testing::SizeIs(1));
  EXPECT_THAT(lost("no"), IsEmpty());
}

TEST(Trainer, FsdpWithoutAutoWrapHasOneUnit) {
  const auto unit_of = [](const std::string& fsdp) {
    return testing::imported("torchrun train.py --per_device_train_batch_size 2 --max_length 32 --bf16 True " + fsdp + "\n",
                             llama_for_trainer(4))
        .plan.layers_per_unit;
  };
  const auto layers = static_cast<std::int32_t>(testing::tiny_llama().layers);
  EXPECT_EQ(unit_of("--fsdp full_shard"), layers);
  EXPECT_EQ(unit_of("--fsdp \"full_shard auto_wrap\""), 1);
  EXPECT_EQ(unit_of("--fsdp full_shard --fsdp_transformer_layer_cls_to_wrap LlamaDecoderLayer"), 1);
  EXPECT_EQ(unit_of("--fsdp true"), 1);
}

// ms-swift by its module: the same names and defaults.
TEST(Trainer, ModulesOfMsSwift) {
  const char* more = " --model a/b --dataset c --max_length 32 --torch_dtype bfloat16 --per_device_train_batch_size 1 --deepspeed zero2\n";
  for (const std::string begin : {"swift sft", "deepspeed --module swift.cli.sft", "torchrun --nproc_per_node 4 swift/cli/sft.py"}) {
    const ParallelPlan plan = testing::imported(begin + more, llama_for_trainer(4)).plan;
    EXPECT_EQ(plan.bucket_size, Bytes(2 * 200'000'000)) << begin;
    ASSERT_TRUE(plan.model.adapters.has_value());
    EXPECT_EQ(plan.model.adapters->dropout, 0.05);
  }
}

TEST(Trainer, TasksOfPairsAndClasses) {
  const std::string line =
      "swift sft --model a/b --dataset c --max_length 32 --torch_dtype bfloat16 --per_device_train_batch_size 1 --task_type ";
  for (const char* task : {"embedding", "generative_reranker"})
    EXPECT_THAT(testing::refusal_of(line + task + "\n", llama_for_trainer(4)), HasSubstr("pairs or lists of texts"));
  EXPECT_THAT(testing::text_of(testing::imported(line + "seq_cls\n", llama_for_trainer(4)).lost), HasSubstr("a head of classes"));
}

}  // namespace
}  // namespace sim
