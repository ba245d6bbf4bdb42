// NeMo 1: a Hydra file with `trainer`, `exp_manager` and `model`, whose names become arguments of Megatron-LM.
// Facts: examples/nlp/language_modeling/conf/megatron_gpt_config.yaml and models/language_modeling/megatron_gpt_model.py (NVIDIA/NeMo 1.x).
#pragma once

#include "sim/recipe/program.h"

namespace sim {

// `python megatron_gpt_pretraining.py --config-name=some.yaml model.micro_batch_size=4`, or the launcher's `python main.py training=gpt3/5b
// training.model.micro_batch_size=4`: the file beside the line, with what the line changes in it. A line that names no file stays as it is.
// Throws InputError: the file is not there.
void read_hydra_file(const RecipeSource& source, RecipeReading& reading);
bool is_hydra_launch(const std::string& text);  // a line of the launcher, which may have no option
bool is_of_nemo_hydra(const RecipeSettings& settings);
// Names of arguments; what is of the trainer's and the data's business keeps its whole name.
RecipeSettings arguments_of_nemo_hydra(const RecipeSettings& settings);
extern const std::string_view kHydraWithoutEffect;  // beside the arguments that have none

}  // namespace sim
