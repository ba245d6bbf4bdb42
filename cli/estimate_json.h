// What `meshwright estimate --json` prints. Used by estimate.
#pragma once

#include <string>

#include "planner/layouts.h"

namespace cli {

std::string estimate_document(const planner::LayoutResult& result);

}  // namespace cli
