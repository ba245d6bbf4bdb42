// Primus, AMD's starter of other programs: YAML with changes (`modules.NAME.overrides`) of configurations of its own, and `framework`, the program.
// Facts: primus/configs/modules/megatron/pre_trainer.yaml and primus/configs/models (AMD-AGI/Primus, 2025).
#pragma once

#include "sim/recipe/program.h"

namespace sim {

struct PrimusFile {
  RecipeSettings overrides, others;  // under the program's own names; what is of Primus itself
  std::string network;               // the name of a file of its own, "llama3.1_70B.yaml"; "": none
};

bool is_of_primus(const std::string& text, std::string_view framework);
PrimusFile primus_file(const RecipeSource& source);  // throws InputError: no YAML

// Of Megatron-LM, with what Primus' own file has where this one says nothing. Names have dashes; Primus' own begin with "primus-".
RecipeReading primus_of_megatron(const RecipeSource& source);

}  // namespace sim
