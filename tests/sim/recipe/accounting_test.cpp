#include "sim/recipe/accounting.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(Accounting, EverySettingHasOneFate) {
  Draft draft;
  const RecipeSettings settings = {
      {"hidden-size", "64"}, {"save", "x"}, {"qk-l2-norm", "true"}, {"expert-magic", "3"}, {"qk-clip", "false"}};
  const Accounts accounts = read_settings(kMegatron, settings, draft);
  EXPECT_THAT(accounts.read, ElementsAre("hidden-size"));
  EXPECT_EQ(accounts.sizes, 1);
  EXPECT_THAT(accounts.without_effect, ElementsAre("save", "qk-clip"));  // switched off
  EXPECT_THAT(draft.lost, SizeIs(1));
  EXPECT_THAT(testing::text_of(draft.unknown), HasSubstr("expert-magic: '3' is not known; it might change the experts"));
}

TEST(Accounting, OfWhatIsSaidTwiceTheLastCounts) {
  Draft draft;
  const Accounts accounts =
      read_settings(kTrainer, {{"use_liger_kernel", "true"}, {"gradient_checkpointing", "true"}, {"use_liger_kernel", "false"}}, draft);
  EXPECT_THAT(accounts.read, ElementsAre("gradient_checkpointing", "use_liger_kernel"));
  EXPECT_FALSE(draft.plan.cluster.software.fused_norm);
}

TEST(Accounting, NamesAndTheirBeginnings) {
  EXPECT_TRUE(has_name("save log-* load", "log-interval"));
  EXPECT_FALSE(has_name("save log-* load", "loader"));
}

TEST(Accounting, NoNameHasTwoFates) {
  for (const Program* program : all_programs())
    for (const Field& field : program->fields) {
      for (const std::string& name : words_of(program->without_effect)) EXPECT_NE(name, field.key);
      for (const LostSetting& lost : program->lost)
        for (const std::string& name : words_of(lost.keys)) EXPECT_NE(name, field.key);
    }
}

TEST(Accounting, ASeedThatIsDrawnIsNoObstacle) {
  Draft draft;
  read_settings(kMegatron, {{"seed", unknown_value("RANDOM")}, {"lr", unknown_value("RATE")}, {"hidden-size", unknown_value("H")}}, draft);
  EXPECT_THAT(testing::text_of(draft.notes), HasSubstr("seed: is made with each start"));
  EXPECT_THAT(testing::text_of(draft.notes), HasSubstr("lr: is made with each start"));
  ASSERT_THAT(draft.wrong, SizeIs(1));
  EXPECT_EQ(draft.wrong.front().where, "hidden-size");
}

// "fsdp.*" and its likes: a name in them that nobody has seen, and that sounds like layout, types or kernels, is told.
TEST(Accounting, ASectionDoesNotCoverWhatSoundsLikeTimeOrMemory) {
  const auto told = [](const Program& program, const std::string& key) {
    Draft draft;
    read_settings(program, {{key, "true"}}, draft);
    return testing::text_of(draft.unknown);
  };
  EXPECT_THAT(told(kDeepSpeed, "zero_optimization.offload_optimizer.super_offload"), HasSubstr("super_offload"));
  EXPECT_THAT(told(kTorchtitan, "compile.graph_of_ours"), HasSubstr("graph_of_ours"));
  EXPECT_THAT(told(kTrainer, "fsdp.shard_of_ours"), HasSubstr("shard_of_ours"));
  EXPECT_EQ(told(kDeepSpeed, "fp16.hysteresis"), "");
  EXPECT_EQ(told(kDeepSpeed, "flops_profiler.kernel_names"), "");  // of a section where nothing counts
  EXPECT_EQ(told(kTrainer, "eval_batch_size"), "");
}

// Names that change time, though no plan has a word for them: none of them may stand among those without effect.
TEST(Accounting, WhatSlowsAStepIsLost) {
  const std::pair<const Program*, std::string> kSlow[] = {
      {&kMegatron, "deterministic-mode"},    {&kMegatron, "batch-invariant-mode"},
      {&kMegatron, "disable-jit-fuser"},     {&kMegatron, "nccl-ub"},
      {&kTrainer, "full_determinism"},       {&kTrainer, "padding_free"},
      {&kTrainer, "torch_compile"},          {&kTrainer, "activation_offloading"},
      {&kDeepSpeed, "comms_logger.enabled"}, {&kDeepSpeed, "activation_checkpointing.synchronize_checkpoint_boundary"},
      {&kDeepSpeed, "compile.enabled"},      {&kAccelerate, "dynamo_backend"}};
  for (const auto& [program, name] : kSlow) EXPECT_NE(lost_of(*program, name), nullptr) << program->title << " " << name;
}

}  // namespace
}  // namespace sim
