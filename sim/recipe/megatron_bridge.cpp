// Megatron-Bridge: a recipe in Python that makes its ConfigContainer. Its files of overrides (YAML) and overrides on a command line have the same names.
#include <fmt/format.h>

#include <algorithm>

#include "sim/recipe/megatron_core.h"
#include "sim/recipe/megatron_network.h"

namespace sim {
namespace {

constexpr std::string_view kOfBridge =
    " model train validation optimizer scheduler ddp dataset logger tokenizer checkpoint rng dist ft straggler nvrx_straggler profiling "
    "peft "
    "tensor_inspect inprocess_restart rerun_state_machine logger.* tokenizer.* checkpoint.* validation.* profiling.* straggler.* ft.* "
    "rerun_state_machine.* nvrx_straggler.* inprocess_restart.* should-pad-vocab fp32 random-seed path-to-cache blend blend-per-split "
    "num-workers data-sharding reset-position-ids reset-attention-mask eod-mask-loss skip-getting-attention-mask-from-dataset "
    "average-in-collective check-for-nan-in-grad gradient-as-bucket-view params-dtype pipeline-dtype autocast-dtype autocast-enabled "
    "start-weight-decay end-weight-decay weight-decay-incr-style override-opt-param-scheduler eval-iters eval-interval train-iters "
    "manual-gc manual-gc-interval manual-gc-eval log-interval tensorboard-dir cfg config forward-step tokenizer-type tokenizer-model ";

const std::string kBridgeWithoutEffect = core_without_effect(kOfBridge);
const std::vector<Field> kBridgeFields = core_fields(CoreProgram::Bridge);

std::vector<RecipeFile> bridge_files(const RecipeHead& head, const RecipeSettings& settings, const ParallelPlan& plan) {
  const bool is_latent = plan.model.attention.kind == AttentionKind::Latent;
  const std::string_view provider = is_latent ? "MLAModelProvider" : "GPTModelProvider";
  std::string text = core_head(head, plan, kMegatronBridge.file);
  text += "import torch.nn.functional as F\nfrom megatron.core.fusions.fused_bias_geglu import quick_gelu\n";
  text += fmt::format("from megatron.bridge.models.{} import {}\n", is_latent ? "mla_provider" : "gpt_provider", provider);
  text +=
      "from megatron.bridge.training.config import (CheckpointConfig, ConfigContainer, DistributedDataParallelConfig, LoggerConfig,\n"
      "                                             MockGPTDatasetConfig, OptimizerConfig, RNGConfig, SchedulerConfig, TokenizerConfig,\n"
      "                                             TrainingConfig)\n"
      "from megatron.bridge.training.mixed_precision import MixedPrecisionConfig\n\n";
  text += core_sections(settings);
  if (!has_section(settings, "checkpoint.")) text += "CHECKPOINT = dict()\n";
  text += fmt::format(
      "\n\ndef plan() -> ConfigContainer:\n"
      "    return ConfigContainer(\n"
      "        model={}(**MODEL, should_pad_vocab=True),\n"
      "        train=TrainingConfig(**TRAIN),\n"
      "        optimizer=OptimizerConfig(**OPTIMIZER),\n"
      "        scheduler=SchedulerConfig(**SCHEDULER),\n"
      "        ddp=DistributedDataParallelConfig(**DDP),\n"
      "        dataset=MockGPTDatasetConfig(**DATASET, random_seed=RNG[\"seed\"], reset_position_ids=False, reset_attention_mask=False,\n"
      "                                     eod_mask_loss=False),\n"
      "        logger=LoggerConfig(),\n"
      "        tokenizer=TokenizerConfig(tokenizer_type=\"NullTokenizer\", vocab_size=MODEL[\"vocab_size\"]),\n"
      "        checkpoint=CheckpointConfig(**CHECKPOINT),\n"
      "        rng=RNGConfig(**RNG),\n"
      "        mixed_precision=MixedPrecisionConfig(**MIXED_PRECISION))\n\n\n"
      "if __name__ == \"__main__\":\n"
      "    from megatron.bridge.training.gpt_step import forward_step\n"
      "    from megatron.bridge.training.pretrain import pretrain\n"
      "    pretrain(plan(), forward_step)\n",
      provider);
  return {{std::string(kMegatronBridge.file), std::move(text)}};
}

// A file of overrides changes a recipe of the package, whose own values stand there. Those that lay the run out are taken as most recipes have them.
struct UsualValue {
  std::string_view argument, name, taken;
};
constexpr UsualValue kUsualRecipe[] = {
    {"tensor-model-parallel-size", "model.tensor_model_parallel_size", "1"},
    {"pipeline-model-parallel-size", "model.pipeline_model_parallel_size", "1"},
    {"context-parallel-size", "model.context_parallel_size", "1"},
    {"recompute-granularity", "model.recompute_granularity", "none"},
    {"bf16", "mixed_precision", "bf16_mixed"},
    {"use-distributed-optimizer", "ddp.use_distributed_optimizer", "true"},
    {"overlap-grad-reduce", "ddp.overlap_grad_reduce", "true"},
    {"overlap-param-gather", "ddp.overlap_param_gather", "true"},
};

void take_usual_recipe(Draft& draft) {
  const auto is_open = [&](std::string_view argument) {
    return !draft.said.contains(std::string(argument)) && !(argument == "bf16" && (draft.is_fp16 || draft.scales_products));
  };
  std::string names;
  for (const UsualValue& one : kUsualRecipe)
    if (is_open(one.argument)) names += fmt::format("{}{} as {}", names.empty() ? "" : ", ", one.name, one.taken);
  if (names.empty()) return;
  draft.is_bf16 = draft.is_bf16 || is_open("bf16");
  if (is_open("use-distributed-optimizer")) draft.plan.zero_stage = std::max(draft.plan.zero_stage, 1);
  draft.overlaps_reduce = draft.overlaps_reduce.value_or(false) || is_open("overlap-grad-reduce");
  draft.overlaps_gather = draft.overlaps_gather || is_open("overlap-param-gather");
  draft.unknown.push_back({"",
                           fmt::format("this file changes a recipe of the package, which may set what is not here: taken are {}", names),
                           "add those that the recipe has otherwise"});
}

void settle_bridge(Draft& draft) {
  if (draft.scales_products && !draft.scales) draft.scales = ScaleRecipe::Tensorwise;  // its default
  if (!draft.said.contains("num-layers")) take_usual_recipe(draft);
  const bool has_policy = draft.said.contains("mixed_precision");
  if (!draft.fp32_gradients && !has_policy && !is_on(text_of(draft, "ddp.grad_reduce_in_fp32", "true"))) draft.fp32_gradients = false;
  settle_core(draft);
}

}  // namespace

const Program kMegatronBridge = {.name = "megatron-bridge",
                                 .title = "Megatron-Bridge",
                                 .version = "0.3.1",
                                 .file = "bridge_plan.py",
                                 .marks =
                                     "megatron.bridge Megatron-Bridge+!pretrain_gpt.py ConfigContainer bf16_mixed fp16_mixed bf16_with_ "
                                     "cfg.model. model.tensor_model_parallel_size=+!--config-name+!training.model.+"
                                     "!megatron_gpt_pretraining+!megatron_bert_pretraining+!megatron_t5_pretraining "
                                     "model:+train:+scheduler:+model_parallel_size:",
                                 .fields = kBridgeFields,
                                 .judge = judge_core,
                                 .files = bridge_files,
                                 .settings = core_settings,
                                 .settle = settle_bridge,
                                 .lost = megatron_lost(),
                                 .without_effect = kBridgeWithoutEffect,
                                 .training = megatron_training(),
                                 .network = core_network,
                                 .software = "megatron-core-2025",
                                 .trained_by = "the recipe beside it, as its peft",
                                 .habits = megatron_habits,
                                 .says_scales = true,
                                 .says_dispatch = true,
                                 .offloads_parameters = false,
                                 .says_graphs = true,
                                 .gathers_beside_forward = true};

}  // namespace sim
