// What `compare` prints: errors beside the noise floor they must be read against.
#pragma once

#include <string>

#include "cli/console.h"
#include "sim/timeline/comparison.h"

namespace cli {

std::string comparison_text(const sim::Comparison& comparison, const Console& console);

}  // namespace cli
