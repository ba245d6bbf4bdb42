// NeMo 2: a recipe in Python, run.Partial of its pretraining.
#include <fmt/format.h>

#include "sim/recipe/megatron_core.h"
#include "sim/recipe/megatron_network.h"

namespace sim {
namespace {

constexpr std::string_view kOfNemo =
    " model data trainer optim resume log plugins strategy ddp config lr-scheduler callbacks executor accelerator max-steps "
    "limit-val-batches "
    "limit-test-batches val-check-interval log-every-n-steps num-sanity-val-steps use-distributed-sampler accumulate-grad-batches "
    "enable-checkpointing ckpt-* lazy-init gradient-as-bucket-view average-in-collective check-for-nan-in-grad constant-steps interval "
    "frequency monitor dir name num-train-samples num-val-samples num-test-samples num-workers pin-memory persistent-workers tokenizer "
    "params-dtype pipeline-dtype autocast-dtype autocast-enabled save-ckpt-format progress-interval replace-progress-bar launcher "
    "resume-if-exists resume-ignore-no-checkpoint recipe tensorboard fsdp plugin reset-position-ids reset-attention-mask eod-mask-loss ";

const std::string kNemoWithoutEffect = core_without_effect(kOfNemo);
const std::vector<Field> kNemoFields = core_fields(CoreProgram::Nemo);

void judge_nemo(const ParallelPlan& plan, Judgement& judgement) {
  judge_core(plan, judgement);
  judgement.refuse(plan.model.rope_scaling.kind == RopeScalingKind::Llama3, "/model/rope_scaling",
                   "positions of Llama 3.1 are a class of their own there, with constants of its sizes",
                   "export to Megatron-Bridge or Megatron-LM");
  judgement.note(plan.training.seed != 1234, "/training", "the seed is 1234 there", "set it where the recipe is started");
}

std::vector<RecipeFile> nemo_files(const RecipeHead& head, const RecipeSettings& settings, const ParallelPlan& plan) {
  const bool is_latent = plan.model.attention.kind == AttentionKind::Latent;
  std::string text = core_head(head, plan, kNemo.file);
  text +=
      "import nemo_run as run\nimport torch.nn.functional as F\n"
      "from megatron.core.distributed import DistributedDataParallelConfig\n"
      "from megatron.core.fusions.fused_bias_geglu import quick_gelu\n"
      "from megatron.core.optimizer import OptimizerConfig\n"
      "from nemo import lightning as nl\n"
      "from nemo.collections import llm\n";
  if (is_latent) text += "from nemo.collections.llm.gpt.model.deepseek import DeepSeekConfig, DeepSeekModel\n";
  if (plan.sends_along_products())
    text += "from nemo.lightning.pytorch.callbacks.megatron_comm_overlap import MegatronCommOverlapCallback\n";
  text += "\n" + core_sections(settings);
  text += fmt::format(
      "\n\ndef plan() -> run.Partial:\n"
      "    rates = nl.lr_scheduler.CosineAnnealingScheduler if \"max_steps\" in SCHEDULER else nl.lr_scheduler.WarmupPolicyScheduler\n"
      "    return run.Partial(\n"
      "        llm.pretrain,\n"
      "        model=run.Config({}, config=run.Config({}, **MODEL)),\n"
      "        data=run.Config(llm.MockDataModule, **DATA),\n"
      "        trainer=run.Config(\n"
      "            nl.Trainer, accelerator=\"gpu\", plugins=run.Config(nl.MegatronMixedPrecision, **PLUGIN),{}\n"
      "            strategy=run.Config(nl.MegatronStrategy, ddp=run.Config(DistributedDataParallelConfig, **DDP), **STRATEGY), "
      "**TRAINER),\n"
      "        optim=run.Config(nl.MegatronOptimizerModule, config=run.Config(OptimizerConfig, **OPTIM),\n"
      "                         lr_scheduler=run.Config(rates, **SCHEDULER)))\n\n\n"
      "if __name__ == \"__main__\":\n"
      "    run.run(plan(), direct=True)\n",
      is_latent ? "DeepSeekModel" : "llm.GPTModel", is_latent ? "DeepSeekConfig" : "llm.GPTConfig",
      plan.sends_along_products() ? "\n            callbacks=[run.Config(MegatronCommOverlapCallback, tp_comm_overlap=True)]," : "");
  return {{std::string(kNemo.file), std::move(text)}};
}

}  // namespace

const Program kNemo = {.name = "nemo",
                       .title = "NeMo 2",
                       .version = "2.7.3",
                       .file = "nemo_plan.py",
                       .marks = "nemo.collections+import nemo_run+import run.Partial recipe.trainer. trainer.strategy.",
                       .fields = kNemoFields,
                       .judge = judge_nemo,
                       .files = nemo_files,
                       .settings = core_settings,
                       .settle = settle_core,
                       .lost = megatron_lost(),
                       .without_effect = kNemoWithoutEffect,
                       .training = megatron_training(),
                       .network = core_network,
                       .software = "megatron-core-2025",
                       .trained_by = "the recipe beside it, as its peft",
                       .habits = megatron_habits,
                       .says_scales = true,
                       .says_dispatch = true,
                       .offloads_parameters = false,
                       .gathers_beside_forward = true};

}  // namespace sim
