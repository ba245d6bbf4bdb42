// The network that arguments of Megatron-LM describe. Nothing: they name none.
#pragma once

#include "sim/recipe/program.h"

namespace sim {

// Latent attention turns by YaRN there; beside factor and scales its numbers have no arguments and are those of DeepSeek (MLATransformerConfig of megatron-core).
bool is_yarn_of_megatron(const ModelConfig& model);

std::optional<ModelConfig> megatron_network(Draft& draft, const RecipeContext& context);

inline bool is_by_megatron_fsdp(const ParallelPlan& plan) { return plan.zero_stage >= 2; }
std::span<const Field> megatron_fields();
std::span<const Field> megatron_network_fields();                          // of these, the ones that describe the network
extern const std::string_view kMegatronWithoutEffect;                      // names of arguments that change neither time nor memory
void judge_megatron_core(const ParallelPlan& plan, Judgement& judgement);  // of the library, whichever program drives it
void judge_unscaled_blocks(const ParallelPlan& plan, Judgement& judgement);
void settle_megatron(Draft& draft);
void megatron_habits(ParallelPlan& plan);
inline TrainingSettings megatron_training() {  // defaults of its arguments, and of Megatron-Core's configurations
  return {.minimum_learning_rate = 0,
          .beta2 = 0.999,
          .weight_decay = 0.01,
          .seed = 1234,
          .initial_loss_scale = 4294967296,
          .loss_scale_window = 1000};
}
std::span<const LostSetting> megatron_lost();    // that do, and have no word in a plan
std::span<const Decided> decided_of_megatron();  // by a script that is none of the next
extern const std::string_view kScriptsOfMegatron;

}  // namespace sim
