// Rows of documents in words: tokens that count, padding, and whom a step waits for. For plan, simulate and check.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/parallel_plan.h"

namespace cli {

std::vector<std::vector<std::string>> samples_rows(const sim::ParallelPlan& plan);  // none where one document fills a row

}  // namespace cli
