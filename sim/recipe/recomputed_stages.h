// Of programs built on Megatron: how many blocks each pipeline stage computes again.
//
//   --recompute-num-layers-per-stage 2 4 1 0 --recompute-method-per-stage 3 1    pairs: of so many stages each that number (FlagScale; method 1 is block)
//   --custom-recompute-layers-per-stage 4 4 0                                    one of each stage (its older releases)
//   activations_checkpoint_layers_per_pipeline: 3                                so many fewer than the stage in front (NeMo 1)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/recipe/draft.h"

namespace sim {

// "2 4 1 0": 4, 4, 0; not many more than there are stages.
std::vector<std::int64_t> numbers_in_pairs(const std::string& text, std::int64_t stages);

// Of blocks that keep one input (--recompute-method uniform --recompute-num-layers 4).
std::int32_t blocks_together(const Value& said);

// The network, the pipeline degree and what is sharded are known.
void settle_recomputed_stages(Draft& draft);

}  // namespace sim
