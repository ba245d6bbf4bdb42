// What several arguments of the Trainer say together: who starts it, batch, layout, types, adapters.
#pragma once

#include "sim/recipe/program.h"

namespace sim {

// draft.said holds the arguments under the names of the table; "file.*" are those of a DeepSpeed file, "launch.*" of an Accelerate file.
void settle_trainer(Draft& draft);

std::span<const LostSetting> trainer_lost();          // that change time or memory, and have no word in a plan
extern const std::string_view kTrainerWithoutEffect;  // names of arguments that change neither
extern const std::string_view kScriptsOfTrainer;      // that have its defaults
std::span<const Decided> decided_of_trainer();        // by scripts that are none of these

void read_loaded_type(const Value& value, Draft& draft);    // torch_dtype: of weights
void read_launched_type(const Value& value, Draft& draft);  // of accelerate's line
void read_type_switch(const Value& value, Draft& draft);    // bf16, fp16

// Whose names a text has, of the programs that take the Trainer's.
bool is_of_axolotl(const Draft& draft);
bool is_of_llama_factory(const Draft& draft);
bool is_of_second_factory(const Draft& draft);
bool is_of_swift(const Draft& draft);
bool is_of_trl(const Draft& draft);
bool is_of_deepspeed_chat(const Draft& draft);

}  // namespace sim
