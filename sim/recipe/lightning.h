// Types by the names of Lightning's precisions, which Fabric has, too: "bf16-mixed", "32-true".
#pragma once

#include <optional>
#include <string_view>

#include "sim/plan/parallel_plan.h"

namespace sim {

// Under FSDP gradients travel in the type of the products. None: no such name.
std::optional<PrecisionPolicy> precision_of_lightning(std::string_view name, bool by_fsdp);

}  // namespace sim
