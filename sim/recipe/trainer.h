// What several arguments of the Trainer say together: who starts it, batch, layout, types, adapters.
#pragma once

#include "sim/recipe/draft.h"

namespace sim {

// draft.said holds the arguments under the names of the table; "file.*" are those of a DeepSpeed file, "launch.*" of an Accelerate file.
void settle_trainer(Draft& draft);

void read_loaded_type(const Value& value, Draft& draft);    // torch_dtype: of weights
void read_launched_type(const Value& value, Draft& draft);  // of accelerate's line
void read_type_switch(const Value& value, Draft& draft);    // bf16, fp16
void read_quantization(const Value& value, Draft& draft);   // of frozen weights

}  // namespace sim
