#include "sim/recipe/changed_settings.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

// What another plan changes in the file.
std::string changed(const Program& program, const ParallelPlan& before, const ParallelPlan& after, const RecipeSettings& file) {
  std::string text;
  for (const ChangedSetting& change : changed_settings(program, before, after, settings_in_file(program, file)))
    text += to_text(change) + "; ";
  return text;
}

ParallelPlan recomputing(Recompute what) {
  ParallelPlan plan = testing::gpu_plan({.data = 8});
  plan.zero_stage = 3;
  plan.recompute = what;
  return plan;
}

TEST(ChangedSettings, StandUnderTheNameThatTheFileHas) {
  ParallelPlan before = recomputing(Recompute::None), after = before;
  after.microbatch_size = 2;
  EXPECT_EQ(changed(kTrainer, before, after, {{"micro_batch_size", "1"}, {"gradient_accumulation_steps", "4"}}),
            "micro_batch_size 1 -> 2; gradient_accumulation_steps 4 -> 2; ");
  EXPECT_EQ(changed(kTorchtitan, recomputing(Recompute::Full), before, {{"activation_checkpoint.mode", "full"}}),
            "activation_checkpoint.mode full -> none; ");
}

TEST(ChangedSettings, DefaultsAreSwitchedOffByAWord) {
  const ParallelPlan full = recomputing(Recompute::Full), none = recomputing(Recompute::None);
  EXPECT_EQ(changed(kTrainer, full, none, {{"gradient_checkpointing", "True"}}), "gradient_checkpointing True -> false; ");
  EXPECT_EQ(changed(kTrainer, full, none, {{"activation_checkpointing", "true"}}), "activation_checkpointing true -> false; ");
  EXPECT_EQ(changed(kTrainer, full, none, {}), "add gradient_checkpointing false; ");
  const RecipeSettings of_llama_factory = {{"finetuning_type", "full"}, {"gradient_checkpointing", "true"}};
  EXPECT_EQ(changed(kTrainer, full, none, of_llama_factory), "add disable_gradient_checkpointing; ");
  EXPECT_EQ(changed(kTrainer, none, full, {{"finetuning_type", "full"}, {"disable_gradient_checkpointing", "true"}}),
            "add gradient_checkpointing; remove disable_gradient_checkpointing; ");
}

TEST(ChangedSettings, WhatIsOffAnywayIsNoLine) {
  const ParallelPlan full = recomputing(Recompute::Full), none = recomputing(Recompute::None);
  EXPECT_EQ(changed(kAccelerate, full, none, {}), "");
  EXPECT_EQ(changed(kAccelerate, none, full, {}), "add fsdp_config.fsdp_activation_checkpointing; ");
}

// Transformers refuses DeepSpeed and FSDP together.
TEST(ChangedSettings, OneLayoutTakesTheOthersPlace) {
  const ParallelPlan whole = recomputing(Recompute::None);
  ParallelPlan kept = whole, second = whole, plain = whole;
  kept.reshard_after_forward = false, second.zero_stage = 2, plain.zero_stage = 0;
  const RecipeSettings by_deepspeed = {{"deepspeed", "ds_z3.json"}}, by_fsdp = {{"fsdp", "full_shard auto_wrap"}};
  EXPECT_EQ(changed(kTrainer, whole, second, by_deepspeed), "deepspeed ds_z3.json -> zero2; ");
  EXPECT_EQ(changed(kTrainer, whole, kept, by_deepspeed), "add fsdp shard_grad_op auto_wrap; remove deepspeed; ");
  EXPECT_EQ(changed(kTrainer, whole, plain, by_deepspeed), "remove deepspeed; ");
  EXPECT_EQ(changed(kTrainer, whole, second, by_fsdp), "add deepspeed zero2; remove fsdp; ");
  EXPECT_EQ(changed(kTrainer, whole, kept, by_fsdp), "fsdp full_shard auto_wrap -> shard_grad_op auto_wrap; ");
}

// Other tools on the Trainer have no such word.
TEST(ChangedSettings, DegreesAreAxolotls) {
  ParallelPlan before = recomputing(Recompute::None), after = before;
  after.mesh = {.data = 4, .tensor = 2};
  EXPECT_EQ(changed(kTrainer, before, after, {{"sequence_len", "32"}}), "add gradient_accumulation_steps 8; add tensor_parallel_size 2; ");
  EXPECT_EQ(changed(kTrainer, before, after, {}), "add gradient_accumulation_steps 8; ");
  EXPECT_EQ(changed(kTrainer, after, before, {{"tensor_parallel_size", "2"}}),
            "add gradient_accumulation_steps 4; remove tensor_parallel_size; ");
}

// Megatron-LM lets it overrule the granularity.
TEST(ChangedSettings, AnOldNameOfRecomputationGoes) {
  const ParallelPlan some = recomputing(Recompute::Selective);
  const RecipeSettings file = {{"recompute-activations", "true"}};
  EXPECT_EQ(changed(kMegatron, some, recomputing(Recompute::None), file), "remove --recompute-activations; ");
  const std::string full = changed(kMegatron, some, recomputing(Recompute::Full), file);
  EXPECT_THAT(full, ::testing::HasSubstr("add --recompute-granularity full; "));
  EXPECT_THAT(full, ::testing::HasSubstr("remove --recompute-activations; "));
}

// Under the word that the file has for it, and in that tool's names.
TEST(ChangedSettings, KernelsOfAttentionAreTheToolsOwnWords) {
  ParallelPlan written = recomputing(Recompute::None), fused = written;
  written.cluster = load_cluster("a100-80gb-sxm", DeviceCount{8}), written.cluster.software = load_software("accelerate");
  fused.cluster = written.cluster;
  written.attention = AttentionWord::Unfused;
  EXPECT_EQ(changed(kTrainer, written, fused, {{"attn_implementation", "eager"}}), "attn_implementation eager -> flash_attention_2; ");
  EXPECT_EQ(changed(kTrainer, written, fused, {{"flash_attn", "disabled"}}), "flash_attn disabled -> fa2; ");
  EXPECT_EQ(changed(kTrainer, written, fused, {{"sequence_len", "32"}, {"eager_attention", "true"}}),
            "add flash_attention; remove eager_attention; ");
  EXPECT_EQ(changed(kTrainer, written, fused, {{"bf16", "true"}}), "") << "the code says it";
  for (ParallelPlan* one : {&written, &fused}) one->cluster.hardware = load_cluster("v100-32gb-sxm2", DeviceCount{8}).hardware;
  EXPECT_EQ(changed(kTrainer, written, fused, {{"attn_implementation", "eager"}}), "attn_implementation eager -> sdpa; ");
  written.attention = AttentionWord::FusedSoftmax;
  EXPECT_EQ(changed(kMegatron, written, fused, {{"transformer-impl", "local"}}), "remove --transformer-impl; ");
  EXPECT_EQ(changed(kMegatron, written, fused, {{"transformer-impl", "transformer_engine"}, {"attention-backend", "unfused"}}),
            "remove --attention-backend; ");
}

TEST(ChangedSettings, ADegreeOfWhatIsLeftStays) {
  ParallelPlan before = recomputing(Recompute::None), after = before;
  after.mesh = {.data = 4, .tensor = 2};
  EXPECT_EQ(
      changed(kTorchtitan, before, after, {{"parallelism.data_parallel_shard_degree", "-1"}, {"parallelism.tensor_parallel_degree", "1"}}),
      "parallelism.tensor_parallel_degree 1 -> 2; ");
}

// Its TOML reads "selective" without an option as every second block.
TEST(ChangedSettings, TorchtitansTomlSaysWhichBlocks) {
  const ParallelPlan full = recomputing(Recompute::Full);
  ParallelPlan op = recomputing(Recompute::Selective), every = full;
  op.recompute_scope.modules = Module::Op, every.recompute_scope.every = 2;
  EXPECT_EQ(changed(kTorchtitan, full, op, {{"activation_checkpoint.mode", "full"}}),
            "activation_checkpoint.mode full -> selective; add activation_checkpoint.selective_ac_option op; ");
  const RecipeSettings silent = {{"activation_checkpoint.mode", "selective"}};
  EXPECT_EQ(changed(kTorchtitan, every, op, silent), "add activation_checkpoint.selective_ac_option op; ");
  EXPECT_EQ(changed(kTorchtitan, every, full, silent), "activation_checkpoint.mode selective -> full; ");
  const RecipeSettings second = {{"activation_checkpoint.mode", "selective"}, {"activation_checkpoint.selective_ac_option", "2"}};
  EXPECT_EQ(changed(kTorchtitan, every, op, second), "activation_checkpoint.selective_ac_option 2 -> op; ");
  EXPECT_EQ(changed(kTorchtitan, full, op, {{"activation_checkpoint", "FullAC.Config()"}}),
            "activation_checkpoint FullAC.Config() -> SelectiveAC.Config(); ");
}

TEST(ChangedSettings, ABatchThatFollowedIsSaidOnceItDoesNot) {
  ParallelPlan before = recomputing(Recompute::None);
  before.microbatch_size = 8, before.workload.global_batch = 64;
  ParallelPlan after = before;
  after.microbatch_size = 2;
  const RecipeSettings local = {{"training.local_batch_size", "8"}},
                       open = {{"training.local_batch_size", "8"}, {"training.global_batch_size", "-1"}},
                       whole = {{"training.local_batch_size", "8"}, {"training.global_batch_size", "64"}};
  EXPECT_EQ(changed(kTorchtitan, before, after, local), "training.local_batch_size 8 -> 2; add training.global_batch_size 64; ");
  EXPECT_EQ(changed(kTorchtitan, before, after, open), "training.local_batch_size 8 -> 2; training.global_batch_size -1 -> 64; ");
  EXPECT_EQ(changed(kTorchtitan, before, after, whole), "training.local_batch_size 8 -> 2; ");
}

// Oumi's file has sections, and words of its own for layouts.
TEST(ChangedSettings, StandInTheSectionsOfOumi) {
  const auto in_oumi = [](const ParallelPlan& before, const ParallelPlan& after, RecipeSettings file) {
    file.insert(file.begin(), {"model_name_or_path", "a/b", "model.model_name"});
    return changed(kTrainer, before, after, file);
  };
  const ParallelPlan full = recomputing(Recompute::Full), none = recomputing(Recompute::None);
  EXPECT_EQ(in_oumi(none, full, {}), "add training.enable_gradient_checkpointing; ");
  EXPECT_EQ(in_oumi(full, none, {{"gradient_checkpointing", "true", "training.enable_gradient_checkpointing"}}),
            "training.enable_gradient_checkpointing true -> false; ");
  ParallelPlan second = none, kept = none;
  second.zero_stage = 2, kept.reshard_after_forward = false;
  EXPECT_EQ(
      in_oumi(none, second, {{"use_deepspeed", "true", "deepspeed.enable_deepspeed"}, {"zero_stage", "ZERO_3", "deepspeed.zero_stage"}}),
      "deepspeed.zero_stage ZERO_3 -> ZERO_2; ");
  EXPECT_EQ(in_oumi(none, kept, {{"fsdp", "true", "fsdp.enable_fsdp"}}), "add fsdp.sharding_strategy SHARD_GRAD_OP; ");
}

}  // namespace
}  // namespace sim
