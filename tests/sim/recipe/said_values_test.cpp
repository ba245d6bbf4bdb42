#include "sim/recipe/said_values.h"

#include "sim/recipe/accounting.h"
#include "sim/recipe/network.h"
#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kBirds[] = {"crow", "jay"};

std::string told_by(void (*read)(const Value&, Draft&), const std::string& text) {
  Draft draft;
  const RecipeSetting setting{"key", text};
  read(Value(setting, draft), draft);
  EXPECT_TRUE(draft.wrong.empty());
  return testing::text_of(draft.unknown);
}

TEST(SaidValues, FlagsAreTrueOrFalse) {
  for (const std::string text : {"true", "True", "yes", "on", "1", "false", "no", "0", "off", "null", "none", "NO", "", "auto"})
    EXPECT_EQ(told_by(flag_said, text), "") << text;
  EXPECT_THAT(told_by(flag_said, "tru"), HasSubstr("key: is 'tru', which is neither true nor false"));
  EXPECT_EQ(told_by(flag_said, unknown_value("FLAG")), "");  // told where it is looked up
}

TEST(SaidValues, NumbersAndRunsOfThem) {
  for (const std::string text : {"4", "0.5", "1e-3", "-1", "1e-3 2e-3", "none", "auto"}) EXPECT_EQ(told_by(number_said, text), "") << text;
  EXPECT_THAT(told_by(number_said, "four"), HasSubstr("is 'four', which is no number"));
  for (const std::string text : {"1", "([0]*3+[1]*58)", "[0, 1]", "127,0", "auto"}) EXPECT_EQ(told_by(runs_said, text), "") << text;
  EXPECT_THAT(told_by(runs_said, "[a]*3"), HasSubstr("neither a number nor a list"));
}

TEST(SaidValues, WordsAreOfAList) {
  for (const std::string text : {"jay", "none", "auto"}) EXPECT_EQ(told_by(word_said<kBirds>, text), "") << text;
  EXPECT_THAT(told_by(word_said<kBirds>, "zebra"), HasSubstr("is 'zebra', which is known to no release | use one of crow, jay"));
}

// In each syntax, behind the whole way of an import.
TEST(SaidValues, AreToldByAnImport) {
  const RecipeContext llama{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const auto unknown_of = [&](const std::string& text) { return testing::text_of(testing::imported(text, llama).unknown); };
  const std::string line =
      " pretrain_gpt.py --tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --bf16 ";
  EXPECT_THAT(unknown_of("torchrun --nproc_per_node 8" + line + "--DDP-impl gloo --swiglu maybe\n"),
              ::testing::AllOf(HasSubstr("DDP-impl: is 'gloo', which is known to no release | use one of local, torch"),
                               HasSubstr("swiglu: is 'maybe', which is neither true nor false")));
  EXPECT_EQ(unknown_of("torchrun --nproc_per_node 8" + line + "--DDP-impl torch\n"), "");
  EXPECT_EQ(unknown_of("msrun --worker_num 8 --local_worker_num=8" + line + "\n"), "");  // MindSpore's launcher
  EXPECT_THAT(testing::refusal_of("msrun --worker_num 16 --local_worker_num 8" + line + "\n", llama), HasSubstr("16"));
  const std::string axolotl =
      "base_model: tiny\nmicro_batch_size: 1\ngradient_accumulation_steps: 4\nsequence_len: 32\nbf16: true\ndatasets:\n  - path: a\n    "
      "type: "
      "alpaca\n";
  EXPECT_THAT(unknown_of(axolotl + "sample_packing: auto_fit\n"),
              HasSubstr("sample_packing: is 'auto_fit', which is neither true nor false"));
  EXPECT_THAT(unknown_of(axolotl + "sample_packing: false\n"), ::testing::Not(HasSubstr("sample_packing")));
}

// For every setting that a reader claims to read: a value that no release has is refused or named, never passed over.
constexpr const char* kAbsurd = "zebra";

struct Base {
  const Program* program;
  const char* text;  // null: what is exported
};
constexpr const char* kOfTrainer =
    "torchrun --nproc_per_node 8 run_clm.py --model_name_or_path tiny --per_device_train_batch_size 1 --gradient_accumulation_steps 4 "
    "--block_size 32 --bf16 true --torch_dtype bfloat16 --do_train --output_dir out\n";
constexpr const char* kOfNeox =
    "{\n\"pipe-parallel-size\": 1,\n\"model-parallel-size\": 1,\n\"num-layers\": 4,\n\"hidden-size\": 64,\n\"num-attention-heads\": 4,\n"
    "\"seq-length\": 32,\n\"max-position-embeddings\": 32,\n\"train_micro_batch_size_per_gpu\": 2,\n\"gradient_accumulation_steps\": 2,\n"
    "\"fp16\": {\"enabled\": true},\n\"optimizer\": {\"type\": \"Adam\", \"params\": {\"lr\": 0.001, \"betas\": [0.9, 0.95]}}\n}\n";
constexpr const char* kOfLitgpt =
    "model_name: tiny\nprecision: bf16-mixed\ndevices: auto\ntrain:\n  global_batch_size: 32\n  micro_batch_size: 1\n  max_seq_length: 32\n"
    "optimizer:\n  class_path: torch.optim.AdamW\n  init_args:\n    lr: 0.0003\n";
constexpr const char* kOfOlmo =
    "run_name: tiny\nmodel:\n  d_model: 64\n  n_heads: 4\n  n_layers: 4\n  mlp_hidden_size: 256\n  activation_type: swiglu\n  rope: true\n"
    "  layer_norm_type: rms\n  max_sequence_length: 32\n  vocab_size: 500\n  embedding_size: 512\noptimizer:\n  name: adamw\n"
    "  learning_rate: 0.0004\nglobal_train_batch_size: 32\ndevice_train_microbatch_size: 1\nprecision: amp_bf16\nfsdp:\n"
    "  wrapping_strategy: by_block\n  precision: mixed\n";
constexpr Base kBases[] = {{&kMegatron, nullptr},   {&kMegatronBridge, nullptr}, {&kNemo, nullptr},     {&kDeepSpeed, nullptr},
                           {&kAccelerate, nullptr}, {&kTorchtitan, nullptr},     {&kNanotron, nullptr}, {&kFairseq, nullptr},
                           {&kLightning, nullptr},  {&kTrainer, kOfTrainer},     {&kNeox, kOfNeox},     {&kLitgpt, kOfLitgpt},
                           {&kOlmo, kOfOlmo}};

// Where any text is right, or a value counts only beside a switch that the base has not; by the last part of a name.
struct AnyText {
  std::string_view names, why;
};
constexpr AnyText kAnyText[] = {
    {"deepspeed_config_file config_file config deepspeed nvme_path hf_config pipeline_parallel_schedule_csv tokenizer_name_or_path",
     "a file or a folder; one that is not there is told by whoever opens it"},
    {"project run include name flavor function kind module swift trl deepspeed_chat is_of_toml mixed_precision",
     "a name, by which others find what is meant, and tell what they do not find"},
    {"fsdp_transformer_layer_cls_to_wrap transformer_layer_cls_to_wrap auto_wrap_policy activation_checkpointing_policy "
     "freeze_trainable_modules",
     "classes and modules of any network"},
    {"target-modules target_modules lora_target_modules", "judged beside adapters"},
    {"offload-modules offload_modules min-offloaded-tensor-size min_offloaded_tensor_size selective_ac_option reshard_after_forward",
     "judged beside the switch of offload, of recomputation, of FSDP"},
    {"data_stages", "what is read; one switch of it counts, and has a test of its own"},
    {"lr-decay-style lr_decay_style lr_warmup_style", "changes the rate alone"},
};
bool takes_any_text(std::string_view key) {
  const std::string leaf = leaf_of(std::string(key));
  return std::ranges::any_of(kAnyText, [&](const AnyText& one) { return has_name(one.names, leaf); });
}

ParallelPlan base_plan(const Program& program) {
  ParallelPlan plan = testing::gpu_plan({.data = 8});
  plan.zero_stage = &program == &kNanotron ? 1 : 3;
  plan.model = &program == &kFairseq ? testing::tiny_gpt2() : testing::tiny_llama();
  if (&program == &kFairseq) plan.workload.precision = Precision::Fp16;
  return plan;
}

std::string told_with(const Base& base, const std::string& key) {
  const ParallelPlan plan = base_plan(*base.program);
  RecipeContext context = testing::context_of(plan);
  if (base.program == &kNeox || base.program == &kOlmo) context.model.reset(), context.vocabulary = 500;
  const Texts given;
  const std::string text = base.text != nullptr ? base.text : testing::main_text(*base.program, plan);
  RecipeReading reading = base.program->settings({text, testing::recipe_folder() + "/given", given, *base.program});
  std::erase_if(reading.settings,
                [&](const RecipeSetting& one) { return field_of(*base.program, one.key) == field_of(*base.program, key); });
  reading.settings.push_back({key, kAbsurd});
  Draft draft;
  draft.plan.model = plan.model;
  draft.plan.cluster = plan.cluster;
  draft.plan.training = base.program->training;
  read_settings(*base.program, reading.settings, draft);
  settle_network(draft, base.program->network == nullptr ? std::nullopt : base.program->network(draft, context), context);
  if (draft.plan.model.layers != 0) base.program->settle(draft), complete_draft(draft, context);
  return testing::text_of(draft.wrong) + testing::text_of(draft.unknown) + testing::text_of(draft.lost) + testing::text_of(draft.notes);
}

std::string told_of(const Base& base, const std::string& key) {
  try {
    return told_with(base, key);
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(SaidValues, AnAbsurdOneIsRefusedOrNamed) {
  for (const Base& base : kBases) {
    EXPECT_THAT(told_of(base, "no_such_setting"), ::testing::StartsWith("no_such_setting: 'zebra' is not known")) << base.program->name;
    for (const Field& field : base.program->fields) {
      const std::string key(field.key);
      const bool is_of_another = base.program == &kNeox && !field.means.empty();  // its settings come by the other name
      if (is_of_another || takes_any_text(key)) continue;
      EXPECT_THAT(in_lower_case(told_of(base, key)), ::testing::AnyOf(HasSubstr(kAbsurd), HasSubstr(in_lower_case(key))))
          << base.program->name << " passes over " << key << " zebra";
    }
  }
}

}  // namespace
}  // namespace sim
