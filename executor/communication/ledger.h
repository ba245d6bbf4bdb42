// What a rank's communicators were asked for: one entry an operation, in the order of their start, barriers left out.
#pragma once

#include <vector>

#include "sim/timeline/trace.h"

namespace executor {

using Ledger = std::vector<sim::LedgerEntry>;

}  // namespace executor
