#include "sim/recipe/foreign.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

std::string refused_as_foreign(const std::string& text) {
  return testing::refusal_of(text, {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})});
}

TEST(Foreign, ANameAmongTheValuesOfOptionsIsNone) {
  EXPECT_NO_THROW(refuse_foreign_command("x.sh", "torchrun train.py --run_name llmfoundry --steps 4"));
  EXPECT_THROW(refuse_foreign_command("x.sh", "torchrun -m levanter.main.train_lm --steps 4"), InputError);
  EXPECT_THROW(refuse_foreign_command("x.sh", "torchrun --standalone open_lm/main.py"), InputError);
}

TEST(Foreign, AFileIsNamedByItsProgram) {
  EXPECT_THAT(refused_as_foreign("{\"per_device_train_batch_size\": 1, \"tensor_parallel_degree\": 4, \"sharding\": \"stage2\"}"),
              HasSubstr("PaddleNLP"));
  EXPECT_THAT(refused_as_foreign("model:\n  _component_: torchtune.models.llama3.llama3_8b\nbatch_size: 2\n"), HasSubstr("torchtune"));
  EXPECT_THAT(refused_as_foreign("max_seq_len: 2048\nmodel:\n  name: a\n  d_model: 64\nglobal_train_batch_size: 64\n"),
              HasSubstr("LLM Foundry"));
}

TEST(Foreign, ALineIsNamedByWhatItStarts) {
  EXPECT_THAT(refused_as_foreign("tune run --nproc_per_node 2 lora_finetune_distributed --config a.yaml batch_size=4\n"),
              HasSubstr("torchtune"));
  EXPECT_THAT(refused_as_foreign(
                  "python -m paddle.distributed.launch run_pretrain.py --per_device_train_batch_size 1 --tensor_parallel_degree 2\n"),
              HasSubstr("PaddleNLP"));
  EXPECT_THAT(refused_as_foreign("deepspeed --module openrlhf.cli.train_sft --max_len 2048 --train_batch_size 64 --zero_stage 3\n"),
              HasSubstr("OpenRLHF"));
  EXPECT_THAT(refused_as_foreign("export PYTHONPATH=/opt/Megatron-Bridge/src\nsource $DIR/sizes.sh\npython $DIR/train.py ${SIZES[@]} "
                                 "--rollout-batch-size 4 --tensor-model-parallel-size 2 --global-batch-size 16\n"),
              HasSubstr("is of slime"));
}

// torchrun's -m is a flag: its other options may stand behind it.
TEST(Foreign, AModuleBehindOtherOptions) {
  EXPECT_THAT(refused_as_foreign("torchrun -m --nnodes 1 --nproc_per_node=4 verl.trainer.sft_trainer data.train_batch_size=8\n"),
              HasSubstr("is of verl"));
  EXPECT_THAT(refused_as_foreign("torchrun -m --nnodes 1 --nproc_per_node=4 mine.own.train --config runs.yaml\n"),
              HasSubstr("starts mine.own.train, whose arguments"));
  EXPECT_THAT(refused_as_foreign("torchrun --nproc_per_node 8 -m open_lm.main --accum-freq 4 --fsdp\n"), HasSubstr("is of OpenLM"));
  EXPECT_THAT(refused_as_foreign("from colossalai.amp import AMP_TYPE\nparallel = dict(pipeline=2)\n"), HasSubstr("is of ColossalAI"));
}

TEST(Foreign, AnExperimentThatOverridesItsProgramsFile) {
  const std::string refused = refused_as_foreign(
      "name: tune\nhyperparameters:\n  conf_file:\n    - 2-7B.yml\n  overwrite_values:\n    model_parallel_size: 2\nresources:\n"
      "  slots_per_trial: 16\nentrypoint: python3 -m determined.launch.deepspeed --trial gpt2_trial:GPT2Trial\n");
  EXPECT_THAT(refused, HasSubstr("is of Determined AI"));
  EXPECT_THAT(refused, HasSubstr("with the values of hyperparameters written into it"));
}

TEST(Foreign, AModuleOnALineOfItsOwn) {
  EXPECT_THAT(refused_as_foreign("torchrun --nproc_per_node 8 \\\n-m mine --rank 16\n"), HasSubstr("starts mine, whose arguments"));
}

// Words of theirs in a path, or one of two, are no marks.
TEST(Foreign, OthersAreReadAsBefore) {
  EXPECT_EQ(
      refused_as_foreign(
          "torchrun --nproc_per_node 8 finetune.py --run_name verl --per_device_train_batch_size 1 --model_max_length 32 --bf16 True\n"),
      "");
  EXPECT_EQ(refused_as_foreign("torchrun --nproc_per_node 8 finetune.py --data_path d/llmfoundry/c4 --per_device_train_batch_size 1 "
                               "--model_max_length 32 --bf16 True\n"),
            "");
  EXPECT_THAT(
      refused_as_foreign("trainer:\n  devices: 8\n  accumulate_grad_batches: 4\nmodel:\n  task: lm\n  optimizer_params:\n    lr: 1e-4\n"
                         "wandb_project_name: mine\n"),
      Not(HasSubstr("AutoTrain")));
}

TEST(Foreign, ACommandUnderAConditionIsNamedToo) {
  EXPECT_THAT(refused_as_foreign("if [[ $1 != slurm ]]; then\n  deepspeed --module openrlhf.cli.train_sft --zero_stage 3\nfi\n"),
              HasSubstr("is of OpenRLHF"));
}

}  // namespace
}  // namespace sim
