#include "sim/recipe/started.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RecipeContext beside_eight() {
  return {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}), .sequence = 32};
}
constexpr std::string_view kOfATuning = " --output_dir out --per_device_train_batch_size 2 ";

TEST(Started, WhatALauncherHasInFrontIsNoScript) {
  EXPECT_EQ(started_program("torchrun --nproc_per_node 8 a/tune.py --config b.py"), "a/tune.py");
  EXPECT_EQ(started_program("accelerate launch --config_file x.yaml -m mine.tune --a 1"), "mine.tune");
  EXPECT_EQ(started_program("swift sft --model a"), "");
  EXPECT_EQ(started_program("python -m torch.distributed.launch --nproc_per_node 8 --use_env a/tune.py --b 1"), "a/tune.py");
  EXPECT_EQ(started_program("swift sft --external_plugins mine.py"), "");
}

TEST(Started, AScriptOfItsOwnIsNamedWithWhatTheLineLeavesToIt) {
  const std::string line = std::string("torchrun --nproc_per_node 8 tune.py") + std::string(kOfATuning);
  const std::string told = testing::text_of(testing::imported(line + "\n", beside_eight()).unknown);
  EXPECT_THAT(told, HasSubstr("starts tune.py, which is none of"));
  EXPECT_THAT(told, HasSubstr("what is recomputed, the type, the steps that are accumulated, the optimizer"));
  const std::string all = "--bf16 true --gradient_checkpointing true --gradient_accumulation_steps 1 --optim adamw_torch\n";
  const ImportedPlan whole = testing::imported(line + all, beside_eight());
  EXPECT_THAT(testing::text_of(whole.unknown), Not(HasSubstr("tune.py")));
  EXPECT_THAT(testing::text_of(whole.notes), HasSubstr("starts tune.py"));  // its code may still wrap the network
}

TEST(Started, AFileOfNobodysIsNamedWithWhatItLeavesOpen) {
  const auto told = [](const std::string& more) {
    return testing::text_of(
        testing::imported("output_dir: out\nper_device_train_batch_size: 2\nlearning_rate: 1e-4\nnum_train_epochs: 1\n" + more,
                          beside_eight())
            .unknown);
  };
  EXPECT_THAT(told("train_file: a.jsonl\n"),
              HasSubstr("has Transformers Trainer's names without a program's: where it does not say what is recomputed, the type"));
  EXPECT_THAT(told("bf16: true\ngradient_checkpointing: true\ngradient_accumulation_steps: 2\noptim: adamw_torch\n"),
              Not(HasSubstr("without a program's")));
  EXPECT_THAT(told("model_name_or_path: a/b\n"), HasSubstr("without a program's"));  // a name of everybody's
  EXPECT_THAT(told("stage: sft\nfinetuning_type: full\ncutoff_len: 32\n"), Not(HasSubstr("without a program's")));
}

TEST(Started, TheFirstStepOfSafeRlhfIsATuning) {
  const auto read = [](const std::string& module, const std::string& offload) {
    return testing::imported("deepspeed --num_gpus 8 --module " + module + std::string(kOfATuning) +
                                 "--bf16 true --gradient_checkpointing --gradient_accumulation_steps 2 --zero_stage 3 --offload " +
                                 offload + "\n",
                             beside_eight());
  };
  const ParallelPlan plan = read("safe_rlhf.finetune", "optimizer").plan;
  EXPECT_EQ(plan.zero_stage, 3);
  EXPECT_TRUE(plan.offload_optimizer);
  EXPECT_FALSE(plan.offload_parameters);
  EXPECT_THAT(testing::text_of(read("safe_rlhf.finetune", "none").unknown), HasSubstr("stand in its package"));
  EXPECT_TRUE(read("safe_rlhf.finetune", "all").plan.offload_parameters);
  EXPECT_FALSE(read("safe_rlhf.finetune", "none").plan.offload_optimizer);
  EXPECT_THROW(read("safe_rlhf.algorithms.ppo", "none"), InputError);
}

TEST(Started, TheProgramsOwnScriptHasItsDefaults) {
  for (const std::string script : {"run_clm.py", "examples/run_clm.py", "src/train.py"}) {
    const std::string line = "torchrun --nproc_per_node 8 " + script + std::string(kOfATuning) + "--bf16 true\n";
    EXPECT_THAT(testing::text_of(testing::imported(line, beside_eight()).unknown), Not(HasSubstr("none of"))) << script;
  }
}

TEST(Started, AScriptOfItsOwnForMegatronMaySetTheType) {
  const std::string more =
      " --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 32 --micro-batch-size 1 --global-batch-size 8 "
      "--max-position-embeddings 32 --normalization RMSNorm --swiglu --position-embedding-type rope ";
  const auto told = [&](const std::string& script, const std::string& type) {
    return testing::text_of(testing::imported("torchrun --nproc-per-node 8 " + script + more + type + "\n",
                                              {.model = std::nullopt, .cluster = beside_eight().cluster, .vocabulary = 512})
                                .unknown);
  };
  EXPECT_THAT(told("pretrain_mine.py", ""), HasSubstr("does not say the type"));
  EXPECT_THAT(told("pretrain_mine.py", "--bf16"), Not(HasSubstr("pretrain_mine.py")));
  EXPECT_THAT(told("pretrain_gpt.py", ""), Not(HasSubstr("pretrain_gpt.py")));
}

TEST(Started, StepsOfAnotherFormByTheNameOfTheScriptOrItsFolder) {
  for (const std::string script : {"train_orpo.py", "reward_modeling.py", "train_rm.py", "distill_llama.py", "step3_rlhf_tuning/main.py",
                                   "train_rdpo.py", "code/dpo/run.py"}) {
    const std::string refusal =
        testing::refusal_of("torchrun --nproc_per_node 8 " + script + std::string(kOfATuning) + "--bf16 true\n", beside_eight());
    EXPECT_THAT(refusal, HasSubstr("other passes")) << script;
  }
  for (const std::string script : {"rlhf/train_sft.py", "endpoint.py", "form.py", "rewrite.py"}) {
    const std::string refusal =
        testing::refusal_of("torchrun --nproc_per_node 8 " + script + std::string(kOfATuning) + "--bf16 true\n", beside_eight());
    EXPECT_EQ(refusal, "") << script;
  }
}

TEST(Started, ScriptsOfOtherMachines) {
  EXPECT_EQ(other_machine_of("python run_flax_tuning.py --a 1"), "run_flax_tuning.py");
  EXPECT_EQ(other_machine_of("python reflaxed.py --a 1"), "");
}

// A command that somebody has installed: its code decides what the line leaves open.
TEST(Started, ACommandOfItsOwn) {
  const auto told = [](const std::string& command) {
    return testing::text_of(
        testing::imported(command + std::string(kOfATuning).substr(std::string(kOfATuning).find("--")) + "\n", beside_eight()).unknown);
  };
  EXPECT_THAT(told("mine-train "), HasSubstr("starts mine-train, which is none of Transformers Trainer's own scripts"));
  EXPECT_THAT(told("bin/mine_train "), HasSubstr("starts mine_train, which"));
  EXPECT_THAT(told("llamafactory-cli train "), Not(HasSubstr("none of Transformers Trainer's own")));
}

// A type that is switched off is not said: code loads weights in 16 bit all the same.
TEST(Started, ATypeThatIsSwitchedOff) {
  const auto told = [](const std::string& more) {
    return testing::text_of(testing::imported("torchrun --nproc_per_node 8 mine.py --per_device_train_batch_size 1 --block_size 32 "
                                              "--gradient_checkpointing False --optim adamw_torch " +
                                                  more + "\n",
                                              beside_eight())
                                .unknown);
  };
  EXPECT_THAT(told("--bf16 False"), HasSubstr("the type"));
  EXPECT_THAT(told("--bf16 True"), Not(HasSubstr("the type")));
}

}  // namespace
}  // namespace sim
