#include <fstream>

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

TEST(ImportRecipe, KnowsEachByWhatStandsInIt) {
  ParallelPlan plan = testing::gpu_plan({.data = 8});
  for (const Program* program : all_programs()) {
    plan.zero_stage = program == &kNanotron ? 1 : 3;
    plan.model = program == &kFairseq ? testing::tiny_gpt2() : testing::tiny_llama();
    if (program == &kFairseq) plan.workload.precision = Precision::Fp16;
    EXPECT_TRUE(program->marks.empty() || program_of(testing::main_text(*program, plan)) == program) << program->name;
  }
  EXPECT_EQ(program_of("{\"model_type\": \"gpt2\"}"), nullptr);
}

TEST(ImportRecipe, OtherFilesAreRefusedByName) {
  EXPECT_THAT(testing::refusal_of("some words", testing::context_of(testing::gpu_plan({.data = 8}))),
              HasSubstr("is no configuration of Megatron-LM, Megatron-Bridge, NeMo 2, DeepSpeed, Accelerate, torchtitan, nanotron"));
  EXPECT_THAT(testing::refusal_of("distributed_type: " + std::string(2 << 20, 'x'), testing::context_of(testing::gpu_plan({.data = 8}))),
              HasSubstr("no configuration is longer"));
}

TEST(ImportRecipe, AScriptThatGeneratesTrainsNothing) {
  const std::string options = " --tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --bf16\n";
  const RecipeContext context = testing::context_of(testing::gpu_plan({.data = 8}));
  for (const std::string script : {"tools/run_text_generation_server.py", "inference.py", "generate_samples_gpt.py", "run_generation.py",
                                   "evaluation.py", "tasks/evaluate_gpt.py", "-m mine.generate",
                                   "-m torch.distributed.run mine/inference.py", "validate_weights.py", "tools/verify_logits.py"})
    EXPECT_THAT(testing::refusal_of("torchrun --nproc_per_node 8 " + script + options, context), HasSubstr("which trains nothing"));
  for (const std::string script : {"train_for_inference.py", "generate_rationales_sft.py", "sft_for_inference.py", "train_and_verify_.py",
                                   "-m mine.pretrain inference.py"})
    EXPECT_EQ(testing::imported("torchrun --nproc_per_node 8 " + script + options, context).program, &kMegatron) << script;
}

// The Trainer's arguments, and a step of pairs, of a second network, or of what it writes itself.
TEST(ImportRecipe, AScriptOfAnotherStepIsRefused) {
  const std::string options = " --per_device_train_batch_size 2 --max_length 32 --bf16 True\n";
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  for (const std::string script : {"mine/dpo_train.py", "grpo_clip.py", "train-ppo.py", "dpo/tune.py", "-m mine_rlhf.tune"})
    EXPECT_THAT(testing::refusal_of("torchrun --nproc_per_node 8 " + script + options, context), HasSubstr("with other passes"));
  for (const std::string script : {"tune_dpotrion.py", "sft_before_dpo.py", "dpo/sft/tune.py"})
    EXPECT_EQ(testing::imported("torchrun --nproc_per_node 8 " + script + options, context).program, &kTrainer) << script;
  EXPECT_THAT(testing::refusal_of("deepspeed dpo_training.py --tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 8 "
                                  "--seq-length 32 --bf16\n",
                                  context),
              HasSubstr("with other passes"));
  EXPECT_THAT(testing::refusal_of("torchrun --nproc-per-node 8 -m mine.pretrain_mimo --tensor-model-parallel-size 2 --micro-batch-size 1 "
                                  "--global-batch-size 8 --seq-length 32 --bf16\n",
                                  context),
              HasSubstr("a network of images"));
}

TEST(ImportRecipe, AFileOfHydraHasItsEndingOnce) {
  const RecipeContext context = testing::context_of(testing::gpu_plan({.data = 8}));
  for (const std::string name : {"tune", "tune.yaml"})
    EXPECT_THAT(testing::refusal_of("torchrun --nproc_per_node=8 mine.py --config-name=" + name + " size=4\n", context),
                HasSubstr("names tune.yaml of Hydra"));
}

// Nothing of the Trainer stands there but what evaluates.
TEST(ImportRecipe, AnEvaluationIsNamed) {
  const RecipeContext context = testing::context_of(testing::gpu_plan({.data = 8}));
  const std::string line = "python run_clm.py --model_name_or_path a/b --do_eval --output_dir c";
  EXPECT_THAT(testing::refusal_of(line + "\n", context), HasSubstr("evaluates, and trains nothing"));
  EXPECT_THAT(testing::refusal_of(line + " --do_train\n", context), ::testing::Not(HasSubstr("trains nothing")));
}

TEST(ImportRecipe, TheFineTuningOfNemo1IsNamed) {
  const RecipeContext context = testing::context_of(testing::gpu_plan({.data = 8}));
  EXPECT_THAT(testing::refusal_of("torchrun --nproc_per_node=8 megatron_gpt_finetuning.py trainer.devices=8 "
                                  "model.tensor_model_parallel_size=2 model.micro_batch_size=1 model.peft.peft_scheme=lora\n",
                                  context),
              HasSubstr("is of NeMo 1's fine-tuning"));
}

TEST(ImportRecipe, AnotherMachineIsRefused) {
  const std::string line = "python tune.py --per_device_train_batch_size 2 --max_length 32 --bf16 True\n";
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  EXPECT_THAT(testing::refusal_of("export PJRT_DEVICE=TPU\n" + line, context), HasSubstr("is TPU: XLA on another machine"));
  EXPECT_EQ(testing::imported("export PJRT_DEVICE=CUDA\n" + line, context).program, &kTrainer);
  EXPECT_THAT(testing::refusal_of("if [ $BY_XLA -eq 1 ]; then export PJRT_DEVICE=TPU; fi\n" + line, context),
              HasSubstr("--set BY_XLA=value"));
  EXPECT_THAT(testing::refusal_of("export NEURON_RT_EXEC_TIMEOUT=10\n" + line, context), HasSubstr("Neuron's XLA on another machine"));
}

TEST(ImportRecipe, AScriptThatWritesAFileAndStartsNothing) {
  const RecipeContext context = testing::context_of(testing::gpu_plan({.data = 8}));
  EXPECT_THAT(testing::refusal_of("pip install accelerate\ncat <<'YAML' > one.yaml\ndistributed_type: FSDP\nnum_processes: 1\n"
                                  "fsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\nYAML\necho \"accelerate launch "
                                  "--config_file=one.yaml tune.py\"\n",
                                  context),
              HasSubstr("writes one.yaml, and starts nothing that reads it"));
}

TEST(ImportRecipe, PythonIsNoScriptOfCommands) {
  const RecipeContext context = testing::context_of(testing::gpu_plan({.data = 8}));
  std::string text = "from accelerate import Accelerator, DeepSpeedPlugin\nimport torch\n";
  for (int layer = 0; layer < 40; ++layer) text += "class Net(torch.nn.Module):\n    def f(self, x):\n        return (((x)))\n";
  text += "plugin = DeepSpeedPlugin(zero_stage=2)\naccelerator = Accelerator(deepspeed_plugin=plugin)\n";
  EXPECT_THAT(testing::refusal_of(text, context), HasSubstr("is Python, and what it gives its program stands in its code"));
}

TEST(ImportRecipe, AMissingOrderIsTold) {
  EXPECT_THAT(testing::refusal_of(
                  "pipeline_parallel_degree = 2\npipeline_parallel_schedule = \"PipelineScheduleSingle\"\npipeline_parallel_schedule_csv = "
                  "\"/dev/none.csv\"\nseq_len = 32\nlocal_batch_size = 8\n",
                  {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{2})}),
              HasSubstr("none.csv"));
}

// The program whose command is followed, of several that a script may start.
TEST(ImportRecipe, AScriptOfTwoProgramsIsOfTheOneThatItStarts) {
  const std::string text =
      "if [ \"$BACKEND\" = big ]; then\n  megatron sft --tensor_model_parallel_size 2 --micro_batch_size 1 --global_batch_size 8 "
      "--seq_length 32\n"
      "else\n  swift sft --per_device_train_batch_size 2 --max_length 32 --tuner_type full --torch_dtype bfloat16\nfi\n";
  RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  context.given = {{"BACKEND", "small"}};
  EXPECT_EQ(testing::imported(text, context).program, &kTrainer);
  context.given = {{"BACKEND", "big"}};
  EXPECT_EQ(testing::imported(text, context).program, &kMegatron);
}

TEST(ImportRecipe, AScriptThatStartsAnotherNamesIt) {
  const RecipeContext context = testing::context_of(testing::gpu_plan({.data = 8}));
  EXPECT_THAT(testing::refusal_of("# bash old.sh\nexport TP=2\nbash tools/train.sh llama --nodes 4\n", context),
              ::testing::AllOf(HasSubstr("starts tools/train.sh"), HasSubstr("give tools/train.sh"), ::testing::Not(HasSubstr("old.sh"))));
  EXPECT_THAT(testing::refusal_of("export ARGS=\"--micro-batch-size 4\"\nsource run.sh\n", context),
              HasSubstr("have run.sh beside this one"));
}

// One that is beside it is read, with what the script passes on.
TEST(ImportRecipe, AScriptBesideTheOneThatStartsIt) {
  std::ofstream(testing::recipe_folder() + "/beside.sh")
      << "TP=${TP:-1}\npython pretrain.py --tensor-model-parallel-size $TP --micro-batch-size $1 --seq-length 32 --bf16\n";
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const ParallelPlan plan = testing::imported("export TP=2\nbash tools/beside.sh 4\n", context).plan;
  EXPECT_EQ(plan.mesh.tensor, 2);
  EXPECT_EQ(plan.microbatch_size, 4);
  EXPECT_EQ(testing::imported("# --micro-batch-size\nTP=4\nbash beside.sh 2 --lr 1\n", context).plan.mesh.tensor, 1);
}

// A refusal says what the reading met before it: options that nobody read may be what is missing.
TEST(ImportRecipe, ARefusalNamesWhatWasNotRead) {
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const std::string line =
      "python pretrain.py --tensor-model-parallel-size 2 --micro-batch-size $(cat size) --seq-length 32 $MORE --bf16\n";
  EXPECT_THAT(
      testing::refusal_of(line, context),
      ::testing::AllOf(HasSubstr("the variable that holds it"), ::testing::Not(HasSubstr("--set $(")), HasSubstr("options that it holds")));
  EXPECT_THAT(
      testing::refusal_of(
          "python pretrain.py --micro-batch-size-of-mine 1 --global-batch-size-of-mine 4 --hidden-dropout 0.1 $MORE --bf16\n", context),
      HasSubstr("options that it holds"));
}

TEST(ImportRecipe, ANameWithDotsIsAskedFor) {
  RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const std::string text = "distributed_type: FSDP\nnum_processes: ${cluster.ranks}\n";
  EXPECT_THAT(testing::refusal_of(text, context), HasSubstr("--set cluster.ranks="));
}

// A script with arguments of its own, one of which another program has too.
TEST(ImportRecipe, ANameThatAnotherProgramHasToo) {
  EXPECT_THAT(testing::refusal_of(
                  "python tune.py --base_model a --micro_batch_size 8 --batch_size 64 --cutoff_len 32 --lora_target_modules '[q]'\n",
                  testing::context_of(testing::gpu_plan({.data = 8}))),
              HasSubstr("is no configuration of Megatron-LM"));
}

// A script may write DeepSpeed's file for a program of its own: it is no JSON, and the program is named.
TEST(ImportRecipe, AProgramOfItsOwnIsNamed) {
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4})};
  const std::string script =
      "cat > ds.json <<EOF\n{\"zero_optimization\": {\"stage\": 2}}\nEOF\ntorchrun --nproc_per_node=4 scripts/mine.py --x 1\n";
  EXPECT_THAT(testing::refusal_of(script, context), ::testing::HasSubstr("starts scripts/mine.py, whose arguments are its own"));
  EXPECT_THAT(testing::refusal_of("torchrun -m mine.train --strategy tp --tp-size 2 --micro-batch-size 8\n", context),
              ::testing::HasSubstr("starts mine.train, whose arguments are its own"));
  EXPECT_THAT(testing::refusal_of("torchrun -m mine --strategy tp --tp-size 2 --micro-batch-size 8\n", context),
              ::testing::HasSubstr("starts mine, whose arguments are its own"));
  EXPECT_THAT(testing::refusal_of("{\"zero_optimization\": {\"stage\": 2}", context), ::testing::HasSubstr("is not JSON"));
}

// A program of its own is named, not its arguments; the file that holds them is, too.
TEST(ImportRecipe, WhatAnUnknownProgramNeedsIsNamed) {
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const std::string own = testing::refusal_of("torchrun --nproc_per_node=8 own.py config/sizes.py --lr 1\n", context);
  EXPECT_THAT(own, ::testing::HasSubstr("starts own.py"));
  EXPECT_THAT(testing::refusal_of("accelerate launch --num_processes 8 own.py --config runs/a.yaml\n", context),
              ::testing::HasSubstr("names runs/a.yaml"));
  EXPECT_THAT(testing::refusal_of("deepspeed --include localhost:0,1 own.py --yaml_config runs/b.yaml --model_name_or_path a\n", context),
              ::testing::HasSubstr("names runs/b.yaml"));
  EXPECT_THAT(testing::refusal_of("torchrun --nproc_per_node 8 run_clm.py j.json\n", context), ::testing::HasSubstr("names j.json"));
  EXPECT_THAT(testing::refusal_of("python own.py ++settings=runs/c.yaml\n", context), ::testing::HasSubstr("names runs/c.yaml,"));
  for (const std::string line : {"srun --label -n 8 start_training.sh\n", "srun --label \\\n  -n 8 --export ALL \\\n  start_training.sh\n",
                                 "source /etc/profile.d/modules.sh\nsh start_training.sh\n"})
    EXPECT_THAT(testing::refusal_of(line, context), ::testing::HasSubstr("starts start_training.sh, which is another file")) << line;
  EXPECT_THAT(testing::refusal_of("srun -n 8 --prolog check.sh ./run\n", context), ::testing::Not(::testing::HasSubstr("check.sh")));
  EXPECT_THAT(testing::refusal_of("source arguments.sh\ntorchrun own.py $ARGUMENTS\n", context),
              ::testing::HasSubstr("have arguments.sh beside this one"));
  EXPECT_THAT(testing::refusal_of("{\ndeepspeed -H hosts $HERE/own.py --deepspeed_config $HERE/z.json\n}\n", context),
              ::testing::AllOf(::testing::HasSubstr("starts $HERE/own.py"), ::testing::HasSubstr("z.json, which is DeepSpeed's")));
  EXPECT_THAT(testing::refusal_of("deepspeed --num_gpus=8 own.py --ds_config_path z.json --lr 1\n", context),
              ::testing::HasSubstr("z.json, which is DeepSpeed's"));
  EXPECT_THAT(testing::refusal_of("deepspeed --module mine.tune --batch 2\n", context), ::testing::HasSubstr("starts mine.tune, whose"));
  EXPECT_THAT(testing::refusal_of("torchrun -m --rdzv_id run.v2 mine.train --batch 2\n", context),
              ::testing::HasSubstr("starts mine.train, whose"));
  EXPECT_THAT(testing::refusal_of("torchrun own.py --config $RUN\n", context), ::testing::HasSubstr("names $RUN, which may hold"));
  EXPECT_THAT(testing::refusal_of("torchrun own.py --config 7b\n", context), ::testing::Not(::testing::HasSubstr("names 7b")));
  EXPECT_THAT(testing::refusal_of("torchrun pretrain_gpt.py --config $CONF --tensor-model-parallel-size $TP\n", context),
              ::testing::HasSubstr("TP"));
  EXPECT_THAT(testing::refusal_of("config = {\"zero_optimization\": {\"stage\": 2}, \"fp16\": {\"enabled\": True}}\n", context),
              ::testing::HasSubstr("as JSON"));
}

TEST(ImportRecipe, AScriptOfItsFolderIsNamed) {
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  for (const std::string line : {"$(dirname $0)/start_it.sh 4 8\n", "\"$(dirname \"$0\")/start_it.sh\" 4\n", "scripts/start_it.sh 4 8\n",
                                 "for n in 1 2; do\n  scripts/start_it.sh $n\ndone\n"})
    EXPECT_THAT(testing::refusal_of(line, context), HasSubstr("start_it.sh, which is another file")) << line;
  EXPECT_THAT(testing::refusal_of("source $(dirname $0)/variables.sh\ntorchrun own.py\n", context),
              HasSubstr("takes variables from variables.sh"));
}

// A condition that decides which command runs is asked for.
TEST(ImportRecipe, WhatDecidesBetweenCommandsIsAskedFor) {
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const std::string rest = " --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --bf16\n";
  EXPECT_THAT(testing::refusal_of("if [ \"$1\" = big ]; then\n  python pretrain_gpt.py --tensor-model-parallel-size 8" + rest +
                                      "else\n  python pretrain_gpt.py --tensor-model-parallel-size 2" + rest + "fi\n",
                                  context),
              HasSubstr("give --set 1=value, which decides"));
}

// Of Megatron-LM's scripts, those of networks that are not GPT's.
TEST(ImportRecipe, ANetworkOfAnotherFormIsRefused) {
  const std::string options = " --tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --bf16\n";
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  for (const std::string script :
       {"pretrain_t5.py", "pretrain_vision_classify.py", "pretrain_vit.py", "pretrain_ict.py", "pretrain_retro.py"})
    EXPECT_THAT(testing::refusal_of("torchrun --nproc_per_node 8 " + script + options, context), HasSubstr("read as GPT's")) << script;
  EXPECT_THAT(testing::refusal_of("torchrun --nproc_per_node 8 examples/multimodal/train.py" + options, context), HasSubstr("of images"));
  EXPECT_EQ(testing::imported("torchrun --nproc_per_node 8 pretrain_bert.py" + options, context).program, &kMegatron);
  EXPECT_THAT(
      testing::refusal_of("torchrun --nproc_per_node 8 pretrain_bert.py --num-layers 2 --hidden-size 64 --num-attention-heads 4" + options,
                          {.model = std::nullopt, .cluster = context.cluster, .vocabulary = 1024}),
      HasSubstr("give its config.json by --model"));
  for (const std::string script : {"tasks/main.py --task WIKITEXT103", "tools/checkpoint/convert.py", "tools/merge_datasets.py"})
    EXPECT_THAT(testing::refusal_of("torchrun --nproc_per_node 8 " + script + options, context), HasSubstr("which trains nothing"))
        << script;
}

TEST(ImportRecipe, ATrainingWithoutGpusIsRefused) {
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .sequence = 32};
  const std::string trainer = " train.py --per_device_train_batch_size 2 --max_length 32 --bf16 True";
  for (const std::string& line : std::vector<std::string>{
           "torchrun" + trainer + " --use_cpu True\n", "torchrun" + trainer + " --no_cuda True\n",
           "accelerate launch --cpu" + trainer + "\n",
           "torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 2 --micro-batch-size 1 --seq-length 32 --bf16 "
           "--use_hpu\n"})
    EXPECT_THAT(testing::refusal_of(line, context), HasSubstr("a training without GPUs")) << line;
  EXPECT_THAT(testing::refusal_of("python xla_spawn.py --num_cores 8" + trainer + "\n", context), HasSubstr("another machine"));
  EXPECT_THAT(testing::refusal_of("distributed_type: MULTI_CPU\nnum_processes: 8\nmixed_precision: bf16\n", context),
              HasSubstr("is MULTI_CPU"));
  EXPECT_EQ(testing::refusal_of("torchrun --nproc_per_node 8" + trainer + " --use_cpu False\n", context), "");
}

// What a fork calls a size may be what is missing.
TEST(ImportRecipe, SizesOfAForkStandBesideWhatIsWrong) {
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const std::string line =
      "python pretrain_gpt.py --tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 8 --seq-length 32 "
      "--bf16 --expert-model-parallel-size 4 ";
  EXPECT_THAT(testing::refusal_of(line + "--experts-of-ours 8 --colour-of-ours red\n", context),
              ::testing::AllOf(HasSubstr("expert degree 4"), HasSubstr("experts-of-ours"), ::testing::Not(HasSubstr("colour-of-ours"))));
}

TEST(ImportRecipe, NetworksOfImagesAreRefused) {
  const std::string options = " --tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --bf16\n";
  for (const std::string script : {"pretrain_i2v.py", "pretrain_t2i_ours.py", "mine/pretrain_dit.py"})
    EXPECT_THAT(testing::refusal_of("torchrun --nproc_per_node 8 " + script + options, testing::context_of(testing::gpu_plan({.data = 8}))),
                HasSubstr("a network of images"));
}

TEST(ImportRecipe, WhatAScriptIsCalledInCapitalsAndConverters) {
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const std::string options = " --tensor-model-parallel-size 1 --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --bf16\n";
  EXPECT_THAT(testing::refusal_of("torchrun --nproc_per_node 8 ours/PPO_training.py" + options, context), HasSubstr("other passes"));
  EXPECT_THAT(testing::refusal_of("torchrun --nproc_per_node 8 hf2ours.py" + options, context), HasSubstr("trains nothing"));
  EXPECT_THAT(
      testing::refusal_of("trl sft --model_name_or_path a/b --output_dir c\ntrl dpo --model_name_or_path a/b --output_dir d\n", context),
      HasSubstr("starts 2 commands"));
  EXPECT_THAT(testing::refusal_of("fairseq-hydra-train --config-dir here --config-name ours\n", context), HasSubstr("ours.yaml"));
}

TEST(ImportRecipe, FunctionsThatNobodyCallsAreNamed) {
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  EXPECT_THAT(testing::refusal_of(
                  "big_2.7B () {\n  torchrun pretrain_gpt.py --micro-batch-size 1 --global-batch-size 8 --seq-length 32\n}\n", context),
              HasSubstr("defines big_2.7B, and calls none of them"));
}

TEST(ImportRecipe, BothSidesOfAMergeAreRefused) {
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const std::string options = " --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --bf16\n";
  EXPECT_THAT(testing::refusal_of("#\n<<<<<<< a\npretrain.py \\\n=======\npretrain_gpt.py \\\n>>>>>>> b\n" + options, context),
              HasSubstr("both sides of a merge"));
}

TEST(ImportRecipe, WhatStandsInTheFencesOfADocument) {
  const std::string path = testing::recipe_folder() + "/note.md";
  std::ofstream(path) << "# A run\n\n```bash\ntorchrun --nproc-per-node 8 pretrain_gpt.py --micro-batch-size 1 --global-batch-size 8 "
                         "--seq-length 32 --bf16\n```\n\nIt was fast.\n";
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  EXPECT_EQ(import_recipe(path, context).plan.mesh.data, 8);
}

TEST(ImportRecipe, PythonThatWritesAFileIsNoLine) {
  const RecipeContext context{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const std::string text = "import yaml\n\ntext = \"\"\"\nbase_model: a\nsequence_len: 32\nmicro_batch_size: 1\n\"\"\"\nopen('a.yaml')\n";
  EXPECT_THAT(testing::refusal_of(text, context), HasSubstr("is Python"));
}

}  // namespace
}  // namespace sim
