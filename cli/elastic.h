// plan --elastic: see elastic.cpp. Called by plan.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "cli/console.h"
#include "cli/options.h"

namespace cli {

std::string elastic_file(const std::string& folder, std::int32_t nodes);  // of the plan for so many
int run_elastic(const PlanOptions& options, const Console& console);

}  // namespace cli
