// Words of PyTorch's FSDP that several programs pass on.
#pragma once

#include <string_view>

#include "sim/recipe/draft.h"

namespace sim {

void read_backward_prefetch(const Value& value, Draft& draft);

// Without a policy that wraps, all blocks are gathered together; `setting` would say one.
void settle_one_unit(Draft& draft, std::string_view setting);
void settle_unit_of_accelerate(Draft& draft);  // where its file has none

// A policy that no release has stops both programs.
void read_wrapping(const Value& value, Draft& draft);
void read_wrapping_of_trainer(const Value& value, Draft& draft);  // or the class of a block
void read_sharding_of_trainer(const Value& value, Draft& draft);  // a strategy, or whether weights are released

void read_fsdp_of_trainer(const Value& value, Draft& draft);

}  // namespace sim
