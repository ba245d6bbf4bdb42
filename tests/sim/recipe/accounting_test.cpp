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

TEST(Accounting, NorDoNamesThatBeginAlike) {
  const auto told = [](const Program& program, const std::string& key) {
    Draft draft;
    read_settings(program, {{key, "2"}}, draft);
    return testing::text_of(draft.unknown);
  };
  EXPECT_THAT(told(kTrainer, "data_parallel_size"), HasSubstr("data_parallel_size"));
  EXPECT_THAT(told(kTrainer, "model_config.num_hidden_layers"), HasSubstr("num_hidden_layers"));
  EXPECT_THAT(told(kMegatron, "te-quantizer-of-ours"), HasSubstr("te-quantizer"));
  EXPECT_THAT(told(kFairseq, "distributed-shards"), HasSubstr("distributed-shards"));
  EXPECT_THAT(told(kTorchtitan, "training.mixed_precision_of_ours"), HasSubstr("mixed_precision_of_ours"));
  EXPECT_EQ(told(kTrainer, "max_samples"), "");  // "amp" is no word of it
  EXPECT_EQ(told(kTrainer, "dataset_num_proc"), "");
  EXPECT_EQ(told(kMegatron, "log-num-zeros-in-grad"), "");
  EXPECT_EQ(told(kMegatron, "dist-ckpt-optim-fully-reshardable"), "");
}

// Among values of one name some change time or memory: these are told, and the others are not.
struct ValueThatMatters {
  const Program* program;
  const char *name, *value, *other;
};
constexpr ValueThatMatters kThatMatter[] = {
    {&kDeepSpeed, "memory_breakdown", "true", "false"},
    {&kDeepSpeed, "graph_harvesting", "true", "false"},
    {&kDeepSpeed, "zero_optimization.offload_param.pin_memory", "false", "true"},
    {&kDeepSpeed, "zero_optimization.cpu_offload_use_pin_memory", "false", "true"},
    {&kDeepSpeed, "optimizer.params.torch_adam", "true", "false"},
    {&kDeepSpeed, "optimizer.params.amsgrad", "true", "false"},
    {&kDeepSpeed, "optimizer.params.fp32_optimizer_states", "false", "true"},
    {&kDeepSpeed, "zero_force_ds_cpu_optimizer", "false", "true"},
    {&kDeepSpeed, "zero_optimization.contiguous_gradients", "false", "true"},
    {&kDeepSpeed, "zero_optimization.contiguous_gradients", "False", "auto"},
    {&kDeepSpeed, "zero_optimization.memory_efficient_linear", "false", "true"},
    {&kDeepSpeed, "zero_optimization.stage3_module_granularity_threshold", "1000", "0"},
    {&kDeepSpeed, "pipeline.activation_checkpoint_interval", "1", "0"},
    {&kDeepSpeed, "hybrid_engine.enabled", "true", "false"},
    {&kDeepSpeed, "bf16.immediate_grad_update", "true", "false"},
    {&kDeepSpeed, "managed_gradient_accumulation", "false", "true"},
    {&kDeepSpeed, "tensor_parallel.tp.tp_size", "2", "1"},
    {&kAccelerate, "ipex_config.use_xpu", "true", "false"},
    {&kLightning, "trainer.deterministic", "true", "false"},
    {&kLightning, "trainer.strategy.init_args.process_group_backend", "gloo", "nccl"},
    {&kLightning, "trainer.strategy.init_args.gradient_as_bucket_view", "true", "false"},
    {&kLightning, "trainer.strategy.init_args.find_unused_parameters", "true", "false"},
    {&kOlmo, "ddp.find_unused_params", "true", "false"},
    {&kTrainer, "ddp_find_unused_parameters", "true", "false"},
    {&kFairseq, "fp16-adam-stats", "true", "false"},
    {&kFairseq, "empty-cache-freq", "10", "0"},
    {&kFairseq, "decoder-output-dim", "256", "0"},
    {&kFairseq, "distributed-backend", "gloo", "nccl"},
    {&kOlmo, "data.generate_doc_lengths", "true", "false"},
    {&kOlmo, "optimizer.record_update_metrics", "true", "false"},
    {&kNanotron, "general.ignore_sanity_checks", "false", "true"},
    {&kNanotron, "model.model_config._fused_rms_norm", "false", "true"},
    {&kNanotron, "metrics_logging.log_level", "1", "0"},
    {&kTorchtitan, "optimizer.foreach", "false", "true"},
    {&kTorchtitan, "training.data_parallel_type", "ddp", "fsdp"},
    {&kTorchtitan, "comm.mode", "fake_backend", "default"},
    {&kTorchtitan, "debug.batch_invariant", "true", "false"},
    {&kTorchtitan, "experimental.custom_import", "of.ours", ""},
    {&kNeox, "te-fp8-mha", "true", "false"},
    {&kNeox, "comms-logger.enabled", "true", "false"},
    {&kNeox, "autotuning.enabled", "true", "false"},
    {&kNeox, "log-gradient-noise-scale", "true", "false"},
    {&kNeox, "output-layer-parallelism", "row", "column"},
    {&kNeox, "zero-optimization.contiguous-gradients", "false", "true"},
    {&kTrainer, "ddp_backend", "gloo", "nccl"},
    {&kTrainer, "debug", "underflow_overflow", "true"},
    {&kTrainer, "half_precision_backend", "apex", "auto"},
    {&kTrainer, "disable_dropout", "true", "false"},
    {&kTrainer, "resize_token_embeddings_to_32x", "true", "false"},
    {&kTrainer, "bnb_4bit_compute_dtype", "float32", "bfloat16"},
    {&kTrainer, "double_quantization", "false", "true"},
    {&kTrainer, "bnb_config_kwargs.bnb_4bit_use_double_quant", "false", "true"},
    {&kTrainer, "gc_steps", "4", "0"},
    {&kTrainer, "model_config_overrides", "n_layer=3", ""},
    {&kMegatron, "ffn-dropout", "0.1", "0.0"},
    {&kMegatron, "sync-batch-comm", "true", "false"},
    {&kMegatron, "trainer.deterministic", "true", "false"},
    {&kMegatron, "retro-add-retriever", "true", "false"},
    {&kMegatron, "suggested-communication-unit-size", "1000", "0"},
    {&kMegatron, "no-clone-scatter-output-in-embedding", "true", "false"},
    {&kMegatron, "clone-scatter-output-in-embedding", "false", "true"},
    {&kMegatron, "rerun-mode", "report_stats", "validate_results"},
    {&kMegatron, "timing-log-level", "2", "1"},
    {&kMegatron, "nccl-communicator-config-path", "of_ours.yaml", "null"},
    {&kMegatron, "vocab-extra-ids", "100", "0"},
    {&kMegatron, "skip-train", "true", "false"},
    {&kMegatron, "ckpt-convert-format", "torch", "null"},
    {&kMegatron, "bias-dropout-fusion", "false", "true"},
    {&kMegatron, "gradient-accumulation-fusion", "False", "True"},
    {&kMegatron, "scatter-gather-tensors-in-pipeline", "false", "true"},
    {&kNemo, "apply-rope-fusion", "False", "True"},
};
TEST(Accounting, ValuesThatChangeTimeOrMemoryAreTold) {
  for (const ValueThatMatters& one : kThatMatter) {
    SCOPED_TRACE(std::string(one.program->title) + " " + one.name);
    Draft told, quiet;
    read_settings(*one.program, {{one.name, one.value}}, told);
    EXPECT_THAT(told.lost, SizeIs(1));
    read_settings(*one.program, {{one.name, one.other}}, quiet);
    EXPECT_THAT(quiet.lost, SizeIs(0)) << testing::text_of(quiet.lost);
    EXPECT_THAT(quiet.unknown, SizeIs(0)) << testing::text_of(quiet.unknown);
  }
}

// Names that change time, though no plan has a word for them: none of them may stand among those without effect.
TEST(Accounting, WhatSlowsAStepIsLost) {
  const std::pair<const Program*, std::string> kSlow[] = {
      {&kMegatron, "deterministic-mode"},    {&kMegatron, "batch-invariant-mode"},
      {&kMegatron, "disable-jit-fuser"},     {&kMegatron, "nccl-ub"},
      {&kTrainer, "full_determinism"},       {&kTrainer, "padding_free"},
      {&kTrainer, "torch_compile"},          {&kTrainer, "use_dora"},
      {&kDeepSpeed, "comms_logger.enabled"}, {&kDeepSpeed, "activation_checkpointing.synchronize_checkpoint_boundary"},
      {&kDeepSpeed, "compile.enabled"},      {&kAccelerate, "dynamo_backend"}};
  for (const auto& [program, name] : kSlow) EXPECT_NE(lost_of(*program, name), nullptr) << program->title << " " << name;
}

// Two names of one setting: the program refuses that, or passes over one of them.
TEST(Accounting, ASettingUnderTwoOfItsNames) {
  const auto told = [](const std::string& other) {
    Draft draft;
    read_settings(kMegatron, {{"micro-batch-size", "4"}, {"batch-size", other}}, draft);
    return testing::text_of(draft.unknown);
  };
  EXPECT_THAT(told("128"), ::testing::HasSubstr("batch-size: is 128, and micro-batch-size is 4: both are names of one setting"));
  EXPECT_EQ(told("4"), "");
}

}  // namespace
}  // namespace sim
